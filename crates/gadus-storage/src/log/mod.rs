//! The log: appending records, and reading those that others have appended.
//!
//! - Who appends holds the commit latch. A record is put into the ring in shared memory and
//!   published; the next sync, or whoever needs the room, writes it to the file ([`flush`]).
//! - Nothing is written to the file that was not published, but records too long for the ring,
//!   which their appender writes before it publishes them: its successor, should it die, comes only
//!   when its transfers are over.
//! - A failure to write poisons; running out of space fails that append only, because space is
//!   taken, zeroed and synced before ([`file`]).

pub(crate) mod file;
pub(crate) mod flush;
pub(crate) mod format;
mod payload;
mod read;
pub(crate) mod scan;
pub(crate) mod state;

use crate::error::{ErrorKind, StorageError};
use crate::group_commit::GroupCommit;
use crate::space::{Remaining, Unsaved};
use file::LogFile;
use flush::Flush;
use format::{Fragment, ZONE_HEADER_BYTES};
use gadus_base::{CommitNumber, LogPosition};
use parking_lot::Mutex;
pub use payload::Payload;
pub use state::LogEnd;
use state::{LogState, RING_BYTES, ZONES_MAX};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A record larger than this would hold the commit latch for longer than anyone waits.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 30;

/// Records longer than this do not go through the ring: others must find room in it, too.
const RINGED_BYTES_MAX: u64 = RING_BYTES as u64 / 4;

/// Bytes of a long record that are written between two syncs.
const UNSYNCED_BYTES_MAX: usize = 8 << 20;

/// True if a record of so many bytes goes to the file directly, by its own statement.
fn is_long(payload_bytes: usize) -> bool {
    payload_bytes as u64 > RINGED_BYTES_MAX
}

/// How a record is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terms {
    /// The caller waits for a sync next: the record may stay in memory until then.
    pub will_wait: bool,
    /// Part of the reserve that must remain. The log's own is for all records that may leave less
    /// than the whole.
    pub remaining: Remaining,
    /// Bytes that the record adds to the next checkpoint.
    pub unsaved: Unsaved,
}

/// A record that is to be appended.
#[derive(Clone, Copy)]
struct NewRecord<'a> {
    commit: CommitNumber,
    pieces: &'a [IoSlice<'a>],
    /// Bytes of all pieces.
    payload_bytes: usize,
}

/// A record read back from the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecord {
    /// The commit it was appended with.
    pub commit: CommitNumber,
    /// What was appended.
    pub payload: Payload,
    /// The end of the record, as [`crate::Store::append`] returned it.
    pub position: LogPosition,
    /// Checksum of its last fragment.
    pub(crate) chain: u64,
}

impl LogRecord {
    /// Its end, from which the records after it can be read.
    #[must_use]
    pub fn end(&self) -> LogEnd {
        LogEnd { position: self.position.0, chain: self.chain, commit: self.commit }
    }
}

/// The log of one database, as one instance has it open.
#[derive(Debug)]
pub(crate) struct Log {
    file: Arc<LogFile>,
    flush: Arc<Flush>,
    pub(crate) group: GroupCommit,
    /// Where records are put together before they go into the ring.
    buffer: Mutex<Vec<u8>>,
}

impl Log {
    /// `gather_from`: see [`crate::Options::gather_from`].
    pub(crate) fn new(file: LogFile, gather_from: Duration) -> Self {
        let file = Arc::new(file);
        let flush = Arc::new(Flush::new(file.clone()));
        let (poison, peers) = (file.poison.clone(), file.peers.clone());
        let group = GroupCommit::new(flush.clone(), poison, peers, gather_from);
        Self { file, flush, group, buffer: Mutex::default() }
    }

    fn state(&self) -> &LogState {
        self.file.state()
    }

    /// The end of the last appended record, by whomever.
    pub(crate) fn end(&self) -> LogEnd {
        self.state().end()
    }

    /// Puts a record behind the last one; gives its end. The caller holds the commit latch. Unless
    /// it will wait for a sync, the record is in the file when this returns.
    pub(crate) fn append(
        &self,
        commit: CommitNumber,
        pieces: &[IoSlice<'_>],
        terms: Terms,
    ) -> Result<LogPosition, StorageError> {
        let payload_bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        if payload_bytes > RECORD_BYTES_MAX {
            let message = format!(
                "a record of {payload_bytes} bytes is above the limit of {RECORD_BYTES_MAX}; \
                 commit in smaller steps"
            );
            return Err(StorageError::new(ErrorKind::Limit, &self.file.described, message));
        }
        self.file.poison.check()?;
        let before = self.begin();
        if terms.remaining == Remaining::Whole {
            self.file.keep_reserve(before.position, payload_bytes)?;
        }
        let start = self.file.shape.fragment_start(before.position);
        let end = if pieces.len() == 1 || payload_bytes <= self.file.shape.room_at(start) {
            self.append_pieces(before, NewRecord { commit, pieces, payload_bytes }, terms)?
        } else {
            let whole = pieces.iter().map(|piece| &**piece).collect::<Vec<_>>().concat();
            let pieces = &[IoSlice::new(&whole)];
            self.append_pieces(before, NewRecord { commit, pieces, payload_bytes }, terms)?
        };
        if !terms.will_wait {
            self.flush.to(end.position)?;
        }
        Ok(LogPosition(end.position))
    }

    /// The end to append behind. A predecessor that died may have prepared for a long record.
    fn begin(&self) -> LogEnd {
        let (state, end) = (self.state(), self.end());
        if state.ring_from.load(Ordering::Relaxed) > end.position {
            state.ring_from.store(end.position, Ordering::Release);
        }
        end
    }

    fn append_pieces(
        &self,
        before: LogEnd,
        record: NewRecord<'_>,
        terms: Terms,
    ) -> Result<LogEnd, StorageError> {
        let state = self.state();
        let mut buffer = self.buffer.lock();
        buffer.clear();
        if is_long(record.payload_bytes) {
            self.flush.to(before.position)?;
            let end = self.write_long(before, record, terms, &mut buffer)?;
            state.ring_from.store(end.position, Ordering::Release);
            state.publish(end);
            state.written.fetch_max(end.position, Ordering::AcqRel);
            return Ok(end);
        }
        let mut image = Vec::with_capacity(record.payload_bytes + 4096);
        let end = self.compose(before, record, &mut buffer, |_, at, bytes| {
            // What lies between the end of a zone's records and the next zone is zeros.
            let gap = usize::try_from(at - before.position).expect("below the ring's length");
            image.resize(gap, 0);
            image.extend_from_slice(bytes);
            Ok(())
        })?;
        if end.position - state.written.load(Ordering::Acquire) > RING_BYTES as u64 {
            self.flush.to(before.position)?;
        }
        state.put(before.position, &image);
        state.publish(end);
        Ok(end)
    }

    /// Writes a record that does not go through the ring, which is not published yet: a failure for want of space and
    /// a cancelled statement leave the log as it was. What is to be durable is synced on the way, so that the last sync,
    /// which nothing cancels, has little to do.
    fn write_long(
        &self,
        before: LogEnd,
        record: NewRecord<'_>,
        terms: Terms,
        buffer: &mut Vec<u8>,
    ) -> Result<LogEnd, StorageError> {
        let mut unsynced = 0;
        let written = self.compose(before, record, buffer, |zone, at, bytes| {
            self.file.check_interrupt()?;
            self.file.write(zone, at, bytes)?;
            unsynced += bytes.len();
            if terms.will_wait && unsynced >= UNSYNCED_BYTES_MAX {
                unsynced = 0;
                self.file.sync()?;
            }
            Ok(())
        });
        written.map_err(|error| match error.kind {
            ErrorKind::NoSpace | ErrorKind::Cancelled => error,
            _ => self.file.poison.set(error),
        })
    }

    /// Cuts a record into fragments and hands each to `put` with its zone and position; it has
    /// one piece, or fits one fragment. The zones are taken.
    fn compose(
        &self,
        before: LogEnd,
        record: NewRecord<'_>,
        buffer: &mut Vec<u8>,
        mut put: impl FnMut(u64, u64, &[u8]) -> Result<(), StorageError>,
    ) -> Result<LogEnd, StorageError> {
        let NewRecord { commit, pieces, payload_bytes } = record;
        let durable = self.group.durable().0;
        let (mut end, mut chain, mut done) = (before.position, before.chain, 0);
        loop {
            let position = self.file.shape.fragment_start(end);
            let count = self.file.shape.room_at(position).min(payload_bytes - done);
            let last = done + count == payload_bytes;
            let kind = Fragment::kind(done == 0, last);
            let fragment = Fragment { position, commit, before: chain, durable, kind };
            let parts = pieces.iter().map(|piece| match pieces.len() {
                1 => piece.get(done..done + count).expect("the rest of the one piece"),
                _ => &**piece,
            });
            let zone = self.file.shape.zone_of(position);
            self.file.take(zone)?;
            let mut at = position;
            buffer.clear();
            if self.file.shape.within(position) == ZONE_HEADER_BYTES
                && at - ZONE_HEADER_BYTES >= end
            {
                // The first fragment brings the header along; both are covered by the same sync.
                // Only a new log's first zone has it already.
                buffer.extend_from_slice(&self.file.shape.zone_header(zone));
                at -= ZONE_HEADER_BYTES;
            }
            chain = self.file.shape.encode(&fragment, parts, buffer);
            put(zone, at, buffer)?;
            end = position + Fragment::bytes(count);
            done += count;
            if last {
                return Ok(LogEnd { position: end, chain, commit });
            }
        }
    }

    /// Gives back the zones of which nobody needs anything before `position` any more.
    pub(crate) fn recycle_before(&self, position: LogPosition) {
        self.file.recycle_before(position.0);
    }

    /// The most that the log can keep.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        ZONES_MAX as u64 * self.file.shape.zone_bytes
    }

    /// Bytes of the file.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file.bytes()
    }
}
