//! Exploring interleavings of the real code: some threads share memory, of which one runs at a time,
//! and a guide says before each of their steps (`steps`) which one goes on.
//!
//! - What is explored is sequentially consistent: each step sees all steps before it. What weaker
//!   orders of memory would allow besides is not seen here.
//! - A thread goes on until it is interrupted (a preemption), sleeps or ends. All schedules with at
//!   most so many preemptions are tried, and then random ones by priorities: most faults need one or
//!   two preemptions (Musuvathi and Qadeer, CHESS; Burckhardt et al., PCT).
//! - Time stands still until it is moved: to the end of a sleep, when nobody can go on, or also at any
//!   other moment, as the rules say. Where no sleep should need its end, one that does is a lost
//!   wake-up.
//! - A thread may die before any of its steps: it takes none any more, and what it held stays as it
//!   is. When all is over it is unwound, after the memory that its drops look at is put back.
//! - Not every step is one at which others may come in between: left out are those of words that a
//!   scenario says only one thread uses, or nobody decides by, and the third and later of a row from
//!   one line of code, which are loops over words of a kind. What lies between two of those is not
//!   explored.
//! - The environment deepens it: `GADUS_EXPLORE_PREEMPTIONS`, `GADUS_EXPLORE_RANDOM` (how many random
//!   schedules), and `GADUS_EXPLORE_SEED` (one of them alone, with its steps printed).

mod guide;
mod run;
mod search;
mod state;

pub(crate) use run::{Death, Play, Thread};
pub(crate) use search::{Rules, explore, find};

use crate::steps::Omission;
use gadus_base::Instant;
use run::Run;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// When a sleep may reach its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lateness {
    /// Never: somebody wakes everybody.
    Never,
    /// When nobody can go on otherwise.
    WhenStuck,
    /// At any moment.
    Always,
}

/// What a thread is explored by, if it is; a thread without a number only shares the clock.
#[derive(Clone)]
struct Part {
    run: Arc<Run>,
    number: Option<usize>,
}

thread_local! {
    static PART: RefCell<Option<Part>> = const { RefCell::new(None) };
    /// The explorer itself is at work, and looks at the memory that it explores.
    static LOOKING: Cell<bool> = const { Cell::new(false) };
}

fn part() -> Option<Part> {
    // Also where a thread ends, and what it had is dropped.
    PART.try_with(|part| part.borrow().clone()).ok().flatten()
}

/// Runs `act` for the thread, if it is explored and does not just look, or unwind.
fn acting<T>(act: impl FnOnce(&Run, usize) -> T) -> Option<T> {
    if std::thread::panicking() || LOOKING.get() {
        return None;
    }
    let part = part()?;
    let number = part.number?;
    LOOKING.set(true);
    // Also when the thread is unwound in the middle.
    let _looked = Looked;
    Some(act(&part.run, number))
}

struct Looked;

impl Drop for Looked {
    fn drop(&mut self) {
        LOOKING.set(false);
    }
}

#[track_caller]
pub(crate) fn before(word: usize) {
    let at = Location::caller();
    acting(|run, number| run.step(number, word, at));
}

#[track_caller]
pub(crate) fn wait_on(word: &AtomicU32, seen: u32, patience: Option<Duration>) -> bool {
    let at = Location::caller();
    if acting(|run, number| run.wait_on(number, word, seen, patience, at)).is_some() {
        return true;
    }
    // The one who looks at the end of a run has nobody to wait for.
    part().is_some_and(|part| {
        part.run.pass_time(patience.unwrap_or_default());
        true
    })
}

#[track_caller]
pub(crate) fn wake(word: &AtomicU32, count: u32) -> Option<usize> {
    let at = Location::caller();
    match acting(|run, number| run.wake(number, word, count, at)) {
        None if part().is_some() => Some(0),
        woken => woken,
    }
}

pub(crate) fn now() -> Option<Instant> {
    part().map(|part| part.run.now())
}

pub(crate) fn is_explored() -> bool {
    part().is_some_and(|part| part.number.is_some()) && !std::thread::panicking()
}

/// Lets another thread take a step first.
#[track_caller]
pub(crate) fn step_aside() {
    let at = Location::caller();
    acting(|run, number| run.step_aside(number, at));
}

pub(crate) fn omits(what: Omission) -> bool {
    part().is_some_and(|part| part.run.omits(what))
}

/// Runs `body` as a part of a run.
fn take_part<T>(run: &Arc<Run>, number: Option<usize>, body: impl FnOnce() -> T) -> T {
    let before = PART.replace(Some(Part { run: run.clone(), number }));
    let result = body();
    PART.set(before);
    result
}

#[cfg(test)]
mod tests;
