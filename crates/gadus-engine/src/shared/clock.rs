//! The clock: questions that wait are answered together, pass after pass.
//!
//! - A table's next pass takes all that wait for that table, up to a bound, in the order of their
//!   arrival, and begins on the newest snapshot. While it runs, others queue for the one after.
//! - Threads are started with the first question, one for each that the options allow, and sleep while
//!   nothing waits. Each works at any pass that has segments left, and else begins another.
//! - After a pass that has answered many, the next gives them a moment to ask again: else two halves of
//!   the askers take turns, each waiting for the other's pass.
//! - Equal questions of a pass are answered once, and share the answer.

use super::asked::{Asked, Ticket};
use super::pass::{Pass, Work};
use super::question::Question;
use crate::blobs::Blobs;
use crate::coordinator::Coordinator;
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::Snapshot;
use crate::types::TableSchema;
use gadus_base::{Instant, TableId, clock, spawn};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Questions that wait for one table, at most: so many answers nobody takes in a second.
const WAITING_MAX: usize = 65_536;

/// Questions of one pass unless a setting says otherwise.
pub const BATCH_QUERIES: usize = 2_048;

/// A pass that has answered fewer is not waited for: a moment is more than it would save.
const GATHER_MIN: usize = 32;

/// Gathering may cost this share of the last pass's time.
const GATHER_SHARE: u32 = 8;

/// What a clock has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClockStatistics {
    /// Passes that are over.
    pub passes: u64,
    /// Questions that they answered.
    pub questions: u64,
    /// Of these, those that were asked twice in a pass, and shared an answer.
    pub shared_answers: u64,
    /// Questions that were evaluated by themselves, for want of a selective conjunct.
    pub lone_questions: u64,
    /// Time of all passes, from beginning to answers.
    pub pass_time: Duration,
    /// Questions of the last pass.
    pub last_questions: u64,
    /// Time of the last pass.
    pub last_pass_time: Duration,
}

/// The queues of all tables of a database, and the threads that answer.
#[derive(Debug)]
pub(crate) struct Clock {
    coordinator: Arc<Coordinator>,
    blobs: Arc<Blobs>,
    threads_max: usize,
    state: Mutex<State>,
    changed: Condvar,
    batch_queries: AtomicU64,
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
    waiting: HashMap<TableId, VecDeque<Waiting>>,
    /// Tables that have some waiting and no pass, in turn.
    due: VecDeque<Due>,
    /// Tables whose pass begins or runs.
    busy: HashSet<TableId>,
    passes: Vec<Arc<Running>>,
    statistics: ClockStatistics,
    has_threads: bool,
    stops: bool,
}

/// A table whose next pass may begin, once so many wait or the moment has come.
#[derive(Debug)]
struct Due {
    table: TableId,
    expected: usize,
    at: Instant,
}

#[derive(Debug)]
struct Waiting {
    schema: Arc<TableSchema>,
    question: Question,
    ticket: Ticket,
}

/// A pass, and who waits for its answers.
#[derive(Debug)]
struct Running {
    table: TableId,
    pass: Pass,
    /// For each question.
    tickets: Vec<Vec<Ticket>>,
    began: Instant,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    workers: usize,
    works: Vec<Work>,
}

impl Clock {
    pub(crate) fn new(
        coordinator: Arc<Coordinator>,
        blobs: Arc<Blobs>,
        threads_max: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            coordinator,
            blobs,
            threads_max: threads_max.max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
            batch_queries: AtomicU64::new(BATCH_QUERIES as u64),
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
        let mut state = self.state.lock();
        if !state.has_threads {
            self.start()?;
            state.has_threads = true;
        }
        let table = schema.id;
        let queue = state.waiting.entry(table).or_default();
        if queue.len() >= WAITING_MAX {
            let message = format!("{WAITING_MAX} statements wait for table \"{}\"", schema.name);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        queue.push_back(Waiting { schema: schema.clone(), question, ticket });
        let waiting = queue.len();
        if let Some(due) = state.due.iter().find(|due| due.table == table) {
            if waiting == due.expected {
                self.changed.notify_one();
            }
        } else if !state.busy.contains(&table) {
            state.due.push_back(Due { table, expected: 0, at: clock().now() });
            self.changed.notify_one();
        }
        Ok(asked)
    }

    /// Whether a table is scanned, or is going to be.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state.lock();
        self.alone.load(Ordering::Relaxed) > 0 || !state.busy.is_empty() || !state.due.is_empty()
    }

    /// Counts a scan beside the clock, until this is dropped.
    pub(crate) fn scans_alone(self: &Arc<Self>) -> ScansAlone {
        self.alone.fetch_add(1, Ordering::Relaxed);
        ScansAlone(self.clone())
    }

    pub(crate) fn statistics(&self) -> ClockStatistics {
        self.state.lock().statistics
    }

    pub(crate) fn batch_queries(&self) -> u64 {
        self.batch_queries.load(Ordering::Relaxed)
    }

    pub(crate) fn set_batch_queries(&self, count: u64) {
        self.batch_queries.store(count.max(1), Ordering::Relaxed);
    }

    /// Ends the threads once what they do is done.
    pub(crate) fn stop(&self) {
        self.state.lock().stops = true;
        self.changed.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
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
    }

    fn start(self: &Arc<Self>) -> Result<()> {
        for _ in 0..self.threads_max {
            let clock = self.clone();
            let thread = spawn("gadus-scan", move || clock.run()).map_err(|error| {
                Error::new(ErrorKind::Limit, "the system has no thread for scans").caused_by(error)
            })?;
            self.threads.lock().push(thread);
        }
        Ok(())
    }

    fn run(&self) {
        let mut state = self.state.lock();
        while !state.stops {
            let open = state.passes.iter().find(|running| !running.pass.is_dealt()).cloned();
            if let Some(running) = open {
                running.progress.lock().workers += 1;
                drop(state);
                self.work(&running);
                state = self.state.lock();
            } else if let Some(table) = state.next_due() {
                let batch = self.take(&mut state, table);
                drop(state);
                // A defect must not keep the table's later questions from being answered.
                let begun = catch_unwind(AssertUnwindSafe(|| self.begin(table, batch)));
                let running = begun.unwrap_or_default().map(Arc::new);
                // An empty table has nothing to work at.
                let empty = running.as_ref().filter(|running| running.pass.is_dealt());
                if let Some(running) = empty {
                    self.answer(running, Vec::new());
                }
                state = self.state.lock();
                match running.filter(|running| !running.pass.is_dealt()) {
                    Some(running) => {
                        state.passes.push(running);
                        self.changed.notify_all();
                    }
                    None => self.end(&mut state, table, 0, Duration::ZERO),
                }
            } else if let Some(at) = state.due.iter().map(|due| due.at).min() {
                self.changed.wait_for(&mut state, at.since(clock().now()));
            } else {
                self.changed.wait(&mut state);
            }
        }
    }

    /// Takes what waits for a table, up to the bound.
    fn take(&self, state: &mut State, table: TableId) -> Vec<Waiting> {
        state.busy.insert(table);
        let Some(queue) = state.waiting.get_mut(&table) else { return Vec::new() };
        let bound = usize::try_from(self.batch_queries()).unwrap_or(usize::MAX);
        queue.drain(..queue.len().min(bound)).collect()
    }

    /// A pass of a table is over, which has answered so many: the next may begin, if somebody waits
    /// for it.
    fn end(&self, state: &mut State, table: TableId, answered: usize, took: Duration) {
        state.busy.remove(&table);
        let waiting = state.waiting.get(&table).map_or(0, VecDeque::len);
        if waiting == 0 {
            state.waiting.remove(&table);
            return;
        }
        let bound = usize::try_from(self.batch_queries()).unwrap_or(usize::MAX);
        let gathers = answered >= GATHER_MIN;
        let expected = if gathers { (waiting + answered).min(bound) } else { 0 };
        let moment = if gathers { took / GATHER_SHARE } else { Duration::ZERO };
        state.due.push_back(Due { table, expected, at: clock().now().plus(moment) });
        self.changed.notify_one();
    }

    /// Makes a pass of what waited; none where that is answered already.
    fn begin(&self, table: TableId, batch: Vec<Waiting>) -> Option<Running> {
        let began = clock().now();
        let mut questions: Vec<Question> = Vec::new();
        let mut tickets: Vec<Vec<Ticket>> = Vec::new();
        let mut found = match self.snapshot().map(|snapshot| snapshot.table_by_id(table)) {
            Ok(found) => found,
            Err(error) => {
                batch.iter().for_each(|waiting| waiting.ticket.answer(Err(error.clone())));
                return None;
            }
        };
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for Waiting { schema, question, ticket } in batch {
            let fits = found.as_ref().is_some_and(|table| Arc::ptr_eq(table.schema(), &schema));
            if !fits {
                let message = format!("table \"{}\" was changed or dropped meanwhile", schema.name);
                ticket.answer(Err(Error::new(ErrorKind::Conflict, message)));
                continue;
            }
            let place = *known.entry(question.encode()).or_insert(questions.len());
            if place == questions.len() {
                questions.push(question);
                tickets.push(Vec::new());
            }
            tickets[place].push(ticket);
        }
        let table_now = found.take().filter(|_| !questions.is_empty())?;
        match Pass::new(table_now, questions) {
            Ok(pass) => Some(Running { table, pass, tickets, began, progress: Mutex::default() }),
            Err(error) => {
                let all = tickets.iter().flatten();
                all.for_each(|ticket| ticket.answer(Err(error.clone())));
                None
            }
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let (version, pin) = self.coordinator.pin()?;
        Ok(Snapshot::new(version, self.blobs.clone(), Arc::new(pin)))
    }

    /// Works at a pass; who is the last to leave it answers.
    fn work(&self, running: &Arc<Running>) {
        let is_dropped = |place: usize| running.tickets[place].iter().all(Ticket::is_dropped);
        // A defect must not leave those without an answer who wait for it.
        let work = catch_unwind(AssertUnwindSafe(|| running.pass.work(&is_dropped)));
        let work = work.unwrap_or_else(|_| running.pass.broken());
        let works = {
            // Whoever joins a pass looks whether it is dealt, and joins, under this lock.
            let mut state = self.state.lock();
            let mut progress = running.progress.lock();
            progress.works.push(work);
            progress.workers -= 1;
            if progress.workers > 0 {
                return;
            }
            state.passes.retain(|other| !Arc::ptr_eq(other, running));
            // The next pass may begin while this one is answered.
            self.end(&mut state, running.table, running.asked(), running.began.elapsed());
            std::mem::take(&mut progress.works)
        };
        self.answer(running, works);
    }

    fn answer(&self, running: &Running, works: Vec<Work>) {
        self.note(running);
        let answers = running.pass.finish(works);
        for (tickets, answer) in running.tickets.iter().zip(answers) {
            let answer = answer.map(Arc::new);
            tickets.iter().for_each(|ticket| ticket.answer(answer.clone()));
        }
    }

    fn note(&self, running: &Running) {
        let asked = running.asked() as u64;
        let (distinct, took) = (running.tickets.len() as u64, running.began.elapsed());
        let statistics = &mut self.state.lock().statistics;
        statistics.passes += 1;
        statistics.questions += asked;
        statistics.shared_answers += asked - distinct;
        statistics.lone_questions += running.pass.lone_questions() as u64;
        statistics.pass_time += took;
        (statistics.last_questions, statistics.last_pass_time) = (asked, took);
    }
}

impl State {
    /// Takes a table whose pass may begin now.
    fn next_due(&mut self) -> Option<TableId> {
        let now = clock().now();
        let is_ready = |due: &Due| {
            let waiting = self.waiting.get(&due.table).map_or(0, VecDeque::len);
            waiting >= due.expected || due.at <= now
        };
        let place = self.due.iter().position(is_ready)?;
        self.due.remove(place).map(|due| due.table)
    }
}

impl Running {
    /// Who waits for its answers.
    fn asked(&self) -> usize {
        self.tickets.iter().map(Vec::len).sum()
    }
}
