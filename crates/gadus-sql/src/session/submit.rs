//! Statements that are begun, and answered later: thousands of them from one thread.

use super::asked::Source;
use super::cancel::Flag;
use super::scanning::{ScanSharing, carried_out, modifies_many};
use super::{Boxed, Cancel, Outcome, Session};
use crate::error::is_for_alone;
use crate::shape::shape_of;
use crate::statements::{Counted, Meter, charged};
use crate::value::Value;
use futures::FutureExt;
use gadus_engine::Result;
use std::sync::Arc;

impl Session {
    /// Begins a statement in its table's next shared scan, and does not wait, whatever else the session
    /// runs; none where it cannot be shared, or the session is in a transaction: then it is to be
    /// executed.
    ///
    /// Who drops the future is not interested in the answer any more.
    #[must_use]
    pub fn submit(
        self: &Arc<Self>,
        text: &str,
        parameters: &[Value],
    ) -> Option<Boxed<'static, Outcome>> {
        let meter = Meter::begin();
        let account = meter.account().clone();
        let submitted = account.charge(|| self.try_submit(text, parameters, meter));
        submitted.unwrap_or_else(|error| {
            let failed: Boxed<'static, Outcome> = Box::pin(std::future::ready(Err(error)));
            Some(failed)
        })
    }

    /// Commits the transaction that is open when the session's statements so far have run, or rolls it back;
    /// says whether there was one.
    pub fn end_transaction(&self, commits: bool) -> Boxed<'_, bool> {
        Box::pin(async move {
            let meter = Meter::begin();
            self.engine.check_usable()?;
            let state = &mut *self.state.lock().await;
            if state.transaction.is_none() {
                return Ok(false);
            }
            let text = if commits { "COMMIT" } else { "ROLLBACK" };
            self.run_in_turn(state, meter, Source::Text(text), &[]).await.map(|_| true)
        })
    }

    /// Takes a statement's turn among those of the session now, and runs it when that has come, on whatever
    /// awaits it: what the session is told later comes later.
    pub fn enter(
        self: &Arc<Self>,
        text: String,
        parameters: Vec<Value>,
    ) -> Boxed<'static, Outcome> {
        let meter = Meter::begin();
        let mut turn = Box::pin(self.state.clone().lock_owned());
        // Whoever has been polled stands in the queue.
        let taken = turn.as_mut().now_or_never();
        let session = self.clone();
        Box::pin(async move {
            session.engine.check_usable()?;
            let mut state = match taken {
                Some(state) => state,
                None => turn.await,
            };
            session.run_in_turn(&mut state, meter, Source::Text(&text), &parameters).await
        })
    }

    fn try_submit(
        self: &Arc<Self>,
        text: &str,
        parameters: &[Value],
        meter: Meter,
    ) -> Result<Option<Boxed<'static, Outcome>>> {
        self.engine.check_usable()?;
        let outside = *self.outside.lock();
        if outside.in_transaction
            || !self.autocommit()
            || outside.has_own_names
            || outside.has_own_times
            || outside.scan_sharing == ScanSharing::Never
            // It says so when it runs a statement.
            || self.is_ended()
        {
            return Ok(None);
        }
        let lifted = if parameters.is_empty() { shape_of(text) } else { None };
        let (shape, values) = match &lifted {
            Some(lifted) => (lifted.text.as_str(), lifted.literals.as_slice()),
            None => (text, parameters),
        };
        let snapshot = self.engine.snapshot()?;
        let compiled = self.shared.compiled.get(shape, values.len(), &snapshot);
        let Some(compiled) = compiled.filter(|compiled| compiled.scans()) else { return Ok(None) };
        let mut asked = if compiled.modifies() {
            if outside.is_serializable {
                return Ok(None);
            }
            let Some(modification) = compiled.modification(values)? else { return Ok(None) };
            if modifies_many(&snapshot, &compiled, &modification)? {
                return Ok(None);
            }
            self.ask_modification(outside.durability, &compiled, modification)?
        } else {
            let Some(question) = compiled.question(values, outside.statement_memory)? else {
                return Ok(None);
            };
            self.engine.ask(compiled.schema(), question)?
        };
        let flag = Flag::with_time(outside.statement_timeout);
        self.shared.deadlines.watch(&flag)?;
        let (session, text, parameters) = (self.clone(), text.to_owned(), parameters.to_vec());
        Ok(Some(Box::pin(async move {
            let values = lifted.as_ref().map_or(&parameters, |lifted| &lifted.literals);
            let answered = std::pin::pin!(async {
                let answer = match compiled.modifies() {
                    true => carried_out(&mut asked, &flag).await,
                    false => flag.run(&mut asked).await,
                };
                match answer {
                    Ok(answer) => {
                        let budget = outside.statement_memory;
                        compiled.outcome(&answer, (values, budget), &Cancel::of(flag))
                    }
                    Err(error) if is_for_alone(&error) => Ok(None),
                    Err(error) => Err(error),
                }
            });
            match charged(meter.account(), answered).await.transpose() {
                Some(outcome) => {
                    let counted = Counted { text: &text, shape: lifted.as_ref() };
                    meter.end(&session.shared.statements, counted, outcome)
                }
                // It counts there.
                None => session.execute(&text, &parameters).await,
            }
        })))
    }
}
