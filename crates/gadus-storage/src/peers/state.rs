//! The state that all instances of one open database share, in memory.
//!
//! | bytes of the memory | content |
//! |---|---|
//! | 0..4096 | [`Front`]: what memory this is |
//! | 4096.. | the slots of instances |
//! | then, at a multiple of 4096 | [`State`] |
//! | then, at a multiple of an extent | the lock table |
//!
//! - Nothing here is needed to recover: it is rebuilt from the files by whoever opens alone.
//! - It lies in a file until the last user leaves; where all were killed, until the database is opened
//!   again, or is gone and another one is opened ([`super::abandoned`]).
//! - All zeros is a valid state; it is filled in before the front's magic makes it known.
//!
//! The front, in words of the machine:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `GadusMem`, once the rest of the front is there |
//! | 8..16 | version of the layout |
//! | 16..32 | the database |
//! | 32..40 | length of [`State`] |
//! | 40..72 | the data file and the log: device and inode of each |
//! | 72..80 | length of the data file's path; 0 where there is none to tell |
//! | 80..3920 | the path, from the root of the file system on |
//!
//! What says which data file it is has its place in all versions from 5 on: memory that nobody uses is
//! judged by whatever version finds it.

use super::stages::StageState;
use crate::group_commit::GroupState;
use crate::log::state::LogState;
use crate::space::SpaceState;
use gadus_locks::{
    Board, EXTENT_BYTES, INSTANCES_MAX, InstanceTable, Latch, Offset, shared_struct,
};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Changes with every change of a layout in the memory, this crate's or the lock table's.
pub(crate) const LAYOUT_VERSION: u64 = 10;

/// Spells `GadusMem`.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"GadusMem");

shared_struct! {
    /// What memory this is.
    pub(crate) struct Front {
        /// Stored last.
        pub(crate) magic: AtomicU64,
        pub(crate) version: AtomicU64,
        pub(crate) database: [AtomicU64; 2],
        /// Length of [`State`], which two builds of one version agree on.
        pub(crate) state_bytes: AtomicU64,
        /// The data file and the log that those who share the memory have open.
        pub(crate) files: [[AtomicU64; 2]; 2],
        /// Length of the data file's path.
        pub(crate) path_bytes: AtomicU64,
        pub(crate) path: [AtomicU64; PATH_WORDS],
    }
}

/// Words for the path of the data file. A longer one is not told.
const PATH_WORDS: usize = 480;

/// Most bytes of a path that is told.
pub(crate) const PATH_BYTES_MAX: usize = PATH_WORDS * 8;

shared_struct! {
    /// What an instance keeps from being recycled. Zeros, as in a slot just claimed, keep all.
    pub(crate) struct Pin {
        /// The oldest commit that it reads.
        pub(crate) commit: AtomicU64,
        /// The end of that commit's record: the log from there on is kept.
        pub(crate) position: AtomicU64,
        /// The log from here on is being written to its file by this instance.
        pub(crate) flush: AtomicU64,
        /// The log from here on is being read by this instance, by its reader that pins nothing.
        pub(crate) reading: AtomicU64,
    }
}

shared_struct! {
    /// Snapshots that are given up: pins of what is older keep nothing.
    pub(crate) struct Revoked {
        /// The oldest commit that can be read.
        pub(crate) commit: AtomicU64,
        /// The end of that commit's record. Stored last.
        pub(crate) position: AtomicU64,
    }
}

shared_struct! {
    /// The shared state of storage. Words that different threads write lie in cache lines apart.
    pub(crate) struct State {
        /// Whoever appends has it.
        pub(crate) commit: Latch,
        pub(crate) poison: AtomicU32,
        pub(crate) spread_1: [AtomicU64; 7],
        /// Whoever writes a checkpoint, or what a checkpoint must not fall between, has it.
        pub(crate) checkpoint: Latch,
        /// Whoever gives or takes space has it, for a moment.
        pub(crate) space_latch: Latch,
        pub(crate) spread_2: [AtomicU64; 7],
        /// The next number for the caller's use.
        pub(crate) number: AtomicU32,
        pub(crate) reserved: AtomicU32,
        /// Stored by whoever writes a checkpoint.
        pub(crate) revoked: Revoked,
        pub(crate) spread_3: [AtomicU64; 5],
        pub(crate) stages: StageState,
        pub(crate) group: GroupState,
        pub(crate) log: LogState,
        pub(crate) space: SpaceState,
        pub(crate) pins: [Pin; INSTANCES_MAX as usize],
        /// What one has seen of the machine, for all.
        pub(crate) board: Board,
    }
}

pub(crate) const FRONT: Offset<Front> = Offset::new(0);
pub(crate) const TABLE: Offset<InstanceTable> = Offset::new(PAGE_BYTES);
const STATE_START: usize = (PAGE_BYTES + size_of::<InstanceTable>()).next_multiple_of(PAGE_BYTES);
pub(crate) const STATE: Offset<State> = Offset::new(STATE_START);
/// Where the lock table begins.
pub(crate) const LOCKS_START: usize =
    (STATE_START + size_of::<State>()).next_multiple_of(EXTENT_BYTES);

pub(crate) const PAGE_BYTES: usize = 4096;
const _: () = assert!(size_of::<Front>() <= PAGE_BYTES);
const _: () = assert!(offset_of!(Front, magic) == 0 && offset_of!(Front, files) == 40);
const _: () = assert!(offset_of!(Front, path_bytes) == 72 && offset_of!(Front, path) == 80);
