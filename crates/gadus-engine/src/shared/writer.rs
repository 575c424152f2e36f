//! Modifications whose rows are found, one batch after another: a transaction and a commit each.
//!
//! - A thread of its own waits for the disk while the next pass runs. Who asks for the first modification starts
//!   it: a thread that stays on one processor, as those of scans may, would keep it there.

use super::apply::FoundModification;
use super::asked::Ticket;
use super::question::Answer;
use crate::blobs::Blobs;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::Table;
use crate::transaction::Transaction;
use gadus_base::{Account, clock, spawn};
use gadus_storage::Durability;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The modifications of one pass.
#[derive(Debug)]
pub(super) struct FoundBatch {
    found_in: Table,
    engine: Engine,
    modifications: Vec<FoundModification>,
    tickets: Vec<Ticket>,
    /// What all of them are content with.
    durability: Durability,
}

/// What the writer has done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) rows: u64,
    pub(super) commits: u64,
    pub(super) time: Duration,
}

/// Who carries modifications out.
#[derive(Debug)]
pub(super) struct Writer {
    blobs: Arc<Blobs>,
    state: Mutex<State>,
    changed: Condvar,
    /// Batches that were taken and are not carried out.
    begun: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    batches: VecDeque<FoundBatch>,
    thread: Option<JoinHandle<()>>,
    written: Written,
    stops: bool,
}

impl FoundBatch {
    pub(super) fn of(found_in: Table, engine: Engine) -> Self {
        let (modifications, tickets) = Default::default();
        Self { found_in, engine, modifications, tickets, durability: Durability::Off }
    }

    pub(super) fn add(
        &mut self,
        modification: FoundModification,
        durability: Durability,
        ticket: Ticket,
    ) {
        self.durability = self.durability.min(durability);
        self.modifications.push(modification);
        self.tickets.push(ticket);
    }

    /// Applies and commits; returns what became of each.
    fn commit(&mut self, blobs: &Arc<Blobs>) -> Result<Vec<Result<u64>>> {
        let mut transaction = Transaction::new(self.engine.inner().clone(), blobs.clone(), None)?;
        transaction.set_durability(self.durability);
        let modifications = std::mem::take(&mut self.modifications);
        let outcomes = transaction.modify_found(&self.found_in, modifications)?;
        transaction.commit()?;
        Ok(outcomes)
    }
}

impl Writer {
    pub(super) fn new(blobs: Arc<Blobs>) -> Arc<Self> {
        let (state, changed, begun) = (Mutex::default(), Condvar::new(), AtomicUsize::new(0));
        Arc::new(Self { blobs, state, changed, begun })
    }

    /// Starts the thread, unless there is one.
    pub(super) fn start(self: &Arc<Self>) -> Result<()> {
        let mut state = self.state.lock();
        if state.thread.is_none() && !state.stops {
            let writer = self.clone();
            let thread = spawn("gadus-modify", move || writer.run()).map_err(|error| {
                let message = "the system has no thread for modifications";
                Error::new(ErrorKind::Limit, message).caused_by(error)
            })?;
            state.thread = Some(thread);
        }
        Ok(())
    }

    /// Has a batch carried out after those before it.
    pub(super) fn take(&self, batch: FoundBatch) {
        let mut state = self.state.lock();
        self.begun.fetch_add(1, Ordering::Relaxed);
        state.batches.push_back(batch);
        self.changed.notify_one();
    }

    /// Whether some who wait for it have no answer yet.
    pub(super) fn is_busy(&self) -> bool {
        self.begun.load(Ordering::Relaxed) > 0
    }

    pub(super) fn written(&self) -> Written {
        self.state.lock().written
    }

    /// Ends the thread once what it does is done.
    pub(super) fn stop(&self) -> Option<JoinHandle<()>> {
        let mut state = self.state.lock();
        state.stops = true;
        self.changed.notify_all();
        state.thread.take()
    }

    /// A forked child has none of its parent's threads.
    pub(super) fn forget_thread(&self) {
        if let Some(mut state) = self.state.try_lock() {
            std::mem::forget(state.thread.take());
        }
    }

    fn run(&self) {
        let mut state = self.state.lock();
        while !state.stops {
            let Some(batch) = state.batches.pop_front() else {
                self.changed.wait(&mut state);
                continue;
            };
            drop(state);
            self.carry_out(batch);
            state = self.state.lock();
        }
    }

    fn carry_out(&self, mut batch: FoundBatch) {
        let began = clock().now();
        // A defect must not keep later batches from being carried out.
        let account = Arc::<Account>::default();
        let commit = || account.charge(|| batch.commit(&self.blobs));
        let outcomes = catch_unwind(AssertUnwindSafe(commit));
        let broken = |_| Err(Error::internal("a modification broke off"));
        let outcomes = match outcomes.unwrap_or_else(broken) {
            Ok(outcomes) => outcomes,
            Err(error) => batch.tickets.iter().map(|_| Err(error.clone())).collect(),
        };
        let rows = outcomes.iter().flatten().sum::<u64>();
        {
            let written = &mut self.state.lock().written;
            written.rows += rows;
            written.commits += u64::from(rows > 0);
            written.time += began.elapsed();
        }
        // Whoever is answered may close the database, and open it again at once: it is not held here any more then.
        let FoundBatch { tickets, engine, found_in, .. } = batch;
        drop((engine, found_in));
        let part = account.bytes().divided(tickets.len());
        for (ticket, outcome) in tickets.iter().zip(outcomes) {
            ticket.charge(part);
            ticket.answer(outcome.map(|count| Arc::new(Answer::Changed(count))));
        }
        self.begun.fetch_sub(1, Ordering::Relaxed);
    }
}
