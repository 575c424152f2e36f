//! Block devices: the one way by which Gadus reaches bytes that outlive it.
//!
//! A [`Folder`] holds named [`Device`]s; both are traits. Back-ends keep the bytes
//! ([`FileFolder`], [`MemoryFolder`]); filters wrap any folder, also another filter, and change
//! what can go wrong ([`FaultyFolder`]), how long it takes ([`ThrottledFolder`]) or what is known
//! about it afterwards ([`TracedFolder`]).
//!
//! Exports and backups write ordinary files: a [`Destination`] is one that appears whole or not at all, or a
//! device or pipe that is written to. Imports read regular files ([`open_input`]), also beneath a folder that none of
//! their paths leaves ([`InputFolder`]).
//!
//! - Depends on `gadus-base` only, and knows nothing of databases.
//! - Every implementation passes the same conformance suite, alone and stacked.
//! - Order is a disk's: between two syncs, writes reach the medium in any order, or not at all.
//! - Linux only for now: ownership needs open-file-description locks.
//!
//! ```
//! use gadus_block::{Device, Folder, MemoryFolder, OpenMode};
//! use std::io::IoSlice;
//!
//! # fn main() -> Result<(), gadus_block::BlockError> {
//! let folder = MemoryFolder::new();
//! let device = folder.open("log", OpenMode::Create)?;
//! device.write_at(0, &[IoSlice::new(b"co"), IoSlice::new(b"d")])?;
//! device.sync()?;
//! folder.sync()?;
//! let mut bytes = [0; 3];
//! device.read_at(0, &mut bytes)?;
//! assert_eq!(&bytes, b"cod");
//! # Ok(())
//! # }
//! ```

mod backends;
mod buffer;
mod device;
mod error;
mod filters;
mod input;
mod output;
mod queue;

pub use backends::{FileFolder, FileSystem, MemoryFolder};
pub use buffer::{AlignedBuffer, BufferPool, PooledBuffer};
pub use device::{
    Device, Fence, Folder, Geometry, Hint, Identity, OWNER_SLOTS_MAX, OpenMode, Ownership, Turn,
};
pub use error::{BlockError, ErrorKind, Operation};
pub use filters::{
    CrashPolicy, Delays, Event, Fault, FaultPlan, FaultyFolder, Guard, GuardedDevice, HookedFolder,
    Repeat, SmallFolder, ThrottledFolder, Trace, TracedFolder,
};
pub use input::{InputFolder, InputKind, open_input};
pub use output::{Destination, OutputFolder, StagedFile, StreamFile};
pub use queue::{Completion, Queue, Request, Transfer};
