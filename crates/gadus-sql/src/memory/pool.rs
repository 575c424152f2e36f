//! The memory that the operators of a plan hold: on the account of its statement, and with all others'.

use super::Memory;
use super::gather::{Gathered, last_gathered};
use super::plan::PlanMemory;
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

/// What a plan's operators hold memory of; a kept plan has one for all its runs.
#[derive(Debug)]
pub(crate) struct PlanPool {
    memory: Memory,
    run: Mutex<Run>,
    /// What operators that can write out gather, by their numbers.
    gathered: Mutex<HashMap<usize, Arc<Gathered>>>,
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
        let pool = Arc::new(Self { memory, run, gathered: Mutex::default() });
        let runtime = RuntimeEnv { memory_pool: pool.clone(), ..RuntimeEnv::clone(&runtime) };
        (task.with_runtime(Arc::new(runtime)), pool)
    }

    /// The pool of a task; none in one that was given none.
    pub(super) fn of(task: &TaskContext) -> Option<&Self> {
        (&**task.memory_pool() as &dyn Any).downcast_ref()
    }

    /// What is held from now on is another run's, on the account of this thread.
    pub(crate) fn begin(&self) {
        *self.run.lock() = Run::begin(&self.memory);
    }

    /// What an operator gathers: it asks for memory first when it has been given its first rows.
    fn gathered(&self, operator: usize) -> Option<Arc<Gathered>> {
        match self.gathered.lock().entry(operator) {
            Entry::Occupied(known) => Some(known.get().clone()),
            Entry::Vacant(unknown) => Some(unknown.insert(last_gathered()?).clone()),
        }
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
        self.gathered.lock().remove(&consumer.id());
    }

    fn grow(&self, _: &MemoryReservation, additional: usize) {
        let (run, bytes) = (self.run.lock(), additional as u64);
        run.plan.hold(bytes);
        if let Some(account) = &run.account {
            account.hold(bytes);
        }
    }

    fn shrink(&self, _: &MemoryReservation, shrink: usize) {
        let (run, bytes) = (self.run.lock(), shrink as u64);
        run.plan.release(bytes);
        if let Some(account) = &run.account {
            account.release(bytes);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let (held, consumer) = (reservation.size() as u64, reservation.consumer());
        if consumer.can_spill()
            && let Some(gathered) = self.gathered(consumer.id())
            && self.plan().is_to_spill(held)
            && gathered.take()
        {
            return Err(too_much(consumer.name(), ByteCount(held), self.memory.limit()));
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

/// Clients see it where an operator cannot write out what it holds, such as the rows of one group.
fn too_much(operator: &str, held: ByteCount, limit: ByteCount) -> DataFusionError {
    DataFusionError::ResourcesExhausted(format!(
        "{operator} holds {held} that it cannot write out, and all plans are to hold {limit} together: \
         raise gadus.memory_limit"
    ))
}
