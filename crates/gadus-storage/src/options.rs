//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Open for reading: nothing can be changed. Shared with others, such an instance writes to the files what
    /// recovery of a database that was not closed writes, and what others have appended, if they are gone; it
    /// needs the right to write for the locks that prove it alive. Otherwise it writes nothing at all, and
    /// excludes writers.
    pub read_only: bool,
    /// What an acknowledgement means.
    pub durability: Durability,
    /// Size of a log zone of a database to be created: a power of two from 4 KiB to 64 MiB. An
    /// existing database keeps its own.
    pub log_zone_bytes: u32,
    /// Who else may have the database open.
    pub sharing: Sharing,
    /// How long a sync of the log usually takes, at least, where its leader lets those come first whom the last one
    /// served. Whoever knows what waking a thread takes knows better than the default.
    pub gather_from: Duration,
}

/// Who else may have a database open at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// Nobody, while it is open for writing; who opens it for reading shares it with other readers.
    #[default]
    Exclusive,
    /// Other instances, of this process or of others, that share memory in a folder: one on a file
    /// system that lies in memory, and that all of them reach.
    Shared {
        /// The folder.
        memory: PathBuf,
    },
}

/// What [`crate::Store::wait_durable`] waits for.
///
/// The strictest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Durability {
    /// The medium: an acknowledged record survives a power cut.
    Sync,
    /// Nothing, but a thread syncs at most 200 ms after an append: a power cut may lose that much;
    /// the death of the process loses nothing.
    Relaxed,
    /// Nothing: only checkpoints sync. A power cut loses what was appended since the last one; the
    /// death of the process loses nothing.
    Off,
}

/// A new zone costs a sync, so zones should be large; recovery and recycling go by whole zones, so
/// they should be small. At 1 MiB a sync for every 10,000 small commits disappears.
const LOG_ZONE_BYTES: u32 = 1 << 20;

/// A sync faster than this is not worth gathering for: woken threads need a good part of it.
const GATHER_FROM: Duration = Duration::from_millis(1);

impl Default for Options {
    fn default() -> Self {
        Self {
            read_only: false,
            durability: Durability::Sync,
            log_zone_bytes: LOG_ZONE_BYTES,
            sharing: Sharing::Exclusive,
            gather_from: GATHER_FROM,
        }
    }
}
