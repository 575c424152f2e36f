//! Memory that the operators of a plan hold, on the account of its statement.

use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::SessionContext;
use gadus_base::Account;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// A pool whose memory stands on an account.
#[derive(Debug)]
pub(crate) struct AccountedPool {
    pool: Arc<dyn MemoryPool>,
    account: Mutex<Option<Arc<Account>>>,
}

/// What a plan runs in that is run once, on the account of this thread.
pub(crate) fn task_of(context: &SessionContext) -> Arc<TaskContext> {
    let task = context.task_ctx();
    if Account::current().is_none() {
        return task;
    }
    match Arc::try_unwrap(task) {
        Ok(task) => Arc::new(AccountedPool::below(task).0),
        Err(shared) => shared,
    }
}

impl AccountedPool {
    /// Gives a task such a pool, on the account of this thread.
    pub(crate) fn below(task: TaskContext) -> (TaskContext, Arc<Self>) {
        let runtime = task.runtime_env();
        let account = Mutex::new(Account::current());
        let pool = Arc::new(Self { pool: runtime.memory_pool.clone(), account });
        let runtime = RuntimeEnv { memory_pool: pool.clone(), ..RuntimeEnv::clone(&runtime) };
        (task.with_runtime(Arc::new(runtime)), pool)
    }

    /// What is held from now on is on the account of this thread.
    pub(crate) fn begin(&self) {
        *self.account.lock() = Account::current();
    }

    fn hold(&self, bytes: usize) {
        if let Some(account) = &*self.account.lock() {
            account.hold(bytes as u64);
        }
    }
}

impl fmt::Display for AccountedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

impl MemoryPool for AccountedPool {
    fn name(&self) -> &str {
        self.pool.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.hold(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
        if let Some(account) = &*self.account.lock() {
            account.release(shrink as u64);
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.pool.try_grow(reservation, additional)?;
        self.hold(additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}
