//! The log's state in shared memory: where it ends, what of it is in the file, and where.
//!
//! - The end is published by one store of `sequence`, after the entry that it selects: a holder of
//!   the commit latch that dies before has appended nothing.
//! - `ring` holds the log's bytes from `ring_from` (or, when more than its length has been
//!   appended, that much) up to the end, each at its position modulo the length. What is not in the
//!   file yet (`written`) is never overwritten.
//! - `writing_to` is raised before bytes of the ring are overwritten, so that a reader can tell that
//!   what it has copied was overwritten meanwhile.
//! - A place of the file belongs to the zone whose number is in `zones`, plus one; 0 is free.

use super::RECORD_BYTES_MAX;
use gadus_base::{CommitNumber, LogPosition};
use gadus_locks::shared_struct;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Most zones that a log's file can have: 64 GiB of them at the usual size.
pub(crate) const ZONES_MAX: usize = 1 << 16;

/// Records appended while a sync runs wait here to be written together; those who catch up find
/// them here without a system call.
pub(crate) const RING_BYTES: usize = 1 << 20;
const RING_WORDS: usize = RING_BYTES / 8;

/// Ends kept, so that a reader of the last one is overtaken only by that many commits.
const ENDS: usize = 8;

const _: () = assert!(RECORD_BYTES_MAX < u32::MAX as usize);

shared_struct! {
    struct EndEntry {
        position: AtomicU64,
        chain: AtomicU64,
        commit: AtomicU64,
        reserved: AtomicU64,
    }
}

shared_struct! {
    /// Shared state of the log.
    pub(crate) struct LogState {
        sequence: AtomicU64,
        pub(crate) writing_to: AtomicU64,
        pub(crate) ring_from: AtomicU64,
        spread_1: [AtomicU64; 5],
        ends: [EndEntry; ENDS],
        /// The log up to here is in the file, though not durable.
        pub(crate) written: AtomicU64,
        spread_2: [AtomicU64; 7],
        /// Zones in the file.
        pub(crate) places: AtomicU64,
        /// The log before this position may be gone.
        pub(crate) recycled: AtomicU64,
        /// Opening would read the log from here.
        pub(crate) replay_from: AtomicU64,
        spread_3: [AtomicU64; 5],
        pub(crate) zones: [AtomicU64; ZONES_MAX],
        ring: [AtomicU64; RING_WORDS],
    }
}

/// The end of a record in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    pub(crate) position: u64,
    /// Checksum of the fragment that ends there.
    pub(crate) chain: u64,
    pub(crate) commit: CommitNumber,
}

impl LogEnd {
    /// Where it is.
    #[must_use]
    pub fn position(&self) -> LogPosition {
        LogPosition(self.position)
    }

    /// The commit of the record.
    #[must_use]
    pub fn commit(&self) -> CommitNumber {
        self.commit
    }
}

impl LogState {
    /// The end of the last appended record.
    pub(crate) fn end(&self) -> LogEnd {
        loop {
            let sequence = self.sequence.load(Ordering::Acquire);
            let entry = &self.ends[index(sequence)];
            let end = LogEnd {
                position: entry.position.load(Ordering::Relaxed),
                chain: entry.chain.load(Ordering::Relaxed),
                commit: CommitNumber(entry.commit.load(Ordering::Relaxed)),
            };
            fence(Ordering::Acquire);
            // The next writer of this entry is so many ends away.
            if self.sequence.load(Ordering::Relaxed).wrapping_sub(sequence) < ENDS as u64 - 1 {
                return end;
            }
        }
    }

    /// Makes an end known. Only whoever has the commit latch does.
    pub(crate) fn publish(&self, end: LogEnd) {
        let sequence = self.sequence.load(Ordering::Relaxed).wrapping_add(1);
        let entry = &self.ends[index(sequence)];
        entry.position.store(end.position, Ordering::Relaxed);
        entry.chain.store(end.chain, Ordering::Relaxed);
        entry.commit.store(end.commit.0, Ordering::Relaxed);
        self.sequence.store(sequence, Ordering::Release);
    }

    /// Puts bytes into the ring; `position` and the length are multiples of 8.
    pub(crate) fn put(&self, position: u64, bytes: &[u8]) {
        self.writing_to.fetch_max(position + bytes.len() as u64, Ordering::Relaxed);
        fence(Ordering::Release);
        let mut at = word_of(position);
        for word in bytes.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().expect("chunks of eight"));
            self.ring[at].store(word, Ordering::Relaxed);
            at = (at + 1) % RING_WORDS;
        }
    }

    /// Copies the log's bytes from `from` to `to`, if all of them are in the ring; `to` is at most
    /// an end that was published.
    pub(crate) fn copy(&self, from: u64, to: u64, into: &mut Vec<u8>) -> bool {
        into.clear();
        if from < self.ring_from.load(Ordering::Acquire) || to - from > RING_BYTES as u64 {
            return false;
        }
        into.reserve(usize::try_from(to - from).unwrap_or(RING_BYTES));
        let mut at = word_of(from);
        for _ in (from..to).step_by(8) {
            into.extend_from_slice(&self.ring[at].load(Ordering::Relaxed).to_le_bytes());
            at = (at + 1) % RING_WORDS;
        }
        fence(Ordering::Acquire);
        self.writing_to.load(Ordering::Relaxed) <= from + RING_BYTES as u64
    }
}

fn index(sequence: u64) -> usize {
    usize::try_from(sequence % ENDS as u64).expect("below the number of ends")
}

fn word_of(position: u64) -> usize {
    usize::try_from(position / 8 % RING_WORDS as u64).expect("below the length of the ring")
}
