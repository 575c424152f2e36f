//! A run: its contests, one after the other, each on a thread of its own that no earlier one has changed.
//!
//! - Between contests the machine is looked at; what was measured between two looks of which one was not quiet is
//!   marked.
//! - Everything is measured in several sittings ([`Budget::sittings`]), each with all that is not counted or found once.
//! - A contest has an equal part of the time that is left, and what the others leave of theirs.
//! - Files of a task are gone when it is done: a disk on which one did not fit may have room for the next.

use crate::error::{ErrorKind, KubError};
use crate::harness::{Budget, Harness, SystemInstruments, Watcher};
use crate::own_folder::OwnFolder;
use crate::report::{Benchmark, Cell, Identity, Report, Skipped, add_sitting};
use crate::{bind, domains, locality, lock, message, null, replace, schedule, sync};
use gadus_base::{Instant, Random, clock};
use gadus_machine::{CpuSet, Limits, Topology, pin_this_thread, rise_above_others};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is to be measured, and where.
#[derive(Debug, Clone)]
pub struct Settings {
    folder: PathBuf,
    budget: Budget,
    only: Vec<Benchmark>,
    cancelled: Arc<AtomicBool>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is measured next; none when all is done.
    pub next: Option<String>,
    /// How many contests are done.
    pub done: usize,
    /// How many there are.
    pub all: usize,
}

/// One or some contests, to be measured together.
pub(crate) struct Task {
    benchmark: Benchmark,
    name: String,
    when: When,
    /// Whether it was done in an earlier sitting.
    is_done: bool,
    body: Body,
}

/// What a task does in a sitting.
type Body = Box<dyn FnMut(&mut Harness<'_>, &Place) -> Result<(), KubError> + Send>;

/// In which sittings a task takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// What it tells is the same each time.
    First,
    /// It needs what has gone on until then.
    Last,
}

/// Where contests take place.
#[derive(Debug)]
pub(crate) struct Place {
    /// For files of this task.
    pub(crate) folder: PathBuf,
    /// For files that stay until the run ends.
    pub(crate) kept: PathBuf,
    /// The processor of whoever is measured.
    pub(crate) here: u32,
    /// A processor of another core, if there is one.
    pub(crate) elsewhere: Option<u32>,
    /// All but that of whoever is measured, those of other cores first.
    pub(crate) others: Vec<u32>,
}

impl Settings {
    /// All benchmarks, with files in a new folder in this one; the disk that it is on is measured.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let (budget, only) = (Budget::Usual, Benchmark::ALL.to_vec());
        Self { folder: folder.to_owned(), budget, only, cancelled: Arc::default() }
    }

    /// How thorough it is to be.
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Some benchmarks alone.
    #[must_use]
    pub fn only(self, only: impl IntoIterator<Item = Benchmark>) -> Self {
        Self { only: only.into_iter().collect(), ..self }
    }

    /// What ends the run when it is set; nothing stays behind.
    #[must_use]
    pub fn cancelled(self, cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..self }
    }
}

impl Task {
    pub(crate) fn new(
        benchmark: Benchmark,
        name: impl Into<String>,
        body: impl FnMut(&mut Harness<'_>, &Place) -> Result<(), KubError> + Send + 'static,
    ) -> Self {
        Self {
            benchmark,
            name: name.into(),
            when: When::Always,
            is_done: false,
            body: Box::new(body),
        }
    }

    /// In the first sitting alone: what it tells is the same each time.
    pub(crate) fn once(self) -> Self {
        Self { when: When::First, ..self }
    }

    /// In the last sitting alone.
    pub(crate) fn at_the_end(self) -> Self {
        Self { when: When::Last, ..self }
    }

    fn takes_part(&self, sitting: usize, sittings: usize) -> bool {
        match self.when {
            When::Always => true,
            When::First => sitting == 0,
            When::Last => sitting + 1 == sittings,
        }
    }
}

/// Measures, and says before each contest how far it is.
///
/// # Errors
/// When somebody has ended it, a contestant did not do its work, or nothing could be measured at all.
pub fn run(settings: &Settings, mut tell: impl FnMut(&Progress)) -> Result<Report, KubError> {
    let began = clock().now();
    let seconds = clock().wall_time().0.as_secs();
    let instruments = SystemInstruments::new();
    let own = OwnFolder::make(&settings.folder);
    let mut place = Place::find(own.path())?;
    let possible =
        settings.only.iter().filter(|benchmark| own.made.is_ok() || !needs_files(**benchmark));
    let tasks = possible.flat_map(|benchmark| of(*benchmark, settings.budget));
    let mut tasks = tasks.collect::<Vec<_>>();
    let mut harness =
        Harness::new(&instruments, settings.budget, Random::from_system(), &settings.cancelled);
    if let Err(error) = &own.made {
        for benchmark in settings.only.iter().filter(|benchmark| needs_files(**benchmark)) {
            let what = "whatever needs files".to_owned();
            harness.skip(Skipped { benchmark: *benchmark, what, why: error.to_string() });
        }
    }
    let mut watcher = Watcher::start();
    watcher.look();
    let sittings = settings.budget.sittings();
    let in_turn = (0..sittings).flat_map(|sitting| {
        let here =
            |(place, task): (usize, &Task)| task.takes_part(sitting, sittings).then_some(place);
        tasks.iter().enumerate().filter_map(here).collect::<Vec<_>>()
    });
    let in_turn = in_turn.collect::<Vec<_>>();
    let all = in_turn.len();
    for (done, task) in in_turn.into_iter().enumerate() {
        let task = &mut tasks[task];
        tell(&Progress { next: Some(task.name.clone()), done, all });
        let left = settings.budget.total().saturating_sub(began.elapsed());
        place.folder = own.folder_for(done);
        let measured = measure(task, &mut harness, &place, &mut watcher, left, all - done);
        own.remove(&place.folder);
        measured?;
    }
    tell(&Progress { next: None, done: all, all });
    let mut report = Report {
        identity: Identity::of_this_machine(&settings.folder),
        budget: settings.budget.word().to_owned(),
        seconds,
        took_seconds: began.elapsed().as_secs_f64(),
        quietness: watcher.quietness(),
        clock_cost_ns: harness.clock_cost_ns(),
        cells: std::mem::take(&mut harness.cells),
        findings: std::mem::take(&mut harness.findings),
        skipped: std::mem::take(&mut harness.skipped),
    };
    report.skipped.retain(|skipped| !took_part(&report.cells, skipped));
    match report.cells.is_empty() && report.findings.is_empty() {
        false => Ok(report),
        true => Err(KubError::unavailable(nothing_measured(&report.skipped))),
    }
}

fn of(benchmark: Benchmark, budget: Budget) -> Vec<Task> {
    match benchmark {
        Benchmark::Null => null::tasks(),
        Benchmark::Schedule => schedule::tasks(budget),
        Benchmark::Message => message::tasks(budget),
        Benchmark::Lock => lock::tasks(budget),
        Benchmark::Sync => sync::tasks(budget),
        Benchmark::Domains => domains::tasks(),
        Benchmark::Bind => bind::tasks(budget),
        Benchmark::Replace => replace::tasks(budget),
        Benchmark::Locality => locality::tasks(budget),
    }
}

fn needs_files(benchmark: Benchmark) -> bool {
    !matches!(
        benchmark,
        Benchmark::Null | Benchmark::Schedule | Benchmark::Message | Benchmark::Domains
    )
}

/// Measures a task's contests on a new thread, between two looks at the machine.
fn measure(
    task: &mut Task,
    harness: &mut Harness<'_>,
    place: &Place,
    watcher: &mut Watcher,
    left: Duration,
    tasks_left: usize,
) -> Result<(), KubError> {
    let Task { benchmark, name, when, is_done, body } = task;
    let skip = |why: String| Skipped { benchmark: *benchmark, what: name.clone(), why };
    // What tells of all that has gone on measures nothing any more.
    if left.is_zero() && *when != When::Last {
        if !*is_done {
            harness.skip(skip("the run's time was used up".to_owned()));
        }
        return Ok(());
    }
    *is_done = true;
    harness.allow(left / u32::try_from(tasks_left).unwrap_or(1).max(1));
    let known = std::mem::take(&mut harness.cells);
    let done = on_own_thread(harness, place, body);
    let quiet = watcher.look();
    for mut cell in std::mem::replace(&mut harness.cells, known) {
        // What is counted is the same on a busy machine.
        cell.quiet = quiet || cell.unit != "ns";
        add_sitting(&mut harness.cells, cell);
    }
    match done {
        Err(error) if error.kind() == ErrorKind::Unavailable => {
            harness.skip(skip(error.to_string()));
            Ok(())
        }
        done => done,
    }
}

/// Whatever it changes of its thread, such as its processors and its priority, ends with it.
fn on_own_thread(
    harness: &mut Harness<'_>,
    place: &Place,
    body: &mut Body,
) -> Result<(), KubError> {
    let broken = || KubError::broken("a contest broke off");
    let instruments = SystemInstruments::new();
    let (budget, cancelled) = harness.parts();
    let time = harness.time_allowed();
    let random = Random::from_system();
    let (done, cells, findings, skipped) = std::thread::scope(|scope| {
        let measured = scope.spawn(|| {
            rise_above_others();
            let mut own = Harness::new(&instruments, budget, random, cancelled);
            own.allow(time);
            let done = body(&mut own, place);
            (done, own.cells, own.findings, own.skipped)
        });
        measured.join().map_err(|_| broken())
    })?;
    harness.cells.extend::<Vec<Cell>>(cells);
    findings.into_iter().for_each(|finding| harness.note(finding));
    skipped.into_iter().for_each(|skipped| harness.skip(skipped));
    done
}

/// Whether who could not take part in a sitting did in another.
fn took_part(cells: &[Cell], skipped: &Skipped) -> bool {
    cells.iter().filter(|cell| cell.benchmark == skipped.benchmark).any(|cell| {
        let who = skipped.what.strip_prefix(&cell.title());
        who.and_then(|who| who.strip_prefix(": ")).is_some_and(|who| cell.by(who).is_some())
    })
}

fn nothing_measured(skipped: &[Skipped]) -> String {
    let reasons = skipped.iter().map(|skipped| format!("\n  {}: {}", skipped.what, skipped.why));
    format!("nothing could be measured:{}", reasons.collect::<String>())
}

impl Place {
    pub(crate) fn find(folder: PathBuf) -> Result<Self, KubError> {
        let cpus = processors();
        let here = cpus.first().copied();
        let here = here.ok_or_else(|| KubError::unavailable("no processor may be used"))?;
        let machine = Topology::discover().ok();
        let core_of = |cpu: u32| {
            let cores = &machine.as_ref()?.cores;
            cores.iter().position(|core| core.cpus.contains(cpu))
        };
        let mut others = cpus.iter().copied().filter(|cpu| *cpu != here).collect::<Vec<_>>();
        others.sort_by_key(|cpu| core_of(*cpu) == core_of(here));
        let elsewhere = others.first().copied();
        Ok(Self { kept: folder.clone(), folder, here, elsewhere, others })
    }

    /// Puts the calling thread on the processor of whoever is measured.
    pub(crate) fn stay_here(&self) -> Result<(), KubError> {
        stay_on(self.here)
    }

    /// A processor of another core.
    pub(crate) fn other(&self) -> Result<u32, KubError> {
        self.elsewhere.ok_or_else(|| KubError::unavailable("there is only one processor"))
    }
}

/// The processors that this process may use.
pub(crate) fn processors() -> Vec<u32> {
    let allowed = Limits::of_this_process().allowed;
    allowed.map(|cpus| cpus.iter().collect()).unwrap_or_default()
}

/// Puts the calling thread on a processor.
pub(crate) fn stay_on(cpu: u32) -> Result<(), KubError> {
    let moved = pin_this_thread(&[cpu].into_iter().collect::<CpuSet>());
    moved.map(drop).map_err(|error| KubError::unavailable(error.to_string()))
}

/// Until when something goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        Self(clock().now().plus(time))
    }

    pub(crate) fn is_over(self) -> bool {
        self.0.since(clock().now()).is_zero()
    }
}

#[cfg(test)]
mod tests;
