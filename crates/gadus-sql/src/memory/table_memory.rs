//! The memory of hash tables whose size is known to be small.
//!
//! - Other operators of a plan may hold much for a moment, as those that pass rows to several threads. A table that
//!   was spilled for being too large, and now is one of its parts, must not be refused for that.

use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::execution::runtime_env::RuntimeEnv;
use std::fmt;
use std::sync::Arc;

/// A pool that counts what is held and refuses nothing.
#[derive(Debug)]
struct TableMemory(Arc<dyn MemoryPool>);

/// Returns a task in which nothing is refused memory.
pub(super) fn with_table_memory(task: &TaskContext) -> TaskContext {
    let memory_pool = Arc::new(TableMemory(task.memory_pool().clone()));
    let runtime = RuntimeEnv { memory_pool, ..RuntimeEnv::clone(&task.runtime_env()) };
    TaskContext::new(
        task.task_id(),
        task.session_id(),
        task.session_config().clone(),
        task.scalar_functions().clone(),
        task.higher_order_functions().clone(),
        task.aggregate_functions().clone(),
        task.window_functions().clone(),
        Arc::new(runtime),
    )
}

impl fmt::Display for TableMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl MemoryPool for TableMemory {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.0.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.0.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.0.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.0.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.0.grow(reservation, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.0.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.0.memory_limit()
    }
}
