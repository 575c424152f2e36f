//! What a database should leave to this kernel, and what it must do itself: measured, here and now.
//!
//! For each service that a database needs, the kernel's implementation and one in user mode do the same work, side
//! by side (after Vasil 2003, "Kub"). A tool for anyone with any database.
//!
//! - No root is needed. What cannot be tested is named, with the reason; nothing is estimated.
//! - Whoever takes part in a comparison does the same work: what it moves is checked.
//! - A judgement follows from a stated rule on measured ratios, and names the cells that it used ([`judge`]).
//! - Nothing stays behind: files are in a folder of their own, which is removed, and children end with their parent.
//!
//! ```
//! use gadus_kub::{Benchmark, Budget, Settings};
//! let folder = std::env::temp_dir();
//! let settings = Settings::new(&folder).budget(Budget::Quick).only([Benchmark::Null]);
//! let report = gadus_kub::run(&settings, |_| {})?;
//! assert!(report.clock_cost_ns > 0.0);
//! # Ok::<(), gadus_kub::KubError>(())
//! ```

mod beside;
mod bind;
mod compare;
mod domains;
mod error;
mod facts;
mod harness;
mod hashing;
mod locality;
mod lock;
mod memory_group;
mod message;
mod null;
mod numbers;
mod own_folder;
mod replace;
mod report;
mod run;
mod schedule;
mod show;
mod sync;
mod system;
mod verdict;

pub use beside::{Agreement, Agreements, check_beside_tools};
pub use compare::{Change, Comparison, compare};
pub use error::{ErrorKind, KubError};
pub use harness::{
    Budget, Instruments, KnownDelay, Quietness, Ratio, Stopwatch, Summary, SystemInstruments,
    Usage, check_known_delays, median,
};
pub use memory_group::MemoryGroup;
pub use replace::{Policy, count_trace, misses, read_trace};
pub use report::{
    Benchmark, Cell, Finding, Identity, Measured, Origin, Report, Side, Skipped, Stopped,
};
pub use run::{Progress, Settings, run};
pub use show::{Form, render};
pub use system::become_real_time;
pub use verdict::{Advice, Criterion, Domain, Row, Suitability, Verdict, judge};
