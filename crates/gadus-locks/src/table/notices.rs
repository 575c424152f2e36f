//! Telling holders that others wait for what they have (blocking notifications).
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
use super::state::{Holder, State};
use super::statistics::Counter;
use super::store::replace32;
use super::visit::Inside;
use crate::memory::wait_on;
use gadus_base::clock;
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

/// Waits for the notifications of an instance; one thread per instance does.
#[derive(Debug)]
pub struct Watcher {
    table: Arc<LockTable>,
}

impl LockTable {
    /// The watcher of this instance. A second one would take notifications from the first.
    #[must_use]
    pub fn watcher(self: &Arc<Self>) -> Watcher {
        Watcher { table: self.clone() }
    }
}

impl Watcher {
    /// Sleeps until connections of this instance stand in others' way, and says where; or for as
    /// long as `patience`, and says nothing.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn wait_for_notification(
        &mut self,
        patience: Duration,
    ) -> Result<Vec<Notification>, LockError> {
        let end = clock().now().plus(patience);
        let doorbell = self.table.instances.doorbell();
        loop {
            let seen = doorbell.load(Ordering::Acquire);
            let notifications = self.collect()?;
            let left = end.since(clock().now());
            if !notifications.is_empty() || left.is_zero() {
                return Ok(notifications);
            }
            wait_on(doorbell, seen, Some(left));
        }
    }

    fn collect(&self) -> Result<Vec<Notification>, LockError> {
        let mut notifications = Vec::new();
        let registered = self.table.registered.lock().clone();
        for (record, number) in registered {
            let connection = self.table.connection(record)?;
            for notice in &connection.notices {
                let link = notice.load(Ordering::Acquire);
                if let Some(slot) = link.checked_sub(1)
                    && replace32(notice, link, 0)
                    && let Some((resource, wanted)) = self.take(record, slot)?
                {
                    notifications.push(Notification { connection: number, resource, wanted });
                }
            }
        }
        Ok(notifications)
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
