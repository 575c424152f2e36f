//! What each thread of the clock does: it works at passes that have segments left, and begins others.

use super::{Clock, State};
use crate::error::Result;
use crate::shared::dealing::Deal;
use crate::shared::running::Running;
use crate::snapshot::Snapshot;
use gadus_base::clock;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A thread whose processor is another process's looks again after this time.
const REST: Duration = Duration::from_millis(5);

impl Clock {
    /// Works until the clock stops.
    pub(super) fn run(&self, number: usize) {
        let mut pinned = None;
        let mut state = self.state.lock();
        loop {
            let open = state.open_for(number);
            if state.stops && open.is_none() {
                return;
            }
            let is_own = open.as_ref().is_some_and(|(own, _)| own.pass.dealing().is_divided());
            let may_rest = state.queues.is_busy() && !state.stops && !is_own;
            if may_rest && number >= self.cores.claim() {
                // It may have been woken for another, who waits where it no longer does.
                self.changed.notify_one();
                self.resting.wait_for(&mut state, REST);
                continue;
            }
            if let Some((running, part)) = open {
                running.progress.lock().workers += 1;
                drop(state);
                let (first, pinning) = (self.cores.first(), self.limits.pinning());
                self.layout.settle(number, first, pinning, &mut pinned);
                self.work(&running, part);
                state = self.state.lock();
            } else if let Some((table, batch)) = state.begin(&self.limits, self.writer.is_busy()) {
                drop(state);
                // A defect must not keep the table's later questions from being answered.
                let made = || Running::make(table, batch, self.snapshot(), self.deal());
                let made = catch_unwind(AssertUnwindSafe(made)).unwrap_or_default().map(Arc::new);
                // An empty table has nothing to work at.
                if let Some(running) = made.as_ref().filter(|made| made.pass.dealing().is_over()) {
                    running.progress.lock().workers += 1;
                    self.work(running, number);
                    state = self.state.lock();
                    continue;
                }
                state = self.state.lock();
                match made {
                    Some(running) => {
                        state.passes.push(running);
                        self.changed.notify_all();
                    }
                    None => {
                        let now = clock().now();
                        let bounds = self.limits.bounds(None);
                        state.queues.end(table, 0, Duration::ZERO, bounds, now);
                    }
                }
            } else if let Some(at) = state.queues.next_look() {
                self.changed.wait_for(&mut state, at.since(clock().now()));
            } else {
                self.changed.wait(&mut state);
            }
        }
    }

    /// How the segments of a pass that begins now are dealt.
    fn deal(&self) -> Deal {
        let threads = self.cores.claim();
        match NonZero::new(threads).filter(|_| self.limits.divides()) {
            Some(parts) => Deal::Divided(parts),
            None => self.layout.deal(threads, self.cores.first(), self.limits.pinning()),
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let (version, pin) = self.coordinator.pin()?;
        Ok(Snapshot::new(version, self.blobs.clone(), Arc::new(pin)))
    }

    /// Works at a pass; who is the last to leave it answers, once all segments are dealt.
    fn work(&self, running: &Arc<Running>, number: usize) {
        let is_dropped = |place: usize| running.is_dropped(place);
        let goes_on = || {
            number < self.cores.claim()
                || running.pass.dealing().is_divided()
                || self.state.lock().stops
        };
        // Whoever left before its time has left what it found.
        let left = running.progress.lock().works.pop();
        let (began, began_with) = (clock().now(), clock().thread_time());
        // A defect must not leave those without an answer who wait for it.
        let work = catch_unwind(AssertUnwindSafe(|| {
            let work = left.unwrap_or_else(|| running.pass.begin());
            running.pass.work(work, number, &is_dropped, &goes_on)
        }));
        let work = work.unwrap_or_else(|_| running.pass.broken());
        let had = clock().thread_time().saturating_sub(began_with);
        self.layout.worked(number, began.elapsed(), had);
        // Whoever joins a pass looks whether it is dealt, and joins, under this lock.
        let mut state = self.state.lock();
        let mut progress = running.progress.lock();
        progress.works.push(work);
        progress.workers -= 1;
        if progress.workers > 0 || !running.pass.dealing().is_over() {
            return;
        }
        let (works, took) = (std::mem::take(&mut progress.works), running.began.elapsed());
        drop(progress);
        state.passes.retain(|other| !Arc::ptr_eq(other, running));
        state.note(running, took, &works);
        // Where there are enough for another pass, it may begin while this one is answered; else those
        // who get their answers now may ask again before it does.
        let bounds = self.limits.bounds(state.paces.get(&running.table));
        let overflows = state.queues.overflows(running.table, bounds);
        if overflows {
            self.end(&mut state, running, took);
        }
        drop(state);
        let (began, began_with) = (clock().now(), clock().thread_time());
        let answered = catch_unwind(AssertUnwindSafe(|| running.answer(works)));
        let answering = began.elapsed();
        self.layout.answered(clock().thread_time().saturating_sub(began_with));
        if let Some(modifications) = answered.unwrap_or_default() {
            self.writer.take(modifications);
        }
        let mut state = self.state.lock();
        state.statistics.work.answer_time += answering;
        if !overflows {
            self.end(&mut state, running, took);
        }
    }

    fn end(&self, state: &mut State, running: &Running, took: Duration) {
        let answered = running.asked() + running.modifications();
        let bounds = self.limits.bounds(state.paces.get(&running.table));
        state.queues.end(running.table, answered, took, bounds, clock().now());
        self.changed.notify_one();
    }
}
