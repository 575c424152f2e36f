//! Statements that meet locks: what somebody else has locked is waited for, and the statement is run
//! again.
//!
//! - A statement outside transactions keeps what it has waited for until it is done; one that plans
//!   its rows keeps its whole transaction over the wait, and goes on with a newer snapshot.
//! - One that is serializable has read nothing then: it reads all anew.
//! - Waiting blocks the thread, as committing does.

use super::cancel::Flag;
use super::{Boxed, Outcome, Session, State};
use crate::rows::RowsCancel;
use gadus_base::clock;
use gadus_engine::{Error, ErrorKind, Isolation, Locker, Result, Savepoint, Transaction};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

/// A statement's part of a transaction: undone unless it is kept, also when the statement is
/// cancelled and its future dropped.
pub(super) struct Part<'a> {
    pub(super) transaction: &'a mut Transaction,
    before: Option<Savepoint>,
}

impl<'a> Part<'a> {
    pub(super) fn of(transaction: &'a mut Transaction) -> Self {
        let before = Some(transaction.savepoint());
        Self { transaction, before }
    }

    /// Keeps it.
    pub(super) fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.transaction.restore(before);
        }
    }
}

/// The transaction of a statement that is not in one of the session's.
pub(super) struct OwnTransaction {
    pub(super) transaction: Transaction,
    before: Savepoint,
}

impl OwnTransaction {
    /// Commits; after an error the transaction is kept with its locks, in case the statement waits and
    /// is run again.
    pub(super) fn end(self, state: &mut State, outcome: Result<Outcome>) -> Result<Outcome> {
        let Self { mut transaction, before } = self;
        match outcome {
            Ok(outcome) => transaction.commit().map(|_| outcome),
            Err(error) => {
                transaction.restore(before);
                state.unfinished = Some(transaction);
                Err(error)
            }
        }
    }
}

/// Waits, and lets the thread's other tasks go on elsewhere where it has any.
pub(super) fn blocking<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|current| current.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}

impl State {
    /// How a statement outside transactions is isolated: one that has seen what is not there any more is run again.
    pub(super) fn isolation_alone(&self) -> Isolation {
        match self.settings.isolation {
            Isolation::Serializable => Isolation::Serializable,
            Isolation::Snapshot | Isolation::ReadCommitted => Isolation::ReadCommitted,
        }
    }

    /// Whether what a statement outside transactions has read must be the same when it commits. Modifications that share
    /// a scan look again only at rows that they change.
    pub(super) fn is_serializable_alone(&self) -> bool {
        self.isolation_alone() == Isolation::Serializable
    }
}

impl Session {
    /// Who locks for this session.
    pub(super) fn locker(&self) -> Result<&Arc<Locker>> {
        if let Some(locker) = self.locker.get() {
            return Ok(locker);
        }
        let locker = self.engine.locker()?;
        Ok(self.locker.get_or_init(|| {
            self.listen(&locker);
            locker
        }))
    }

    /// Begins a transaction that locks for this session.
    pub(super) fn begin(&self, state: &State, isolation: Isolation) -> Result<Transaction> {
        let mut transaction = self.engine.begin_as(self.locker()?)?;
        transaction.set_isolation(isolation)?;
        if let Some(durability) = state.settings.durability {
            transaction.set_durability(durability);
        }
        Ok(transaction)
    }

    /// A transaction for a statement, on the newest snapshot.
    pub(super) fn own_transaction(&self, state: &mut State) -> Result<OwnTransaction> {
        let mut transaction = match state.unfinished.take() {
            Some(transaction) => transaction,
            None => self.begin(state, state.isolation_alone())?,
        };
        transaction.begin_again()?;
        let before = transaction.savepoint();
        Ok(OwnTransaction { transaction, before })
    }

    /// A statement begins, where the session has not been ended.
    pub(super) fn begin_statement(&self, state: &mut State) -> Result<Arc<Flag>> {
        // Before anything looks at what processes share.
        self.engine.check_memory()?;
        let flag = self.cancel.begin(state.settings.statement_timeout);
        flag.set_times(state.begin_times());
        self.shared.deadlines.watch(&flag)?;
        self.progress.begin();
        self.notices.lock().clear();
        // So that others see the session. Who only reads needs no more of it: where there is no room
        // for another, that is said to the first who locks.
        if let Ok(locker) = self.locker() {
            locker.begin_statement();
        }
        self.refuse_ended(state)?;
        Ok(flag)
    }

    /// Has rows that were begun before be read on as a statement of its own: it is what a cancellation is for from
    /// now on, and may take as long as the session allows its statements. Waits for the statement that runs.
    ///
    /// # Errors
    /// `Terminated` where the session was ended.
    pub fn resume(&self, rows: RowsCancel) -> Boxed<'_, ()> {
        Box::pin(async move {
            let state = &mut *self.state.lock().await;
            let flag = self.cancel.begin(state.settings.statement_timeout);
            flag.set_times(state.begin_times());
            self.shared.deadlines.watch(&flag)?;
            rows.continue_as(flag);
            self.refuse_ended(state)
        })
    }

    /// Waits for what a statement was refused, if that is why it failed; else gives its error back.
    pub(super) fn wait_for_lock(&self, state: &State, flag: &Flag, error: Error) -> Result<()> {
        let Some(blocked) = error.blocked().filter(|_| error.kind() == ErrorKind::Locked) else {
            return Err(error);
        };
        let locker = self.locker()?;
        let lock_ends = state.settings.lock_timeout.map(|timeout| clock().now().plus(timeout));
        let until = [lock_ends, flag.deadline()].into_iter().flatten().min();
        loop {
            // Whoever cancels sets the flag, then looks for the locker.
            if flag.is_set() {
                return Err(flag.reason());
            }
            match blocking(|| locker.wait_for(blocked, until)) {
                // Meant for the statement before.
                Err(error) if error.kind() == ErrorKind::Cancelled && !flag.is_set() => {}
                Err(error) if error.kind() == ErrorKind::Cancelled => return Err(flag.reason()),
                Err(_) if flag.deadline().is_some_and(|ends| ends <= clock().now()) => {
                    flag.expire();
                    return Err(flag.reason());
                }
                waited => return waited,
            }
        }
    }

    /// A statement has ended: what it locked outside transactions is free again.
    pub(super) fn end_statement<T>(&self, state: &mut State, outcome: Result<T>) -> Result<T> {
        state.unfinished = None;
        self.put_in_place(None);
        *self.outside.lock() = state.outside();
        self.times.lock().clone_from(state.settings.variables.times());
        self.engine.end_statement();
        if state.transaction.is_none() {
            self.sequences.end_transaction(&self.engine);
        }
        if state.transaction.is_none()
            && let Some(locker) = self.locker.get()
        {
            locker.release();
        }
        // It was not the statement that somebody cancelled.
        outcome.or_else(|error| self.refuse_ended(state).and(Err(error)))
    }
}
