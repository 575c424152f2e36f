//! What each thread of the clock does: it works at passes that have segments left, and begins others.

use super::{Clock, State};
use crate::error::Result;
use crate::shared::dealing::Deal;
use crate::shared::idle::GivesWay;
use crate::shared::queue::{Batch, Ended};
use crate::shared::running::{Finished, Running};
use crate::snapshot::Snapshot;
use gadus_base::{TableId, clock};
use parking_lot::MutexGuard;
use std::cell::Cell;
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
            let gives_way = self.gives_way(&mut state, number);
            if let Some(finished) = state.finished.pop_front_if(|_| !gives_way) {
                self.finish(state, number, finished);
                state = self.state.lock();
                continue;
            }
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
            } else if gives_way {
                self.wait(&mut state, number, REST);
            } else if let Some((table, batch)) = state.begin(&self.limits, self.writer.is_busy()) {
                state.idle.serve(number);
                drop(state);
                self.begin(number, table, batch);
                state = self.state.lock();
                state.idle.end(number);
            } else {
                self.wait(&mut state, number, Duration::ZERO);
            }
        }
    }

    /// Waits until there is something to do; for so long at least, unless it is woken.
    fn wait(&self, state: &mut MutexGuard<'_, State>, number: usize, least: Duration) {
        state.idle.begin(number);
        match state.queues.next_look() {
            Some(at) => {
                let time = at.since(clock().now()).max(least);
                self.changed.wait_for(state, time);
            }
            None => self.changed.wait(state),
        }
        state.idle.end(number);
    }

    /// Whether somebody else is to do what one does for all; he then knows it.
    fn gives_way(&self, state: &mut MutexGuard<'_, State>, number: usize) -> bool {
        let waits = !state.finished.is_empty() || state.queues.waits();
        if state.stops || !waits {
            return false;
        }
        let gives_way = state.idle.gives_way(number, |other| self.layout.placed(other, number));
        if gives_way == GivesWay::Calling {
            self.changed.notify_all();
        }
        gives_way != GivesWay::No
    }

    /// Makes a pass of what waited.
    fn begin(&self, number: usize, table: TableId, batch: Batch) {
        // A defect must not keep the table's later questions from being answered.
        let deal = (self.cores.threads_max(), self.deal());
        let made = || Running::make(table, batch, self.snapshot(), deal);
        let made = catch_unwind(AssertUnwindSafe(made)).unwrap_or_default().map(Arc::new);
        // An empty table has nothing to work at.
        if let Some(running) = made.as_ref().filter(|made| made.pass.dealing().is_over()) {
            running.progress.lock().workers += 1;
            return self.work(running, number);
        }
        let mut state = self.state.lock();
        match made {
            Some(running) => {
                let is_short = self.is_short(&state, &running);
                state.passes.push(running);
                if !is_short {
                    self.changed.notify_all();
                }
            }
            None => {
                let now = clock().now();
                let bounds = self.limits.bounds(None);
                state.queues.end(table, Ended::default(), bounds, now);
            }
        }
    }

    /// Whether a pass is over before others are there to help with it, by those before it: one thread is then done with
    /// what all have shared.
    fn is_short(&self, state: &State, running: &Running) -> bool {
        let Some(from) = self.blobs.helpers().from() else { return false };
        let threads = u32::try_from(self.cores.threads_max()).unwrap_or(u32::MAX);
        let statements = running.asked() + running.modifications();
        let pace = state.paces.get(&running.table);
        let expected = pace.map(|pace| pace.pass_of(statements).saturating_mul(threads));
        // Each part is its own thread's.
        let is_for_any = !running.pass.dealing().is_divided();
        is_for_any && expected.is_some_and(|expected| expected <= from)
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
        Ok(Snapshot::new(version, self.blobs.clone(), Arc::new(pin), None))
    }

    /// Works at a pass. Who is the last to leave it, once all segments are done, answers, unless somebody is
    /// better placed for that.
    fn work(&self, running: &Arc<Running>, number: usize) {
        let is_dropped = |place: usize| running.is_dropped(place);
        let dealing = running.pass.dealing();
        let (looked, leaves) = (Cell::new(None), Cell::new(false));
        let goes_on = || {
            if dealing.is_divided() {
                return true;
            }
            let now = clock().now();
            if let Some(before) = looked.replace(Some(now)) {
                running.times.note(number, now.since(before));
            }
            leaves.set(running.times.others_are_sooner(number, dealing.left()));
            !leaves.get() && number < self.cores.claim() || self.state.lock().stops
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
        running.times.leave(number);
        let had = clock().thread_time().saturating_sub(began_with);
        self.layout.worked(number, began.elapsed(), had);
        // Whoever joins a pass looks whether it is dealt, and joins, under this lock.
        let mut state = self.state.lock();
        let mut progress = running.progress.lock();
        progress.works.push(work);
        progress.workers -= 1;
        if leaves.get() {
            progress.left.push(number);
        }
        if progress.workers > 0 || !dealing.is_over() {
            return;
        }
        let works = std::mem::take(&mut progress.works);
        drop(progress);
        let finished = Finished { running: running.clone(), works, took: running.began.elapsed() };
        state.passes.retain(|other| !Arc::ptr_eq(other, running));
        state.note(running, finished.took, &finished.works);
        state.finished.push_back(finished);
        if !self.gives_way(&mut state, number)
            && let Some(finished) = state.finished.pop_back()
        {
            self.finish(state, number, finished);
        }
    }

    /// Answers a pass.
    fn finish(&self, mut state: MutexGuard<'_, State>, number: usize, finished: Finished) {
        let Finished { running, works, took } = finished;
        // Where there are enough for another pass, it may begin while this one is answered; else those
        // who get their answers now may ask again before it does.
        let bounds = self.limits.bounds(state.paces.get(&running.table));
        let overflows = state.queues.overflows(running.table, bounds);
        let answered = running.asked() + running.modifications();
        let ended = Ended { answered, before: state.queues.waiting(running.table), took };
        if overflows {
            self.end(&mut state, running.table, ended);
        }
        state.idle.serve(number);
        drop(state);
        let (began, began_with) = (clock().now(), clock().thread_time());
        let answered = catch_unwind(AssertUnwindSafe(|| running.answer(works)));
        let answering = began.elapsed();
        self.layout.answered(clock().thread_time().saturating_sub(began_with));
        if let Some(modifications) = answered.unwrap_or_default() {
            self.writer.take(modifications);
        }
        let mut state = self.state.lock();
        state.idle.end(number);
        state.statistics.work.answer_time += answering;
        if !overflows {
            self.end(&mut state, running.table, ended);
        }
    }

    fn end(&self, state: &mut State, table: TableId, ended: Ended) {
        let bounds = self.limits.bounds(state.paces.get(&table));
        state.queues.end(table, ended, bounds, clock().now());
        self.changed.notify_one();
    }
}
