//! Writing the ring's bytes to the log's file.
//!
//! - Any instance may do it at any time, several at once: only published bytes are written, each at
//!   the one place that its position has, so that the same bytes are written twice at worst.
//! - An instance that is stopped in the middle may write its bytes later: its pin keeps their zones
//!   from being used again until then.

use super::file::LogFile;
use super::state::{LogState, RING_BYTES};
use crate::error::StorageError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

const NOTHING: u64 = u64::MAX;

/// The way from the ring to the file.
#[derive(Debug)]
pub(crate) struct Flush {
    file: Arc<LogFile>,
    /// Held while bytes are written by this instance; keeps the buffer for the next time.
    buffer: Mutex<Vec<u8>>,
}

impl Flush {
    pub(super) fn new(file: Arc<LogFile>) -> Self {
        Self { file, buffer: Mutex::default() }
    }

    fn state(&self) -> &LogState {
        self.file.state()
    }

    /// Writes the log up to `position`, which is published, and whatever was published meanwhile.
    pub(crate) fn to(&self, position: u64) -> Result<(), StorageError> {
        if self.state().written.load(Ordering::Acquire) >= position {
            return Ok(());
        }
        self.write_up_to(position, &mut self.buffer.lock())
    }

    fn write_up_to(&self, position: u64, buffer: &mut Vec<u8>) -> Result<(), StorageError> {
        let state = self.state();
        loop {
            let end = state.end().position;
            let ring_from = state.ring_from.load(Ordering::Acquire);
            let mut from = state.written.load(Ordering::Acquire);
            if ring_from <= end {
                from = from.max(ring_from);
            }
            if from >= position {
                return Ok(());
            }
            self.file.poison.check()?;
            let _pinned = Pinned::from(&self.file.peers.pin().flush, from);
            let to = end.min(from + RING_BYTES as u64);
            if state.recycled.load(Ordering::SeqCst) > from || !state.copy(from, to, buffer) {
                // Others have written these bytes, and gone on.
                continue;
            }
            self.write_zones(from, buffer).map_err(|error| self.file.poison.set(error))?;
            state.written.fetch_max(to, Ordering::AcqRel);
        }
    }

    /// Writes bytes of the log, which may reach over zones.
    fn write_zones(&self, from: u64, bytes: &[u8]) -> Result<(), StorageError> {
        let (mut at, mut rest) = (from, bytes);
        while !rest.is_empty() {
            let zone = self.file.shape.zone_of(at);
            let room = (zone + 1) * self.file.shape.zone_bytes - at;
            let count = rest.len().min(usize::try_from(room).unwrap_or(usize::MAX));
            let (now, later) = rest.split_at(count);
            self.file.write(zone, at, now)?;
            (at, rest) = (at + count as u64, later);
        }
        Ok(())
    }

    /// How far the log is published now.
    pub(crate) fn published(&self) -> u64 {
        self.state().end().position
    }

    /// Writes and syncs the log up to `end`, which is published.
    pub(crate) fn sync_to(&self, end: u64) -> Result<(), StorageError> {
        self.to(end)?;
        self.file.sync()
    }

    /// Writes again, with the same bytes, what was written and is not known to be durable: whoever
    /// synced it last has died, and may have taken the error of its sync along.
    pub(crate) fn rewrite_from(&self, durable: u64) -> Result<(), StorageError> {
        let state = self.state();
        let end = state.end().position;
        let ring_from = Some(state.ring_from.load(Ordering::Acquire)).filter(|from| *from <= end);
        let written = state.written.load(Ordering::Acquire).max(ring_from.unwrap_or(0));
        // As whoever writes from the ring: it may be stopped in the middle, and go on much later.
        let _one_at_a_time = self.buffer.lock();
        let pinned = Pinned::from(&self.file.peers.pin().flush, durable);
        // What is recycled was made durable before.
        let mut at = durable.max(state.recycled.load(Ordering::SeqCst));
        while at < written {
            let zone = self.file.shape.zone_of(at);
            let to = written.min((zone + 1) * self.file.shape.zone_bytes);
            let mut bytes = vec![0; usize::try_from(to - at).expect("at most a zone")];
            self.file.read(zone, at, &mut bytes)?;
            self.file.write(zone, at, &bytes)?;
            at = to;
        }
        drop(pinned);
        Ok(())
    }
}

/// Keeps the log from a position on from being used again, until it is dropped.
struct Pinned<'a>(&'a AtomicU64);

impl<'a> Pinned<'a> {
    fn from(word: &'a AtomicU64, position: u64) -> Self {
        word.store(position, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        Self(word)
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.0.store(NOTHING, Ordering::Release);
    }
}
