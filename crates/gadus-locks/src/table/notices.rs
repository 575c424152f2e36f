//! Telling holders that others wait for what they have (blocking notifications), and connections that
//! somebody wants them to end.
//!
//! - Who must wait marks the requests that stand in its way, leaves their numbers with their
//!   connections, and rings the doorbell of their instances. One [`Watcher`] per instance answers.
//! - A notice may be lost, with whoever was leaving it or for want of room; it is left again at the
//!   next look of who waits. So it may also come twice, or too late: a holder may ignore it.
//! - Nothing is called: the watcher's user decides what to do, with no latch held.

use super::LockTable;
use super::error::LockError;
use super::layout::Connection;
use super::modes::Mode;
use super::queue::{self, Edge, Entry};
use super::resource::Resource;
use super::sessions::Ending;
use super::state::{Holder, State};
use super::statistics::Counter;
use super::store::replace32;
use super::visit::Inside;
use crate::memory::wait_on;
use crate::steps;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Somebody waits for what a connection of this instance holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    /// The number of the connection that holds it.
    pub connection: u32,
    /// What it holds.
    pub resource: Resource,
    /// The mode that the others wait for; of several, what covers all.
    pub wanted: Mode,
}

/// What an instance is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Somebody waits for what one of its connections holds.
    InTheWay(Notification),
    /// Somebody wants one of its connections to end.
    End {
        /// The number of the connection.
        connection: u32,
        /// What of it.
        what: Ending,
    },
}

/// Waits for what an instance is told; one thread per instance does.
#[derive(Debug)]
pub struct Watcher {
    table: Arc<LockTable>,
    /// The doorbell's count at the last look.
    answered: u32,
}

impl LockTable {
    /// The watcher of this instance. A second one would take notifications from the first.
    #[must_use]
    pub fn watcher(self: &Arc<Self>) -> Watcher {
        // What rings from now on is answered, also before the first look.
        let answered = self.instances.doorbell().load(Ordering::Acquire);
        Watcher { table: self.clone(), answered }
    }
}

impl Watcher {
    /// Sleeps until this instance is told something, or is woken, or for as long as `patience`.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn wait(&mut self, patience: Option<Duration>) -> Result<Vec<Event>, LockError> {
        let doorbell = self.table.instances.doorbell();
        steps::before(doorbell);
        let seen = doorbell.load(Ordering::Acquire);
        let events = self.collect()?;
        // Rung since the last look: there may have been nothing to collect.
        if std::mem::replace(&mut self.answered, seen) != seen || !events.is_empty() {
            return Ok(events);
        }
        wait_on(doorbell, seen, patience);
        self.table.check_memory()?;
        steps::before(doorbell);
        self.answered = doorbell.load(Ordering::Acquire);
        self.collect()
    }

    fn collect(&self) -> Result<Vec<Event>, LockError> {
        let mut events = Vec::new();
        let registered = self.table.registered.lock().clone();
        for (record, number) in registered {
            let connection = self.table.connection(record)?;
            if let Some(what) = connection.take_ending() {
                events.push(Event::End { connection: number, what });
            }
            for notice in &connection.notices {
                steps::before(notice);
                let link = notice.load(Ordering::Acquire);
                if let Some(slot) = link.checked_sub(1)
                    && replace32(notice, link, 0)
                    && let Some((resource, wanted)) = self.take(record, slot)?
                {
                    let notification = Notification { connection: number, resource, wanted };
                    events.push(Event::InTheWay(notification));
                }
            }
        }
        Ok(events)
    }

    /// What a notice is about, if it still is about anything.
    fn take(&self, record: u32, slot: u32) -> Result<Option<(Resource, Mode)>, LockError> {
        let Some(partition) = self.table.partition_of(slot) else { return Ok(None) };
        let mut inside = self.table.enter(partition)?;
        let (request, state) = (inside.request(slot)?, inside.state(slot)?);
        let holder = Holder { instance: self.table.instances.me(), record };
        if state.noticed == Mode::Null || request.owner.load(Ordering::Relaxed) != holder.to_word()
        {
            return Ok(None);
        }
        let resource = inside.resource(slot)?;
        inside.change(slot, State { noticed: Mode::Null, ..state })?;
        Ok(Some((resource, state.noticed)))
    }
}

impl Inside<'_> {
    /// Tells all who hold what `mine` waits for.
    pub(super) fn notify(&mut self, entries: &[Entry], mine: &Entry) -> Result<(), LockError> {
        for other in entries.iter().filter(|one| queue::edge(mine, one) == Some(Edge::Hard)) {
            let noticed = other.state.noticed.supremum(mine.state.wanted);
            if noticed != other.state.noticed {
                self.change(other.slot, State { noticed, ..other.state })?;
            }
            if let Some(connection) = self.table.connection_of(other.holder) {
                leave_notice(connection, other.slot + 1);
                self.ring_later(other.holder.instance.slot);
                self.table.count(Counter::Notifications, 1);
            }
        }
        Ok(())
    }
}

fn leave_notice(connection: &Connection, link: u32) {
    let mut notices = connection.notices.iter();
    if notices.clone().all(|word| word.load(Ordering::Acquire) != link) {
        let _ = notices.any(|word| replace32(word, 0, link));
    }
}
