//! What a machine is, what it is doing, and what follows from it for a database.
//!
//! - Knows no database: its answers are for any program.
//! - What cannot be read is said to be unknown, and why; nothing is made up.
//! - Answers come as decisions, with what they were made of ([`Decision`]), and what is known is looked at again
//!   ([`Watch`]).
//! - The paper's three questions (Giceva et al. 2013, section 4.3) are [`cache_size`], [`partitions()`]
//!   and [`place`].
//!
//! ```
//! use gadus_machine::{Request, State, Topology, place};
//! # fn main() -> Result<(), gadus_machine::MachineError> {
//! let here = Topology::discover()?;
//! let request = Request::of_equal(here.cores.len(), gadus_base::ByteCount::mib(1));
//! let best = &place(&here, &State::idle(&here), &request)?[0];
//! assert_eq!(best.places.len(), here.cores.len());
//! # Ok(())
//! # }
//! ```

mod decision;
mod decisions;
mod elastic;
mod error;
mod facts;
mod gather;
mod identity;
mod kept;
mod limits;
mod measure;
mod memory_nodes;
mod observed;
mod partitions;
mod placement;
mod questions;
mod simulate;
mod state;
mod threads;
mod topology;
mod watch;

pub use decision::{Alternative, Decision};
pub use decisions::{Decided, Decisions};
pub use elastic::Elastic;
pub use error::{ErrorKind, MachineError};
pub use facts::{Difference, Fact, FactValue, Facts, Source};
pub use identity::Identity;
pub use kept::KeptFacts;
pub use limits::Limits;
pub use measure::{measure_bandwidth, measure_look, measure_wake};
pub use memory_nodes::{bind_memory, memory_nodes};
pub use observed::{CpuTimes, Load, Loads, MemoryWatch, Others, Pressure, Room, pressure_of};
pub use partitions::{Bandwidth, Partitions, cache_size, partitions};
pub use placement::{Bound, CacheSharing, Mapping, PARTITIONS_MAX, Place, Proof, Request, place};
pub use questions::{
    Reached, Temperature, Wait, batch_rows, decide_announcing, decide_batch_rows, decide_cache,
    decide_cache_beside_plans, decide_cache_scope, decide_cache_sizes, decide_chunk_rows,
    decide_client_transport, decide_gathering, decide_io_path, decide_latch_looks,
    decide_memory_limit, decide_partitions, decide_scan_helpers, decide_scan_threads,
    decide_sharing, decide_wait, known_wake,
};
pub use simulate::{ScanCost, Simulated, naive, simulate};
pub use state::State;
pub use threads::{is_above_others, pin_this_thread, rise_above_others, this_cpu};
pub use topology::{
    Cache, CacheKind, Core, CpuSet, Device, DeviceKind, MemoryNode, PageSize, Topology,
};
pub use watch::Watch;
