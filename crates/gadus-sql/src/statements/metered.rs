//! A statement under way: its time, its rows, and the account that it runs on.

use super::{Cost, Counted, Statements, Totals};
use crate::session::Outcome;
use arrow::array::RecordBatch;
use gadus_base::{Account, Instant, clock};
use gadus_engine::Result;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// What measures one statement from its beginning.
#[derive(Debug)]
pub(crate) struct Meter {
    account: Arc<Account>,
    began: Instant,
}

/// What measures the rows of a statement, and counts the statement when it is dropped.
#[derive(Debug)]
pub(crate) struct Metered {
    totals: Arc<Totals>,
    account: Arc<Account>,
    cost: Cost,
    /// Since when somebody waits for the next batch.
    asked: Option<Instant>,
}

/// Runs a future on an account, whichever thread polls it.
pub(crate) async fn charged<F: Future>(
    account: &Arc<Account>,
    mut future: Pin<&mut F>,
) -> F::Output {
    poll_fn(|context| account.charge(|| future.as_mut().poll(context))).await
}

impl Meter {
    pub(crate) fn begin() -> Self {
        Self { account: Arc::default(), began: clock().now() }
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Counts a statement that has an outcome; where that is rows, when they end.
    pub(crate) fn end(
        self,
        statements: &Statements,
        statement: Counted<'_>,
        outcome: Result<Outcome>,
    ) -> Result<Outcome> {
        let time = self.began.elapsed();
        let (totals, is_error, rows) = match outcome {
            Ok(Outcome::Rows(rows)) => {
                let totals = statements.of(statement);
                let cost = Cost { time, ..Cost::default() };
                let metered = Metered { totals, account: self.account, cost, asked: None };
                return Ok(Outcome::Rows(rows.metered(metered)));
            }
            Ok(Outcome::Changed { rows, .. }) => (Some(statements.of(statement)), false, rows),
            Ok(Outcome::Done(_)) => (Some(statements.of(statement)), false, 0),
            Err(_) => (statements.find(statement), true, 0),
        };
        if let Some(totals) = totals {
            totals.add(Cost { is_error, rows, time, ..Cost::default() }.on(&self.account));
        }
        outcome
    }
}

impl Metered {
    /// Asks for the next batch of the rows.
    pub(crate) fn poll(
        &mut self,
        poll: impl FnOnce() -> Poll<Option<Result<RecordBatch>>>,
    ) -> Poll<Option<Result<RecordBatch>>> {
        let asked = *self.asked.get_or_insert_with(|| clock().now());
        let polled = self.account.charge(poll);
        if let Poll::Ready(next) = &polled {
            self.cost.time += asked.elapsed();
            self.asked = None;
            match next {
                Some(Ok(batch)) => self.cost.rows += batch.num_rows() as u64,
                Some(Err(_)) => self.cost.is_error = true,
                None => {}
            }
        }
        polled
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        let waited = self.asked.map_or(Duration::ZERO, |asked| asked.elapsed());
        self.cost.time += waited;
        self.totals.add(self.cost.on(&self.account));
    }
}

impl Cost {
    /// With what stands on an account.
    fn on(self, account: &Account) -> Self {
        Self { memory_bytes: account.held_bytes_max(), bytes: account.bytes(), ..self }
    }
}
