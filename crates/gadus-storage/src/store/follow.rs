//! Following what other instances do: what they have appended, and what this one keeps for itself.
//!
//! - A pin is stored, then the horizon is looked at: whoever raises a horizon does it before he looks
//!   at the pins. So one of the two sees the other.
//! - An instance that pins nothing may find that what it would have to read is recycled: it then
//!   reads the newest checkpoint instead, as one that opens.

use super::open::adopt_headers;
use super::{Recovered, Store};
use crate::error::StorageError;
use crate::log::{LogEnd, LogRecord};
use crate::peers::Stage;
use gadus_base::{CommitNumber, LogPosition};
use gadus_locks::LockTable;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

impl Store {
    /// Whether others may have the database open.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !self.shared.peers.excludes_others()
    }

    /// The end of the last appended record, by whomever.
    #[must_use]
    pub fn log_end(&self) -> LogEnd {
        self.shared.log.end()
    }

    /// The records after `from`, which was an end. None when they may be recycled: that cannot be
    /// while this instance pins the log from there. What they name is kept until
    /// [`Store::end_reading`]; the caller makes one call at a time of this and of
    /// [`Store::read_again`].
    ///
    /// # Errors
    /// `Corrupt` or a failure of the device.
    pub fn records_after(
        &self,
        from: &LogEnd,
    ) -> Result<Option<(Vec<LogRecord>, LogEnd)>, StorageError> {
        if from.position >= self.appended().0 {
            return Ok(Some((Vec::new(), *from)));
        }
        let pin = self.shared.peers.pin();
        pin.reading.store(from.position, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        // In this order: who ends a pin after this has looked at it leaves what is being read.
        let is_pinned = || {
            self.shared.pinned_from.load(Ordering::SeqCst) <= from.position
                && self.shared.peers.readable_from_position() <= from.position
        };
        let read = if self.shared.is_recycled(from.position) && !is_pinned() {
            Ok(None)
        } else {
            self.shared.log.records_after(*from).map(Some)
        };
        if !matches!(read, Ok(Some(_))) {
            self.end_reading();
        }
        read
    }

    /// Keeps the log from `position` on, and what was read or changed at `commit` or later, until
    /// the next call. False when that may be gone: nothing is pinned then. The caller makes one call
    /// at a time.
    #[must_use]
    pub fn pin(&self, commit: CommitNumber, position: LogPosition) -> bool {
        let pin = self.shared.peers.pin();
        pin.position.store(position.0, Ordering::SeqCst);
        pin.commit.store(commit.0, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.shared.is_recycled(position.0) || commit < self.readable_from() {
            self.shared.peers.unpin();
            return false;
        }
        self.shared.pinned_from.store(position.0, Ordering::SeqCst);
        true
    }

    /// Moves the pin to something newer that is pinned already, by a later part of what it covers.
    pub fn move_pin(&self, commit: CommitNumber, position: LogPosition) {
        let pin = self.shared.peers.pin();
        self.shared.pinned_from.store(position.0, Ordering::SeqCst);
        pin.commit.store(commit.0, Ordering::Release);
        pin.position.store(position.0, Ordering::Release);
    }

    /// Pins nothing any more.
    pub fn unpin(&self) {
        self.shared.pinned_from.store(u64::MAX, Ordering::SeqCst);
        self.shared.peers.unpin();
    }

    /// Reads the newest checkpoint and the records after it, as opening does.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn read_again(&self) -> Result<Recovered, StorageError> {
        let (shared, pin) = (&self.shared, self.shared.peers.pin());
        // As a joiner: keeps everything until it is read.
        pin.reading.store(0, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let read = || {
            let chosen = shared.files.choose_header()?;
            let header = chosen.header;
            let (headers, rest) = adopt_headers(&shared.space, &shared.files, chosen)?;
            let from = LogEnd {
                position: header.replay_from.0,
                chain: header.chain,
                commit: header.commit,
            };
            let (records, end) = shared.log.records_after(from)?;
            // This instance may have written a newer one meanwhile, on another thread.
            let known = &mut *shared.headers.lock();
            if headers.newest.sequence >= known.newest.sequence {
                *known = headers;
            }
            let (root, warnings) = (rest.root, Vec::new());
            Ok(Recovered { root, commit: header.commit, records, end, warnings })
        };
        let read: Result<Recovered, StorageError> = read();
        if read.is_err() {
            self.end_reading();
        }
        read
    }

    /// Says that all that was read is adopted: what [`Store::records_after`] or
    /// [`Store::read_again`] gave.
    pub fn end_reading(&self) {
        self.shared.peers.pin().reading.store(u64::MAX, Ordering::SeqCst);
    }

    /// A number that no instance has been given, for names that must be unique in the database.
    ///
    /// # Errors
    /// `Limit` when all are used up.
    pub fn take_number(&self) -> Result<u32, StorageError> {
        let number = &self.shared.peers.state().number;
        let taken = number.fetch_update(Ordering::AcqRel, Ordering::Acquire, |next| {
            (next < NUMBERS_MAX).then_some(next + 1)
        });
        taken.map_err(|_| {
            let message = format!("all {NUMBERS_MAX} numbers are used up; export the database");
            StorageError::new(crate::ErrorKind::Limit, self.describe(), message)
        })
    }

    /// Makes sure that no number below `next` is given.
    pub fn raise_number(&self, next: u32) {
        self.shared.peers.state().number.fetch_max(next.min(NUMBERS_MAX), Ordering::AcqRel);
    }

    /// The next number to be given.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        self.shared.peers.state().number.load(Ordering::Acquire)
    }

    /// Says that appended records or a checkpoint name these extents.
    pub fn named(&self, extents: impl IntoIterator<Item = crate::ExtentRef>) {
        self.shared.space.named(extents);
    }

    /// Who may use what, among the connections of all instances.
    #[must_use]
    pub fn locks(&self) -> &Arc<LockTable> {
        self.shared.peers.locks()
    }

    /// Which instances are in the middle of what others may have to wait for, just now.
    #[must_use]
    pub fn busy(&self) -> Vec<(gadus_locks::InstanceDescription, Stage)> {
        self.shared.peers.busy()
    }

    /// Says that this instance uses much of something, from now on for about so long.
    pub fn busy_for(&self, with: gadus_locks::Busy, time: Duration) {
        self.shared.peers.instances().busy_for(with, time);
    }

    /// The other instances that have said so.
    #[must_use]
    pub fn busy_others(&self, with: gadus_locks::Busy) -> gadus_locks::BusyOthers {
        self.shared.peers.instances().busy_others(with)
    }

    /// What one instance has seen of the machine for all: see [`gadus_locks::Board::observed`].
    pub fn observed(
        &self,
        seen: u64,
        every: Duration,
        look: impl FnOnce() -> Option<Vec<u64>>,
    ) -> Option<gadus_locks::Observed> {
        self.shared.peers.state().board.observed(seen, every, look)
    }

    /// Whether a failure, of whatever instance, has left the durable state unknown; see [`crate::ErrorKind::Poisoned`].
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.shared.poison.is_set()
    }

    /// Refuses a database of which that is so.
    ///
    /// # Errors
    /// `Poisoned`.
    pub fn check_poison(&self) -> Result<(), StorageError> {
        self.shared.poison.check()
    }

    /// The instances that have the database open.
    #[must_use]
    pub fn instances(&self) -> Vec<gadus_locks::InstanceDescription> {
        self.shared.peers.instances().living()
    }
}

/// Numbers that can be given: the upper half is the caller's for other use.
pub const NUMBERS_MAX: u32 = 1 << 31;

impl super::Shared {
    fn is_recycled(&self, position: u64) -> bool {
        self.peers.state().log.recycled.load(Ordering::SeqCst) > position
    }
}
