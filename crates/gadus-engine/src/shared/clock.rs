//! The clock: questions and modifications that wait are answered together, pass after pass.
//!
//! - A table's next pass takes all that wait for that table ([`queue`](super::queue)), and begins on
//!   the newest snapshot. While it runs, others queue for the one after.
//! - Threads are started with the first question, one for each that the options allow, and sleep while
//!   nothing waits. Each works at any pass that has segments left, and else begins another.
//! - Processes that scan one file divide the processors ([`cores`](super::cores)): some of the threads rest.
//!   A thread that becomes another process's leaves its pass after a segment; whoever comes next goes on.
//! - What one thread does for all is done by one that is not disturbed, where such a one waits ([`idle`](super::idle)),
//!   and who is slow leaves a pass's last segments to others ([`tail`](super::tail)).
//! - Equal questions of a pass are answered once, and share the answer.
//! - Modifications are questions, too, for the rows that they change; these are then changed behind the
//!   scan ([`writer`](super::writer)), so that no scan waits for a disk. A pass's questions see what was
//!   committed before it began, hence not the modifications that it found the rows of.

mod threads;

use super::asked::Asked;
use super::cores::Cores;
use super::dealing::Deal;
use super::idle::Idle;
use super::layout::{Layout, ScanThread};
use super::limits::ScanLimits;
use super::modify::Modification;
use super::pace::Paces;
use super::pass::Work;
use super::question::Question;
use super::queue::{Batch, Queues, WaitingModification, WaitingQuestion};
use super::running::{Finished, Running};
use super::statistics::{ClockStatistics, LookedUp};
use super::writer::Writer;
use crate::blobs::Blobs;
use crate::coordinator::Coordinator;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::types::TableSchema;
use gadus_base::{TableId, clock, spawn};
use gadus_storage::Durability;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The queues of all tables of a database, and the threads that answer.
#[derive(Debug)]
pub(crate) struct Clock {
    coordinator: Arc<Coordinator>,
    blobs: Arc<Blobs>,
    cores: Cores,
    layout: Layout,
    state: Mutex<State>,
    changed: Condvar,
    /// Threads sleep here whose processors are others' at the moment.
    resting: Condvar,
    writer: Arc<Writer>,
    limits: ScanLimits,
    /// Scans beside it.
    alone: AtomicUsize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A scan that is nobody's but one statement's.
#[derive(Debug)]
pub struct ScansAlone(Arc<Clock>);

impl Drop for ScansAlone {
    fn drop(&mut self) {
        self.0.alone.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Default)]
struct State {
    queues: Queues,
    paces: Paces,
    passes: Vec<Arc<Running>>,
    /// Passes that somebody is to answer who has more of a processor than who was the last to leave them.
    finished: VecDeque<Finished>,
    idle: Idle,
    statistics: ClockStatistics,
    /// Statements by table and the column that they were looked up by.
    looked_up: BTreeMap<(TableId, Option<usize>), u64>,
    has_threads: bool,
    stops: bool,
}

impl Clock {
    pub(crate) fn new(
        coordinator: Arc<Coordinator>,
        blobs: Arc<Blobs>,
        threads_max: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            coordinator,
            writer: Writer::new(blobs.clone()),
            cores: Cores::new(blobs.store().clone(), threads_max),
            layout: Layout::new(Some(blobs.store().clone()), threads_max.max(1)),
            blobs,
            state: Mutex::default(),
            changed: Condvar::new(),
            resting: Condvar::new(),
            limits: ScanLimits::default(),
            alone: AtomicUsize::new(0),
            threads: Mutex::default(),
        })
    }

    /// Has a question about a table answered in the table's next pass. Where the table has another
    /// shape by then, the answer is a `Conflict`: the statement is to be made anew.
    pub(crate) fn ask(
        self: &Arc<Self>,
        schema: &Arc<TableSchema>,
        question: Question,
    ) -> Result<Asked> {
        let (asked, ticket) = Asked::new();
        let mut state = self.with_threads()?;
        // Other processes leave this one its part while its own threads wake up.
        if !state.queues.is_busy() {
            self.cores.claim();
        }
        self.refuse_late(&state, schema)?;
        let waiting = WaitingQuestion { schema: schema.clone(), question, ticket };
        if state.queues.push_question(waiting, clock().now())? {
            self.changed.notify_one();
        }
        Ok(asked)
    }

    /// Has the rows that a modification is for found in the table's next pass, and changed then.
    pub(crate) fn modify(
        self: &Arc<Self>,
        schema: &Arc<TableSchema>,
        modification: Modification,
        durability: Durability,
        engine: Engine,
    ) -> Result<Asked> {
        modification.check(schema)?;
        self.writer.start()?;
        let (asked, ticket) = Asked::new();
        let mut state = self.with_threads()?;
        if !state.queues.is_busy() {
            self.cores.claim();
        }
        self.refuse_late(&state, schema)?;
        let schema = schema.clone();
        let waiting = WaitingModification { schema, modification, durability, engine, ticket };
        if state.queues.push_modification(waiting, clock().now())? {
            self.changed.notify_one();
        }
        Ok(asked)
    }

    /// Whether a table is scanned, or is going to be.
    pub(crate) fn is_busy(&self) -> bool {
        self.alone.load(Ordering::Relaxed) > 0 || self.state.lock().queues.is_busy()
    }

    /// Counts a scan beside the clock, until this is dropped.
    pub(crate) fn scans_alone(self: &Arc<Self>) -> ScansAlone {
        self.alone.fetch_add(1, Ordering::Relaxed);
        ScansAlone(self.clone())
    }

    pub(crate) fn statistics(&self) -> ClockStatistics {
        let (written, toured) = (self.writer.written(), self.blobs.tours().statistics());
        ClockStatistics {
            plan_scans: toured.scans,
            joined_plan_scans: toured.joined,
            plan_scan_time: toured.time,
            modified_rows: written.rows,
            modifying_commits: written.commits,
            modify_time: written.time,
            threads: self.cores.share(),
            ..self.state.lock().statistics
        }
    }

    /// How many statements were looked up by which columns of the tables that there are.
    pub(crate) fn looked_up(&self) -> Vec<LookedUp> {
        let looked_up = self.state.lock().looked_up.clone();
        let visible = self.coordinator.visible();
        let named = |((table, column), statements): ((TableId, Option<usize>), u64)| {
            let schema = &visible.table(table)?.schema;
            let column =
                column.map(|column| schema.columns.get(column).map(|one| one.name.clone()));
            let column = column.map_or(Some(None), |name| name.map(Some))?;
            Some(LookedUp { table: schema.name.clone(), column, statements })
        };
        looked_up.into_iter().filter_map(named).collect()
    }

    /// The threads of the next pass: the processor that each is to stay on, and the memory node near it.
    pub(crate) fn places(&self) -> Vec<(Option<u32>, Option<u32>)> {
        let threads = self.cores.share().max(1);
        self.layout.places(threads, self.cores.first(), self.limits.pinning())
    }

    /// Whether each of them begins with the segments of its memory node.
    pub(crate) fn deals_by_node(&self) -> bool {
        let threads = self.cores.share().max(1);
        let deal = self.layout.deal(threads, self.cores.first(), self.limits.pinning());
        matches!(deal, Deal::ByNode(..))
    }

    pub(crate) fn threads(&self) -> Vec<ScanThread> {
        self.layout.threads()
    }

    pub(crate) fn limits(&self) -> &ScanLimits {
        &self.limits
    }

    /// About when a statement about a table is answered that comes now; none where that is not known.
    pub(crate) fn expected(&self, table: TableId) -> Option<Duration> {
        let state = self.state.lock();
        state.queues.expected(table, &self.limits, &state.paces, clock().now())
    }

    /// Ends the threads once what they do is done.
    pub(crate) fn stop(&self) {
        self.state.lock().stops = true;
        self.changed.notify_all();
        self.resting.notify_all();
        let mut threads = std::mem::take(&mut *self.threads.lock());
        threads.extend(self.writer.stop());
        // Whoever is woken by an answer may be the last to hold the database, on the thread that wakes.
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            // A panic has been reported by the runtime.
            let _ = thread.join();
        }
    }

    /// A forked child has none of its parent's threads.
    pub(crate) fn forget_threads(&self) {
        if let Some(mut threads) = self.threads.try_lock() {
            threads.drain(..).for_each(std::mem::forget);
        }
        self.writer.forget_thread();
    }

    /// The state, once there are threads that look at it.
    fn with_threads(self: &Arc<Self>) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock();
        if state.has_threads {
            return Ok(state);
        }
        for number in 0..self.cores.threads_max() {
            let clock = self.clone();
            let thread = spawn("gadus-scan", move || clock.run(number)).map_err(|error| {
                Error::new(ErrorKind::Limit, "the system has no thread for scans").caused_by(error)
            })?;
            self.threads.lock().push(thread);
        }
        state.has_threads = true;
        Ok(state)
    }

    /// Refuses a statement that would be answered too late, where that is the rule.
    fn refuse_late(&self, state: &State, schema: &TableSchema) -> Result<()> {
        let Some(target) = self.limits.latency_target().filter(|_| self.limits.refuses_late())
        else {
            return Ok(());
        };
        let now = clock().now();
        let expected = state.queues.expected(schema.id, &self.limits, &state.paces, now);
        let Some(expected) = expected.filter(|expected| *expected > target) else { return Ok(()) };
        let message = format!(
            "table \"{}\" is asked so much that the answer would take about {} ms, longer than \
             gadus.latency_target ({} ms): try again later, or SET gadus.late_statements = wait",
            schema.name,
            expected.as_millis(),
            target.as_millis()
        );
        Err(Error::new(ErrorKind::Limit, message))
    }
}

impl State {
    /// A pass that has a segment for a thread, and the number by which it gets that: its own, unless threads
    /// end. Then it is that of any part, whose own thread may be gone.
    fn open_for(&self, number: usize) -> Option<(Arc<Running>, usize)> {
        self.passes.iter().find_map(|running| {
            let dealing = running.pass.dealing();
            let part = if self.stops { dealing.open_part()? } else { number };
            let is_open = dealing.has_more_for(part) && (self.stops || running.is_open_for(number));
            is_open.then(|| (running.clone(), part))
        })
    }

    fn begin(&mut self, limits: &ScanLimits, writes: bool) -> Option<(TableId, Batch)> {
        self.queues.begin(limits, &self.paces, writes, clock().now())
    }

    /// Counts a pass whose answers are about to be given.
    fn note(&mut self, running: &Running, took: Duration, works: &[Work]) {
        let (asked, modifications) = (running.asked() as u64, running.modifications() as u64);
        let statements = running.asked() + running.modifications();
        self.paces.entry(running.table).or_default().note(statements, took);
        for (&column, count) in running.pass.looked_up() {
            *self.looked_up.entry((running.table, column)).or_default() += count;
        }
        let statistics = &mut self.statistics;
        works.iter().for_each(|work| statistics.work += work.done());
        statistics.work.bytes += running.read;
        statistics.passes += 1;
        statistics.questions += asked;
        statistics.shared_answers += asked - running.distinct() as u64;
        statistics.lone_questions += running.pass.lone_questions() as u64;
        statistics.modifications += modifications;
        statistics.pass_time += took;
        statistics.last_questions = asked + modifications;
        statistics.last_pass_time = took;
    }
}
