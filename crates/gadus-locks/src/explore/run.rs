//! One run of some threads: whose turn it is, who sleeps, who is dead.
//!
//! - Exactly one thread runs, the one whose turn it is; it decides itself who is next when it comes
//!   to a step, sleeps or ends, so a thread that goes on costs no switch.
//! - Everybody else waits in [`Run::await_turn`]; so does a dead thread, until it is unwound.

use super::guide::Guide;
use super::search::Rules;
use super::state::{Actor, Stands, State};
use crate::steps::Omission;
use gadus_base::{Instant, clock};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What the threads of a run do, made anew for each run.
pub(crate) struct Play {
    pub(crate) threads: Vec<Thread>,
    /// Where the same memory is mapped, if at several places: a word is one word in all of them.
    pub(crate) mappings: Vec<Range<usize>>,
    /// Words, counted from the start of the mapping, that only one thread uses.
    pub(crate) ignored: Vec<Range<usize>>,
    /// What is true before every step; told whether nobody can go on.
    pub(crate) always: Box<dyn FnMut(bool) -> Result<(), String> + Send>,
    /// What is true when all have ended, told which are dead; panics if it is not.
    pub(crate) finally: Check,
    /// Makes what the threads had droppable.
    pub(crate) clear: Box<dyn FnOnce()>,
}

pub(crate) struct Thread {
    pub(crate) name: &'static str,
    pub(crate) body: Box<dyn FnOnce() + Send>,
    /// What its death does, if it may die; gives what makes its drops possible later.
    pub(crate) death: Option<Death>,
}

/// Told which threads are dead.
pub(crate) type Check = Box<dyn FnOnce(&[bool])>;

pub(crate) type Death = Box<dyn FnOnce() -> Box<dyn FnOnce() + Send> + Send>;

/// What a thread that is stopped unwinds with.
pub(super) struct Stopped;

pub(super) struct Run {
    state: Mutex<State>,
    turns: Vec<Condvar>,
    ended: Condvar,
    began: Instant,
    rules: Rules,
}

impl Run {
    pub(super) fn new(rules: Rules, guide: Guide, threads: usize) -> Self {
        let turns = (0..threads).map(|_| Condvar::new()).collect();
        let (ended, began) = (Condvar::new(), clock().now());
        Self { state: Mutex::new(State::new(guide)), turns, ended, began, rules }
    }

    /// Takes what the run needs of a play; gives the bodies of its threads.
    pub(super) fn prepare(&self, play: &mut Play) -> Vec<Box<dyn FnOnce() + Send>> {
        let mut state = self.state.lock();
        state.mappings = std::mem::take(&mut play.mappings);
        state.ignored = std::mem::take(&mut play.ignored);
        state.always = std::mem::replace(&mut play.always, Box::new(|_| Ok(())));
        let threads = std::mem::take(&mut play.threads);
        let mut bodies = Vec::new();
        for Thread { name, body, death } in threads {
            state.threads.push(Actor {
                name,
                stands: Stands::Ready,
                death,
                after: None,
                row: (None, 0),
                may_unwind: false,
            });
            bodies.push(body);
        }
        assert_eq!(bodies.len(), self.turns.len(), "a play has as many threads each time");
        bodies
    }

    /// Lets the threads run until all have ended or died, or something is wrong.
    pub(super) fn play(&self) {
        let mut state = self.state.lock();
        self.pass_turn(&mut state, None);
        while !state.is_over {
            self.ended.wait(&mut state);
        }
    }

    /// Which threads are dead.
    pub(super) fn dead(&self) -> Vec<bool> {
        self.state.lock().threads.iter().map(|one| one.stands == Stands::Dead).collect()
    }

    /// Lets a dead thread unwind.
    pub(super) fn let_unwind(&self, number: usize) {
        let mut state = self.state.lock();
        if let Some(after) = state.threads[number].after.take() {
            after();
        }
        state.threads[number].may_unwind = true;
        self.turns[number].notify_one();
    }

    /// Waits until it is a thread's turn for the first time; false when that never comes.
    pub(super) fn begin(&self, me: usize) -> bool {
        let mut state = self.state.lock();
        while state.turn != Some(me) {
            if state.is_stopped(me) {
                return false;
            }
            self.turns[me].wait(&mut state);
        }
        true
    }

    pub(super) fn is_good(&self) -> bool {
        self.state.lock().wrong.is_none()
    }

    /// What was wrong, how many steps there were, and the guide.
    pub(super) fn result(&self) -> (Option<String>, usize, Guide) {
        let mut state = self.state.lock();
        let spent = Guide::Orderly { path: Vec::new(), at: 0 };
        (state.wrong.take(), state.taken.len(), std::mem::replace(&mut state.guide, spent))
    }

    pub(super) fn steps(&self) -> String {
        self.state.lock().steps()
    }

    pub(super) fn now(&self) -> Instant {
        self.began.plus(self.state.lock().time)
    }

    pub(super) fn pass_time(&self, time: Duration) {
        self.state.lock().time += time;
    }

    pub(super) fn omits(&self, what: Omission) -> bool {
        self.rules.omission == Some(what)
    }

    /// Before a step of a thread: others may go first.
    pub(super) fn step(&self, me: usize, word: usize, at: &'static Location<'static>) {
        let mut state = self.state.lock();
        let word = state.key(word);
        let is_own = state.ignored.iter().any(|range| range.contains(&word));
        if !is_own && state.note(me, at) {
            self.let_others(state, me);
        }
    }

    pub(super) fn step_aside(&self, me: usize, at: &'static Location<'static>) {
        let mut state = self.state.lock();
        state.note(me, at);
        state.threads[me].stands = Stands::Aside;
        self.let_others(state, me);
    }

    pub(super) fn wait_on(
        &self,
        me: usize,
        word: &AtomicU32,
        seen: u32,
        patience: Option<Duration>,
        at: &'static Location<'static>,
    ) {
        let mut state = self.state.lock();
        state.note(me, at);
        let was_seen = word.load(Ordering::SeqCst) == seen;
        self.let_others(state, me);
        let is_seen = word.load(Ordering::SeqCst) == seen;
        // Looking and falling asleep is one step, unless a test has it otherwise.
        if if self.rules.sleeps_blindly { was_seen } else { is_seen } {
            let mut state = self.state.lock();
            state.asleep += 1;
            let (since, until) = (state.asleep, patience.map(|patience| state.time + patience));
            let word = state.key(std::ptr::from_ref(word).addr());
            state.threads[me].stands = Stands::Asleep { word, since, until };
            self.let_others(state, me);
        }
    }

    pub(super) fn wake(
        &self,
        me: usize,
        word: &AtomicU32,
        count: u32,
        at: &'static Location<'static>,
    ) -> usize {
        let mut state = self.state.lock();
        state.note(me, at);
        let address = std::ptr::from_ref(word).addr();
        self.let_others(state, me);
        let mut state = self.state.lock();
        let address = state.key(address);
        let sleeps =
            |one: &&mut Actor| matches!(one.stands, Stands::Asleep { word, .. } if word == address);
        let mut sleepers = state.threads.iter_mut().filter(sleeps).collect::<Vec<_>>();
        sleepers.sort_by_key(|one| match one.stands {
            Stands::Asleep { since, .. } => since,
            _ => 0,
        });
        sleepers.into_iter().take(count as usize).map(|one| one.stands = Stands::Ready).count()
    }

    /// A thread has ended, perhaps because something was wrong.
    pub(super) fn end(&self, me: usize, wrong: Option<String>) {
        let mut state = self.state.lock();
        if state.threads[me].stands != Stands::Dead {
            state.threads[me].stands = Stands::Ended;
        }
        if let Some(wrong) = wrong {
            state.fail(&wrong);
        }
        if !state.is_over || state.wrong.is_some() {
            self.pass_turn(&mut state, Some(me));
        }
    }

    /// Lets the guide choose; returns when it is this thread's turn.
    fn let_others(&self, mut state: MutexGuard<'_, State>, me: usize) {
        self.pass_turn(&mut state, Some(me));
        while state.turn != Some(me) {
            if state.is_stopped(me) {
                drop(state);
                std::panic::resume_unwind(Box::new(Stopped));
            }
            self.turns[me].wait(&mut state);
        }
    }

    fn pass_turn(&self, state: &mut State, me: Option<usize>) {
        state.turn = state.next(me, &self.rules);
        match state.turn {
            Some(next) if Some(next) == me => {}
            Some(next) => {
                self.turns[next].notify_one();
            }
            None => {
                state.is_over = true;
                self.ended.notify_one();
                for turn in &self.turns {
                    turn.notify_one();
                }
            }
        }
    }
}
