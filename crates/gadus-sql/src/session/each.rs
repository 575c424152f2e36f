//! A statement for many sets of parameters: all of them or none.

use super::asked::{Asked, Source};
use super::cancel::Flag;
use super::{Boxed, Outcome, Prepared, Session, State, transact};
use crate::statements::{Meter, charged};
use crate::value::Value;
use futures::StreamExt;
use gadus_engine::Result;

impl Session {
    /// Runs a prepared statement once for each set of parameters; returns how many rows they changed, or
    /// gave. No other statement of the session comes between; where one fails, none has been.
    pub fn execute_each<'a>(
        &'a self,
        prepared: &'a Prepared,
        sets: &'a [Vec<Value>],
    ) -> Boxed<'a, u64> {
        Box::pin(async move {
            self.engine.check_usable()?;
            let state = &mut *self.state.lock().await;
            let flag = self.begin_statement(state)?;
            let done = self.each_or_none(state, prepared, sets, &flag).await;
            self.end_statement(state, done)
        })
    }

    async fn each_or_none(
        &self,
        state: &mut State,
        prepared: &Prepared,
        sets: &[Vec<Value>],
        flag: &Flag,
    ) -> Result<u64> {
        self.put_in_place(prepared.frames.as_ref());
        self.begin_implicit(state, prepared)?;
        let (savepoints, marked) = (state.savepoints.len(), state.settings.mark());
        // What is gone back to in the session's own transaction.
        let before = state.transaction.as_mut().map(|transaction| transaction.savepoint());
        if before.is_none() {
            transact::begin(self, state, &[])?;
        }
        let done = self.each(state, prepared, sets, flag).await;
        match (before, done) {
            (None, Ok(rows)) if state.transaction.is_some() => {
                if let Some(transaction) = &mut state.transaction {
                    self.sequences.settle(transaction)?;
                }
                transact::commit(state).map(|_| rows)
            }
            (None, Err(error)) => {
                transact::roll_back(state);
                Err(error)
            }
            (Some(before), Err(error)) => {
                if let Some(transaction) = &mut state.transaction {
                    transaction.restore(before);
                    state.savepoints.truncate(savepoints);
                    state.settings.go_back(&marked);
                }
                Err(error)
            }
            (_, done) => done,
        }
    }

    async fn each(
        &self,
        state: &mut State,
        prepared: &Prepared,
        sets: &[Vec<Value>],
        flag: &Flag,
    ) -> Result<u64> {
        let mut rows = 0;
        for set in sets {
            if flag.is_set() {
                return Err(flag.reason());
            }
            let meter = Meter::begin();
            let asked = Asked::new(Source::Prepared(prepared), set);
            let outcome = {
                let run = std::pin::pin!(self.run_until_done(state, &asked, flag));
                charged(meter.account(), run).await
            };
            match meter.end(&self.shared.statements, asked.counted(), outcome)? {
                Outcome::Changed { rows: changed, .. } => rows += changed,
                Outcome::Rows(mut batches) => {
                    while let Some(batch) = batches.next().await {
                        rows += batch?.num_rows() as u64;
                    }
                }
                Outcome::Done(_) => {}
            }
        }
        Ok(rows)
    }
}
