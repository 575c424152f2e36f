//! One durable database: a data file, a log beside it, and the rules that keep both true.
//!
//! `x.gadus` holds *extents* of *blobs* behind two header slots; `x.gadus-wal` holds the log;
//! `x.gadus-lck` says who opened it first and how others join. What the blobs and log records mean
//! is the caller's business: a [`Store`] keeps bytes.
//!
//! - No arrow, no SQL, no sockets, and no file: every byte goes through `gadus-block`.
//! - What [`Store::wait_durable`] has acknowledged survives a power cut; a record is whole or
//!   absent; what was recovered once is recovered again, unchanged.
//! - Nothing named by a durable header or log record is overwritten.
//! - Every byte read is verified; what is wrong is named by file and offset.
//! - References form a tree of checksums: header → root → what the root names → blobs.
//!
//! ```
//! use gadus_base::CommitNumber;
//! use gadus_block::MemoryFolder;
//! use gadus_storage::{Options, Store};
//! use std::{io::IoSlice, sync::Arc};
//!
//! # fn main() -> Result<(), gadus_storage::StorageError> {
//! let folder = Arc::new(MemoryFolder::new());
//! let store = Store::create(folder.clone(), "x.gadus", Options::default())?;
//! let end = store.append(CommitNumber(1), &[IoSlice::new(b"one")])?;
//! store.wait_durable(end)?;
//! drop(store);
//! let (_store, recovered) = Store::open(folder, "x.gadus", Options::default())?;
//! assert_eq!(recovered.records[0].payload, b"one");
//! # Ok(())
//! # }
//! ```

mod blob;
mod check;
mod durable_mark;
mod error;
mod group_commit;
mod header;
mod holder;
mod log;
mod openers_turn;
mod options;
mod peers;
mod poison;
mod space;
mod store;

pub use blob::{Blob, BlobRef, EXTENT_UNIT_BYTES, ExtentRef};
pub use check::{CheckReport, Problem, check};
pub use error::{ErrorKind, StorageError};
pub use log::{LogEnd, LogRecord, Payload, Terms};
pub use options::{Durability, Options, Sharing};
pub use peers::{Stage, Takeovers};
pub use space::{Extent, Remaining, ReserveUse, Rewritten, Unsaved};
pub use store::{
    CheckpointTurn, NUMBERS_MAX, Recovered, Store, StoreStatistics, Turn, WrittenExtent,
};
