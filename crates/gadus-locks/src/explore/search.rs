//! Going through the schedules of a play.

use super::guide::Guide;
use super::run::{Play, Run, Stopped};
use super::{Lateness, take_part};
use crate::steps::Omission;
use gadus_base::{clock, spawn};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Which schedules of a play are tried, and what may happen in them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// How often a thread is interrupted that could go on.
    pub(crate) preemptions: u32,
    /// How many threads die, of those that may.
    pub(crate) deaths: u32,
    pub(crate) lateness: Lateness,
    /// Random schedules, beside those in order.
    pub(crate) random: u64,
    /// What the code leaves out, to see that it is missed.
    pub(crate) omission: Option<Omission>,
    /// Whether others may come in between the look at a word and falling asleep on it.
    pub(crate) sleeps_blindly: bool,
}

/// How far a search came.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Explored {
    /// Schedules in order, of the last number of preemptions alone.
    pub(crate) orderly: u64,
    pub(crate) random: u64,
    pub(crate) steps: u64,
}

/// A schedule with a wrong end.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) wrong: String,
    /// Schedules before it, of all numbers of preemptions, and it.
    pub(crate) schedules: u64,
    /// Its preemptions; a random one has a seed.
    pub(crate) preemptions: u32,
    pub(crate) seed: Option<u64>,
    steps: String,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            preemptions: 2,
            deaths: 0,
            lateness: Lateness::Never,
            random: 60,
            omission: None,
            sleeps_blindly: false,
        }
    }
}

/// Tries all schedules that the rules allow, and says how many there were; panics with the first that
/// is wrong.
#[track_caller]
pub(crate) fn explore(name: &str, rules: Rules, play: impl Fn() -> Play) -> Explored {
    let began = clock().now();
    if let Some(seed) = from_environment::<u64>("GADUS_EXPLORE_SEED") {
        let mut search = Search::new(rules, &play);
        search.shows = true;
        let (wrong, steps) = search.run(search.random(seed));
        println!("{name}, seed {seed}:{steps}");
        assert_eq!(wrong, None, "{name}, seed {seed}");
        return search.explored;
    }
    match find(rules, play) {
        Ok(explored) => {
            println!("{name}: {explored:?}, {:?}", began.elapsed());
            explored
        }
        Err(found) => {
            let Found { wrong, schedules, preemptions, seed, steps } = &*found;
            let again = seed.map_or_else(
                || format!("with {preemptions} preemptions"),
                |seed| format!("GADUS_EXPLORE_SEED={seed}"),
            );
            panic!("{name}: {wrong}; schedule {schedules}, {again}:{steps}");
        }
    }
}

/// Tries all schedules that the rules allow, those with the fewest preemptions first; the first that
/// is wrong is an error.
pub(crate) fn find(rules: Rules, play: impl Fn() -> Play) -> Result<Explored, Box<Found>> {
    let preemptions = from_environment("GADUS_EXPLORE_PREEMPTIONS").unwrap_or(rules.preemptions);
    let random = from_environment("GADUS_EXPLORE_RANDOM").unwrap_or(rules.random);
    let mut search = Search::new(rules, &play);
    for bound in 0..=preemptions {
        search.rules.preemptions = bound;
        let before = search.schedules;
        let mut guide = Guide::Orderly { path: Vec::new(), at: 0 };
        loop {
            guide = search.check(guide, None)?;
            if !guide.advance() {
                break;
            }
        }
        search.explored.orderly = search.schedules - before;
    }
    for seed in 0..random {
        let guide = search.random(seed);
        search.check(guide, Some(seed))?;
        search.explored.random += 1;
    }
    Ok(search.explored)
}

fn from_environment<T: FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

struct Search<'a, P> {
    rules: Rules,
    play: &'a P,
    threads: usize,
    schedules: u64,
    explored: Explored,
    /// What the last run has left.
    spent: Option<Guide>,
    /// Whether the steps of every run are put down.
    shows: bool,
}

/// About how many choices a run has: what random schedules spread their few decisions over. More
/// than there are only wastes some of them.
const CHOICES: u64 = 150;

impl<'a, P: Fn() -> Play> Search<'a, P> {
    fn new(rules: Rules, play: &'a P) -> Self {
        let threads = play().threads.len();
        Self {
            rules,
            play,
            threads,
            schedules: 0,
            explored: Explored::default(),
            spent: None,
            shows: false,
        }
    }

    fn random(&self, seed: u64) -> Guide {
        Guide::random(seed, self.threads, CHOICES)
    }

    fn check(&mut self, guide: Guide, seed: Option<u64>) -> Result<Guide, Box<Found>> {
        let (wrong, steps) = self.run(guide);
        let (schedules, preemptions) = (self.schedules, self.rules.preemptions);
        match wrong {
            Some(wrong) => Err(Box::new(Found { wrong, schedules, preemptions, seed, steps })),
            None => Ok(self.spent.take().expect("the run has left it")),
        }
    }

    /// One run; gives what was wrong with it, and, if anything was or is asked for, its steps.
    fn run(&mut self, guide: Guide) -> (Option<String>, String) {
        self.schedules += 1;
        let run = Arc::new(Run::new(self.rules, guide, self.threads));
        let wrong = take_part(&run, None, || {
            let mut play = (self.play)();
            let bodies = run.prepare(&mut play);
            let threads = (0..).zip(bodies).map(|(number, body)| begin(&run, number, body));
            let threads = threads.collect::<Vec<_>>();
            run.play();
            let dead = run.dead();
            let mut wrong = None;
            let (stopped, living): (Vec<_>, Vec<_>) =
                threads.into_iter().enumerate().partition(|(number, _)| dead[*number]);
            living.into_iter().for_each(|(_, thread)| thread.join().expect("it catches panics"));
            let finally = play.finally;
            if run.is_good() {
                let checked = catch_unwind(AssertUnwindSafe(|| finally(&dead)));
                wrong = checked.err().map(|panic| message(&*panic));
            }
            for (number, thread) in stopped {
                run.let_unwind(number);
                thread.join().expect("it catches panics");
            }
            // After something was wrong, drops may find more of it.
            let _ = catch_unwind(AssertUnwindSafe(play.clear));
            wrong
        });
        let steps = if self.shows || wrong.is_some() || !run.is_good() {
            run.steps()
        } else {
            String::new()
        };
        let (before, count, guide) = run.result();
        self.explored.steps += count as u64;
        self.spent = Some(guide);
        (before.or(wrong), steps)
    }
}

fn begin(run: &Arc<Run>, number: usize, body: Box<dyn FnOnce() + Send>) -> JoinHandle<()> {
    let run = run.clone();
    let thread = move || {
        if run.begin(number) {
            let result = take_part(&run, Some(number), || catch_unwind(AssertUnwindSafe(body)));
            let wrong = result.err().filter(|panic| !panic.is::<Stopped>());
            run.end(number, wrong.map(|panic| message(&*panic)));
        }
    };
    spawn("explored", thread).expect("the system has threads")
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_owned()
}
