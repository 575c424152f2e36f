//! Chunks: how the table grows, and how a record is found by its number.
//!
//! - A chunk is claimed by one store into the directory, after its memory is there; it keeps its use
//!   for ever. Who dies before the store has claimed nothing.
//! - A number read from shared memory is looked up in the directory before it is followed.

use super::LockTable;
use super::error::LockError;
use super::layout::{
    CHUNK_BYTES, CHUNKS_MAX, CONNECTIONS_PER_CHUNK, Connection, HEADER_BYTES, PARTITIONS,
    REQUESTS_PER_CHUNK, Request, VALUES_PER_CHUNK, ValueRecord,
};
use super::store::{put, replace32};
use crate::error::{MemoryError, MemoryErrorKind};
use crate::memory::{EXTENT_BYTES, Offset, Shared};
use crate::steps;
use std::sync::atomic::Ordering;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Requests(usize),
    Values(usize),
    Connections,
}

/// A record that lies in chunks.
pub(super) trait Record: Shared {
    const PER_CHUNK: u32;
}

impl Record for Request {
    const PER_CHUNK: u32 = REQUESTS_PER_CHUNK;
}

impl Record for ValueRecord {
    const PER_CHUNK: u32 = VALUES_PER_CHUNK;
}

impl Record for Connection {
    const PER_CHUNK: u32 = CONNECTIONS_PER_CHUNK;
}

impl Use {
    #[inline]
    fn word(self) -> u32 {
        let numbered = |kind: u32, partition: usize| {
            kind | u32::try_from(partition).expect("partitions are few") << 8
        };
        match self {
            Self::Requests(partition) => numbered(1, partition),
            Self::Values(partition) => numbered(2, partition),
            Self::Connections => 3,
        }
    }
}

impl LockTable {
    /// The record of a number that shared memory has given.
    #[inline]
    pub(super) fn record<T: Record>(&self, what: Use, number: u32) -> Result<&T, LockError> {
        let chunk = (number / T::PER_CHUNK) as usize;
        let offset = self.chunk_start(chunk) + (number % T::PER_CHUNK) as usize * size_of::<T>();
        if self.is_chunk_of(what, chunk)
            && let Ok(record) = self.memory.at(Offset::new(offset))
        {
            return Ok(record);
        }
        self.record_anew(what, number)
    }

    /// The same, of memory that this process may not have mapped.
    #[cold]
    fn record_anew<T: Record>(&self, what: Use, number: u32) -> Result<&T, LockError> {
        Ok(self.memory.at(self.place_of(what, number)?)?)
    }

    #[inline]
    fn is_chunk_of(&self, what: Use, chunk: usize) -> bool {
        chunk < self.chunks_max
            && self.header().directory[chunk].load(Ordering::Acquire) == what.word()
    }

    /// Where the record of a number is, in memory that is mapped.
    pub(super) fn place_of<T: Record>(
        &self,
        what: Use,
        number: u32,
    ) -> Result<Offset<T>, LockError> {
        let chunk = (number / T::PER_CHUNK) as usize;
        if !self.is_chunk_of(what, chunk) {
            return Err(LockError::damaged("a link leads to no record"));
        }
        let offset = self.chunk_start(chunk) + (number % T::PER_CHUNK) as usize * size_of::<T>();
        if offset >= self.memory.mapped() {
            // Another process has claimed it.
            self.memory.ensure(self.chunk_start(chunk) + CHUNK_BYTES)?;
        }
        Ok(Offset::new(offset))
    }

    /// The partition that a request's number belongs to.
    pub(super) fn partition_of(&self, slot: u32) -> Option<usize> {
        let chunk = (slot / Request::PER_CHUNK) as usize;
        let word = self.header().directory[..self.chunks_max].get(chunk)?.load(Ordering::Acquire);
        let partition = (word >> 8) as usize;
        (partition < PARTITIONS && word == Use::Requests(partition).word()).then_some(partition)
    }

    /// The numbers of the first records of all chunks of a use.
    pub(super) fn chunks_of<T: Record>(&self, what: Use) -> Vec<u32> {
        let claimed = self.header().directory[..self.chunks_max].iter();
        let words = claimed.map(|word| word.load(Ordering::Acquire)).take_while(|word| *word != 0);
        let mine = (0_u32..).zip(words).filter(|(_, word)| *word == what.word());
        mine.map(|(chunk, _)| chunk * T::PER_CHUNK).collect()
    }

    /// Makes the memory of the next chunk usable: a system call that is better made before a latch
    /// is taken. A failure is met again by whoever claims.
    pub(super) fn prepare_chunk(&self) {
        let next = self.next_chunk();
        if next < self.chunks_max {
            let _ = self.memory.ensure(self.chunk_start(next) + CHUNK_BYTES);
        }
    }

    /// Claims a chunk; gives the number of its first record.
    pub(super) fn claim_chunk<T: Record>(&self, what: Use) -> Result<u32, LockError> {
        let mut chunk = self.next_chunk();
        while chunk < self.chunks_max {
            self.memory.ensure(self.chunk_start(chunk) + CHUNK_BYTES)?;
            if replace32(&self.header().directory[chunk], 0, what.word()) {
                put(&self.header().chunks, chunk as u64 + 1);
                let chunk = u32::try_from(chunk).expect("chunks are limited");
                return Ok(chunk * T::PER_CHUNK);
            }
            chunk += 1;
        }
        let message = format!("the lock table is full: it has {} bytes", self.memory.bytes_max());
        Err(MemoryError::new(MemoryErrorKind::NoSpace, message).into())
    }

    /// The first chunk that may be unclaimed. The word in the header may be behind, or damaged.
    fn next_chunk(&self) -> usize {
        steps::before(&self.header().chunks);
        let hint = usize::try_from(self.header().chunks.load(Ordering::Acquire)).unwrap_or(0);
        let directory = &self.header().directory[..self.chunks_max];
        let is_claimed = |at: &usize| directory[*at].load(Ordering::Acquire) != 0;
        let is_good =
            hint <= self.chunks_max && hint.checked_sub(1).is_none_or(|at| is_claimed(&at));
        let from = if is_good { hint } else { 0 };
        (from..self.chunks_max).find(|at| !is_claimed(at)).unwrap_or(self.chunks_max)
    }

    #[inline]
    fn chunk_start(&self, chunk: usize) -> usize {
        self.start + HEADER_BYTES + chunk * CHUNK_BYTES
    }

    /// Extents of memory that the table has taken.
    pub(super) fn extents(&self) -> u64 {
        (self.chunk_start(self.next_chunk()) - self.start).div_ceil(EXTENT_BYTES) as u64
    }

    /// How many chunks the reserved memory can hold.
    pub(super) fn chunks_in(bytes: usize, start: usize) -> usize {
        (bytes.saturating_sub(start + HEADER_BYTES) / CHUNK_BYTES).min(CHUNKS_MAX)
    }
}
