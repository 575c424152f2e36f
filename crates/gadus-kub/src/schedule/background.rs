//! Switches while many others are there: asleep, or ready to run.

use super::bells::FutexBell;
use super::partner::Class;
use super::switches::{fiber, partner};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task, stay_on};
use gadus_base::spawn;
use gadus_machine::is_above_others;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

/// What the others do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Asleep,
    Running,
}

/// Threads that are there until this is dropped.
struct Crowd {
    is_over: Arc<AtomicU32>,
    threads: Vec<JoinHandle<()>>,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let counts: &[(usize, State)] = match budget {
        Budget::Quick => &[(0, State::Asleep), (2000, State::Asleep)],
        Budget::Usual => &[(0, State::Asleep), (2000, State::Asleep), (100, State::Running)],
        Budget::Thorough => &[
            (0, State::Asleep),
            (100, State::Asleep),
            (500, State::Asleep),
            (1000, State::Asleep),
            (2000, State::Asleep),
            (10, State::Running),
            (100, State::Running),
            (2000, State::Running),
        ],
    };
    let task = |(count, state): (usize, State)| {
        let name = format!("switches beside {count} threads ({})", state.word());
        Task::new(Benchmark::Schedule, name, move |harness, place| {
            measure(harness, place, count, state)
        })
    };
    counts.iter().copied().map(task).collect()
}

fn measure(
    harness: &mut Harness<'_>,
    place: &Place,
    count: usize,
    state: State,
) -> Result<(), KubError> {
    let _crowd = Crowd::gather(count, state, place.here)?;
    place.stay_here()?;
    let here = place.here;
    let contest = Contest::new(Benchmark::Schedule, Origin::Vasil2003, "switch beside others")
        .with("others", count)
        .paper_found("up to 2,000 threads in the background change nothing")
        .with("they_are", state.word())
        .with("priority", if is_above_others() { "above them" } else { "as theirs" })
        .user("fiber", fiber(0))
        .kernel("threads, futex", partner(here, Class::Usual, || Ok(FutexBell::default())))
        // What the paper's priorities were: who has a higher one runs, whoever else wants to.
        .kernel(
            "threads, futex, real-time",
            partner(here, Class::RealTime, || Ok(FutexBell::default())),
        );
    harness.measure(contest)
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Running => "running",
        }
    }
}

impl Crowd {
    /// Starts threads; on the processor of the measured, if they run.
    fn gather(count: usize, state: State, cpu: u32) -> Result<Self, KubError> {
        let mut crowd = Self { is_over: Arc::default(), threads: Vec::new() };
        for _ in 0..count {
            let is_over = crowd.is_over.clone();
            let body = move || {
                // What it has of who has started it is for the measured alone; to have less is always permitted.
                let _ = rustix::process::setpriority_process(None, 0);
                wait_or_run(state, cpu, &is_over);
            };
            crowd.threads.push(spawn("kub crowd", body).or_refused("a thread")?);
        }
        Ok(crowd)
    }
}

fn wait_or_run(state: State, cpu: u32, is_over: &AtomicU32) {
    match state {
        State::Asleep => {
            while is_over.load(Ordering::Relaxed) == 0 {
                gadus_locks::wait_on(is_over, 0, None);
            }
        }
        State::Running => {
            // Wherever it runs, it is one of those who want a processor.
            let _ = stay_on(cpu);
            while is_over.load(Ordering::Relaxed) == 0 {
                spin_loop();
            }
        }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.is_over.store(1, Ordering::Relaxed);
        gadus_locks::wake(&self.is_over, u32::MAX);
        for thread in self.threads.drain(..) {
            // They do nothing that can fail.
            let _ = thread.join();
        }
    }
}
