//! The memory that the operators of a plan hold: on the account of its statement, and with all others'.

use super::block_join::not_to_spill;
use super::gather::{Gathered, last_gathered};
use super::plan::PlanMemory;
use super::spill::MERGED_MAX;
use super::windows::WINDOW;
use super::{Memory, SPILL_BYTES_MIN, UNSPILLED_BYTES_MIN};
use crate::common_rows::CONSUMER as COMMON_TABLE;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionContext;
use gadus_base::{Account, ByteCount};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A hash table of so many bytes is built however low the limit is: some fit into what a plan may hold in any case.
const TABLE_BYTES_MIN: u64 = UNSPILLED_BYTES_MIN / 8;

/// With which the names of what nested loop joins hold begin.
const NESTED_LOOPS: &str = "NestedLoopJoinLoad";

/// What a plan's operators hold memory of; a kept plan has one for all its runs.
#[derive(Debug)]
pub(crate) struct PlanPool {
    memory: Memory,
    run: Mutex<Run>,
    /// Operators that can write out what they hold, by their numbers.
    operators: Mutex<HashMap<usize, Operator>>,
    /// Whether an operator that cannot write out what it holds was refused memory in this run.
    has_refused: AtomicBool,
    /// What windows hold that they cannot write out.
    window_bytes: AtomicU64,
    /// Whether rows of this run have been given to the client.
    has_given: AtomicBool,
    /// Rows per batch that this run should have had; zero where its rows were not too wide.
    batch_rows: AtomicUsize,
    /// Spilled runs that it should have merged at a time then.
    merged_runs: AtomicUsize,
}

/// An operator that can write out what it holds.
#[derive(Debug)]
struct Operator {
    /// It asks for memory first when it has been given its first rows.
    gathered: Arc<Gathered>,
    has_written: bool,
    /// What it has asked for to write out what is counted already. Views of one text in many batches would be
    /// counted as often.
    uncounted: u64,
}

impl Operator {
    /// Whether it holds no rows but those that it is writing out.
    fn is_writing(&self) -> bool {
        self.has_written && !self.gathered.has()
    }
}

/// One run of the plan.
#[derive(Debug)]
struct Run {
    account: Option<Arc<Account>>,
    plan: Arc<PlanMemory>,
}

impl Run {
    /// On the account of this thread.
    fn begin(memory: &Memory) -> Self {
        Self { account: Account::current(), plan: PlanMemory::new(memory.clone()) }
    }
}

/// What a plan runs in that is run once, on the account of this thread.
pub(crate) fn task_of(context: &SessionContext) -> Arc<TaskContext> {
    Arc::new(PlanPool::below(TaskContext::from(context)).0)
}

impl PlanPool {
    /// Gives a task such a pool, on the account of this thread.
    pub(crate) fn below(task: TaskContext) -> (TaskContext, Arc<Self>) {
        let runtime = task.runtime_env();
        let memory = (&*runtime.memory_pool as &dyn Any).downcast_ref::<Memory>();
        let memory = memory.expect("every planner has the memory of its database").clone();
        let run = Mutex::new(Run::begin(&memory));
        let pool = Arc::new(Self {
            memory,
            run,
            operators: Mutex::default(),
            has_refused: AtomicBool::new(false),
            window_bytes: AtomicU64::new(0),
            has_given: AtomicBool::new(false),
            batch_rows: AtomicUsize::new(0),
            merged_runs: AtomicUsize::new(MERGED_MAX),
        });
        let runtime = RuntimeEnv { memory_pool: pool.clone(), ..RuntimeEnv::clone(&runtime) };
        (task.with_runtime(Arc::new(runtime)), pool)
    }

    /// The pool of a task; none in one that was given none.
    pub(super) fn of(task: &TaskContext) -> Option<&Self> {
        (&**task.memory_pool() as &dyn Any).downcast_ref()
    }

    /// The same of what a task runs in.
    pub(super) fn in_runtime(runtime: &RuntimeEnv) -> Option<&Self> {
        (&*runtime.memory_pool as &dyn Any).downcast_ref()
    }

    /// Rows of this run have been given to the client.
    pub(super) fn give(&self) {
        self.has_given.store(true, Ordering::Relaxed);
    }

    /// True if rows of this run have been given to the client.
    pub(super) fn has_given(&self) -> bool {
        self.has_given.load(Ordering::Relaxed)
    }

    /// The limit of all plans of the database.
    pub(super) fn limit(&self) -> ByteCount {
        self.memory.limit()
    }

    /// Returns what a plan may hold in any case, or what it may hold in one hash table where that is more.
    pub(super) fn table_bytes(&self) -> u64 {
        self.memory.plan_part().max(TABLE_BYTES_MIN)
    }

    /// Returns what the plan holds.
    pub(super) fn held(&self) -> u64 {
        self.plan().held()
    }

    /// Rows of this run are too wide for its batches, which should have as many instead, and be merged of so many
    /// spilled runs at a time.
    pub(super) fn ask_for_smaller_batches(&self, rows: usize, merged_runs: usize) {
        self.merged_runs.fetch_min(merged_runs, Ordering::Relaxed);
        let least = |asked: usize| Some(if asked == 0 { rows } else { asked.min(rows) });
        let _ = self.batch_rows.fetch_update(Ordering::Relaxed, Ordering::Relaxed, least);
    }

    /// Returns the rows per batch that this run should have had, where its rows were too wide.
    pub(super) fn smaller_batches(&self) -> Option<usize> {
        Some(self.batch_rows.load(Ordering::Relaxed)).filter(|rows| *rows > 0)
    }

    /// Returns how many spilled runs should have been merged at a time.
    pub(super) fn merged_runs(&self) -> usize {
        self.merged_runs.load(Ordering::Relaxed)
    }

    /// Returns what a run has that merges so many spilled runs at a time, in the same memory.
    pub(super) fn merging(&self, runtime: &RuntimeEnv, merged_runs: usize) -> RuntimeEnv {
        let disk_manager = self.memory.spill().merging(merged_runs);
        RuntimeEnv { disk_manager, ..RuntimeEnv::clone(runtime) }
    }

    /// What is held from now on is another run's, on the account of this thread.
    pub(crate) fn begin(&self) {
        *self.run.lock() = Run::begin(&self.memory);
        self.has_refused.store(false, Ordering::Relaxed);
        self.has_given.store(false, Ordering::Relaxed);
        self.batch_rows.store(0, Ordering::Relaxed);
        self.merged_runs.store(MERGED_MAX, Ordering::Relaxed);
    }

    /// True if an operator that cannot write out what it holds was refused memory in this run.
    pub(super) fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::Relaxed)
    }

    /// True if an operator is to write out what it holds, rather than hold more.
    fn is_to_write(&self, reservation: &MemoryReservation) -> bool {
        let consumer = reservation.consumer();
        if !consumer.can_spill() {
            return false;
        }
        let held = reservation.size() as u64;
        if is_in_flight(consumer) || consumer.name() == COMMON_TABLE {
            return self.plan().is_to_spill(held);
        }
        let mut operators = self.operators.lock();
        let operator = match operators.entry(consumer.id()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match last_gathered() {
                Some(gathered) => {
                    unknown.insert(Operator { gathered, has_written: false, uncounted: 0 })
                }
                None => return false,
            },
        };
        let is_to = self.plan().is_to_spill(held) && operator.gathered.take();
        operator.has_written |= is_to;
        is_to
    }

    /// Returns what counts when an operator that cannot spill asks for more: all that the plan holds. Windows, whose
    /// rows spill, are not refused what they need for what repartitioning and sorts hold for a moment.
    fn held_beside(&self, reservation: &MemoryReservation) -> u64 {
        match is_window(reservation.consumer()) {
            true => self.window_bytes.load(Ordering::Relaxed),
            false => self.plan().held(),
        }
    }

    /// Changes what an operator holds, and says by how much that changes what is counted.
    fn counted(
        &self,
        reservation: &MemoryReservation,
        count: impl FnOnce(&mut Operator) -> u64,
    ) -> Option<u64> {
        let consumer = reservation.consumer();
        let mut operators = consumer.can_spill().then(|| self.operators.lock())?;
        operators.get_mut(&consumer.id()).map(count)
    }

    /// The run.
    pub(super) fn plan(&self) -> Arc<PlanMemory> {
        self.run.lock().plan.clone()
    }
}

impl fmt::Display for PlanPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory.fmt(f)
    }
}

impl MemoryPool for PlanPool {
    fn name(&self) -> &str {
        self.memory.name()
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.operators.lock().remove(&consumer.id());
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        let bytes = additional as u64;
        if is_window(reservation.consumer()) {
            self.window_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        let count = |operator: &mut Operator| match operator.is_writing() {
            true => {
                operator.uncounted += bytes;
                0
            }
            false => bytes,
        };
        let (bytes, run) = (self.counted(reservation, count).unwrap_or(bytes), self.run.lock());
        run.plan.hold(bytes);
        if let Some(account) = &run.account {
            account.hold(bytes);
        }
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let bytes = shrink as u64;
        if is_window(reservation.consumer()) {
            self.window_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        let count = |operator: &mut Operator| {
            let uncounted = operator.uncounted.min(bytes);
            operator.uncounted -= uncounted;
            bytes - uncounted
        };
        let (bytes, run) = (self.counted(reservation, count).unwrap_or(bytes), self.run.lock());
        run.plan.release(bytes);
        if let Some(account) = &run.account {
            account.release(bytes);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let is_over = holds_its_input(reservation.consumer())
            // What holds less is not why the plan holds much.
            && (reservation.size() + additional) as u64 >= SPILL_BYTES_MIN
            && self.memory.is_beyond(self.held_beside(reservation).saturating_add(additional as u64));
        if is_over || self.is_to_write(reservation) {
            let held = ByteCount(reservation.size() as u64);
            if is_over {
                self.has_refused.store(true, Ordering::Relaxed);
            }
            let error = too_much(reservation.consumer().name(), held, self.memory.limit());
            return Err(match reservation.consumer().name().starts_with(NESTED_LOOPS) {
                true => not_to_spill(error),
                false => error,
            });
        }
        self.grow(reservation, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.memory.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.memory.memory_limit()
    }
}

/// True for an operator that holds all rows of an input and cannot spill them: most joins, windows, and aggregates
/// without groups. Merges of what was spilled hold a batch of each run, and must go on.
fn holds_its_input(consumer: &MemoryConsumer) -> bool {
    const GO_ON: [&str; 3] = ["Merge", "Repartition", "Sorter"];
    !consumer.can_spill() && !GO_ON.iter().any(|part| consumer.name().contains(part))
}

/// True for batches between partitions: a sender without memory for a batch spills it.
fn is_in_flight(consumer: &MemoryConsumer) -> bool {
    consumer.name().starts_with("RepartitionExec[")
}

/// True for the columns and results of windows.
fn is_window(consumer: &MemoryConsumer) -> bool {
    !consumer.can_spill() && consumer.name() == WINDOW
}

/// Clients see it where an operator cannot write out what it holds, such as the rows of one group.
fn too_much(operator: &str, held: ByteCount, limit: ByteCount) -> DataFusionError {
    DataFusionError::ResourcesExhausted(format!(
        "{operator} holds {held} that it cannot write out, and all plans are to hold {limit} together: \
         raise gadus.memory_limit"
    ))
}
