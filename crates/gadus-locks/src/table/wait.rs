//! Waiting for a lock.
//!
//! - The truth is the state of the request: who is woken reads it, and who is not woken reads it
//!   every [`LOOK`], so a wake-up that died with its sender costs no more than that.
//! - The sleeper itself gives up its request when it is late or cancelled, under the latch: either
//!   it was granted before, or nobody will grant it.

use super::LockTable;
use super::chunks::Use;
use super::error::{LockError, LockErrorKind};
use super::layout::{Connection, Request};
use super::owner::{Grant, LockOwner, Wait};
use super::partition::Place;
use super::queue::Entry;
use super::resource::Resource;
use super::state::{Holder, State, Status};
use super::statistics::Counter;
use super::{FIRST_LOOK, LOOK};
use crate::memory::wait_on;
use crate::steps;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Holders are reminded at every look if so many requests or fewer are for the resource, and seldom
/// if there are more: a thousand sleepers that remind a thousand holders would do nothing else.
const REMINDERS_MAX: usize = 16;

/// The longest pause between two searches for a deadlock by the same sleeper.
const SEARCH_PAUSE_MAX: Duration = Duration::from_secs(1);

/// Ends the wait of an owner, from another thread.
#[derive(Debug, Clone)]
pub struct Canceller {
    table: Arc<LockTable>,
    holder: Holder,
    cancelled: Arc<AtomicBool>,
}

impl Canceller {
    /// Lets the call that waits now, or the owner's next one that would wait, return `Cancelled`,
    /// unless it is granted before, or the owner has begun something else meanwhile.
    pub fn cancel(&self) {
        steps::before(&*self.cancelled);
        self.cancelled.store(true, Ordering::Release);
        self.table.wake_connection(self.holder.record);
    }

    /// Whether somebody, perhaps in another instance, has asked for the end of the whole connection.
    #[must_use]
    pub fn is_asked_to_end(&self) -> bool {
        self.table.connection_of(self.holder).is_some_and(Connection::is_asked_to_end)
    }
}

/// When a wait is suspected to be a deadlock. A search that found nothing is worth repeating, because
/// others' waits change, but less and less often.
struct Searches {
    next: Duration,
    pause: Duration,
}

impl Searches {
    fn new(after: Duration) -> Self {
        Self { next: after, pause: after }
    }

    fn is_due(&mut self, waited: Duration) -> bool {
        let is_due = waited >= self.next;
        if is_due {
            self.pause = (2 * self.pause).clamp(LOOK, SEARCH_PAUSE_MAX);
            self.next = waited + self.pause;
        }
        is_due
    }
}

impl LockOwner {
    /// What ends the waits of this owner.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        Canceller {
            table: self.table.clone(),
            holder: self.holder,
            cancelled: self.cancelled.clone(),
        }
    }

    /// Begins something else: what was to be cancelled before is over.
    pub fn forget_cancellation(&self) {
        self.cancelled.store(false, Ordering::Release);
    }

    /// Sleeps until the request is granted.
    pub(super) fn wait(
        &mut self,
        resource: Resource,
        mine: &Entry,
        wait: Wait,
    ) -> Result<Grant, LockError> {
        self.table.count(Counter::Waits, 1);
        let began = steps::now();
        let survived = self.deadlocks_survived();
        self.say_waits_with(mine.slot + 1);
        // They may be dead already whom it would wait for.
        self.table.look();
        let result = self.sleep(resource, mine, wait);
        self.say_waits_with(0);
        result?;
        let deadlocks_survived = self.deadlocks_survived().wrapping_sub(survived);
        Ok(Grant {
            mode: mine.state.wanted,
            waited: Some(steps::elapsed(began)),
            deadlocks_survived,
        })
    }

    fn sleep(&mut self, resource: Resource, mine: &Entry, wait: Wait) -> Result<(), LockError> {
        let began = steps::now();
        let mut looked = began;
        let mut looks = 0;
        let mut searches = Searches::new(self.table.settings.deadlock_after);
        loop {
            steps::before(&self.connection().wake);
            let seen = self.connection().wake.load(Ordering::Acquire);
            let state = self.state_of(resource, mine.slot)?;
            if state.status == Status::Granted {
                let refused = state.refused;
                return if refused {
                    self.give_up(resource, mine, LockErrorKind::Deadlock)
                } else {
                    Ok(())
                };
            }
            steps::before(&*self.cancelled);
            if self.cancelled.swap(false, Ordering::AcqRel) {
                return self.give_up(resource, mine, LockErrorKind::Cancelled);
            }
            let now = steps::now();
            let pause = if looks == 0 { FIRST_LOOK } else { LOOK };
            let patience = match wait {
                Wait::Until(end) if now >= end => {
                    return self.give_up(resource, mine, LockErrorKind::Timeout);
                }
                Wait::Until(end) => end.since(now).min(pause),
                Wait::No | Wait::Forever => pause,
            };
            wait_on(&self.connection().wake, seen, Some(patience));
            self.table.check_memory()?;
            if steps::elapsed(looked) >= pause {
                looks += 1;
                self.look(resource, mine, looks)?;
                looked = steps::now();
                if searches.is_due(steps::elapsed(began)) {
                    match self.table.undo_deadlock(self.holder) {
                        // Somebody holds up the table; the search is repeated.
                        Err(error) if error.kind == LockErrorKind::Timeout => {}
                        result => drop(result?),
                    }
                }
            }
        }
    }

    /// Looks at those who keep the request waiting.
    fn look(&mut self, resource: Resource, mine: &Entry, looks: u64) -> Result<(), LockError> {
        self.table.look();
        if self.entries.len() <= REMINDERS_MAX || looks.is_multiple_of(REMINDERS_MAX as u64) {
            let end = steps::now().plus(LOOK);
            let inside = self.table.enter_until(Place::of(resource).partition, Wait::Until(end));
            let Ok(mut inside) = inside else { return Ok(()) };
            inside.gather(resource, &mut self.entries)?;
            if let Some(mine) = self.entries.iter().find(|entry| entry.slot == mine.slot) {
                inside.notify(&self.entries, mine)?;
            }
        }
        Ok(())
    }

    /// Withdraws the request, unless it is granted by now.
    pub(super) fn give_up(
        &mut self,
        resource: Resource,
        mine: &Entry,
        why: LockErrorKind,
    ) -> Result<(), LockError> {
        let end = steps::now().plus(LOOK);
        let entered = self.table.enter_until(Place::of(resource).partition, Wait::Until(end));
        if entered.as_ref().is_err_and(|error| error.kind == LockErrorKind::Timeout) {
            self.stale.push((resource, *mine));
        }
        let mut inside = entered?;
        let state = inside.state(mine.slot)?;
        if state.status == Status::Granted && !state.refused {
            return Ok(());
        }
        inside.gather(resource, &mut self.entries)?;
        if mine.state.status == Status::Waiting {
            inside.remove(resource, mine.slot)?;
        } else {
            inside.change(mine.slot, state.withdrawn())?;
        }
        inside.settle(resource)?;
        drop(inside);
        let mode = mine.state.wanted;
        let (message, counter) = match why {
            LockErrorKind::Deadlock => (format!("waiting for {mode} is a deadlock"), None),
            LockErrorKind::Cancelled => {
                (format!("waiting for {mode} was cancelled"), Some(Counter::Cancellations))
            }
            _ => (format!("{mode} was not granted in time"), Some(Counter::Timeouts)),
        };
        if let Some(counter) = counter {
            self.table.count(counter, 1);
        }
        let mut holder = self.table.blocker(&self.entries, mine);
        if why == LockErrorKind::Deadlock {
            holder = self.survivor(mode).or(holder);
        }
        Err(LockError::new(why, message).held_by(holder))
    }

    /// Withdraws what was given up while somebody held up the table; it may be granted by now.
    pub(super) fn withdraw_stale(&mut self, wait: Wait) -> Result<(), LockError> {
        while let Some((resource, mine)) = self.stale.last().copied() {
            let mut inside = self.table.enter_until(Place::of(resource).partition, wait)?;
            if mine.state.status == Status::Waiting {
                inside.remove(resource, mine.slot)?;
            } else {
                inside.change(mine.slot, State::granted(mine.state.granted))?;
            }
            inside.settle(resource)?;
            drop(inside);
            self.stale.pop();
        }
        Ok(())
    }

    /// The state of the owner's own request. Others change it by single stores.
    pub(super) fn state_of(&self, resource: Resource, slot: u32) -> Result<State, LockError> {
        let partition = Place::of(resource).partition;
        let request = self.table.record::<Request>(Use::Requests(partition), slot)?;
        steps::before(&request.state);
        let is_mine = request.owner.load(Ordering::Relaxed) == self.holder.to_word();
        State::from_word(request.state.load(Ordering::Acquire))
            .filter(|state| is_mine && *state != State::FREE)
            .ok_or_else(|| LockError::damaged("a request is gone"))
    }
}
