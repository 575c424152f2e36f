//! Statements that scan a table: alone, or together with others in the table's next shared scan.
//!
//! - A transaction's statements run alone: they read its own snapshot and its own changes.
//! - Otherwise a statement is shared where others scan at the moment; alone it starts at once, with all
//!   threads.
//! - A modification that meets somebody's lock or change is carried out alone: there it can wait.

use super::cancel::Flag;
use super::locking::Part;
use super::{Outcome, Session, State};
use crate::compiled::{Budget, Compiled};
use crate::error::is_for_alone;
use crate::executor::hand_off;
use crate::value::Value;
use gadus_base::clock;
use gadus_engine::{
    Answer, Asked, Durability, Error, ErrorKind, Modification, Question, Result, Snapshot, Table,
    Transaction, Wanted, chunk_rows,
};
use std::sync::Arc;
use std::time::Duration;

/// Of this many rows the positions alone take 4 MB: they are not found before the first is read.
pub(super) const STREAMED_ROWS_MIN: u64 = 1_000_000;

/// Rows of a table whose scan takes some hundred microseconds: far longer than a hand-over of the thread.
const HANDED_OFF_ROWS_MIN: u64 = 100_000;

/// Changes of so many rows at once keep those that are made together with them waiting.
const SHARED_CHANGES_MAX: f64 = 10_000.0;

/// Whether a statement takes part in shared scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ScanSharing {
    /// Where others scan at the same time.
    #[default]
    Auto,
    Always,
    Never,
}

/// A modification that is withdrawn, if it still can be, when nobody waits for it any more.
struct Withdrawn(Asked);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let _ = self.0.withdraw();
    }
}

/// Whether others should not wait until so many rows are changed.
pub(super) fn modifies_many(
    snapshot: &Snapshot,
    compiled: &Compiled,
    modification: &Modification,
) -> Result<bool> {
    let table = snapshot.table_by_id(compiled.schema().id);
    let estimate = table.map(|table| table.estimate(&modification.question())).transpose()?;
    Ok(estimate.is_some_and(|estimate| estimate.rows >= SHARED_CHANGES_MAX))
}

/// What became of a modification. One that has begun when its statement is cancelled is waited for: it
/// ends soon.
pub(super) async fn carried_out(asked: &mut Asked, flag: &Flag) -> Result<Arc<Answer>> {
    match flag.run(&mut *asked).await {
        Err(error) if flag.is_set() && error.kind() == ErrorKind::Cancelled => {
            if asked.withdraw() {
                Err(error)
            } else {
                asked.await
            }
        }
        answer => answer,
    }
}

/// What a modification has done, which always fits.
fn changed(outcome: Option<Outcome>) -> Result<Outcome> {
    outcome.ok_or_else(|| Error::internal("a modification has changed too many rows"))
}

impl Session {
    /// Runs a compiled scan; none when its values need DataFusion's rules.
    pub(super) async fn run_scan(
        &self,
        state: &State,
        compiled: &Compiled,
        parameters: &[Value],
        flag: &Flag,
    ) -> Result<Option<Outcome>> {
        let Some(question) = compiled.question(parameters, state.settings.statement_memory)? else {
            return Ok(None);
        };
        if self.is_streamed(state, compiled, &question)? {
            return Ok(None);
        }
        let answer = if self.is_shared(state, compiled) && !self.is_indexed(compiled, &question)? {
            flag.run(self.engine.ask(compiled.schema(), question)?).await?
        } else {
            let snapshot = state.snapshot(&self.engine)?;
            let Some(table) = snapshot.table_by_id(compiled.schema().id) else { return Ok(None) };
            let table = table.for_columns(compiled.columns());
            let scanning = self.engine.scans_alone();
            let answer = self.answer(&table, question, flag)?;
            drop(scanning);
            Arc::new(answer)
        };
        let budget = state.settings.statement_memory;
        compiled.outcome(&answer, (parameters, budget), &self.cancel)
    }

    /// Whether a question has so many rows for an answer that they are to leave as they are found.
    fn is_streamed(&self, state: &State, compiled: &Compiled, question: &Question) -> Result<bool> {
        let table = compiled.schema().id;
        if !matches!(question.wanted, Wanted::Rows { .. })
            || compiled.modifies()
            || self.engine.visible_rows(table) < STREAMED_ROWS_MIN
        {
            return Ok(false);
        }
        let table = state.snapshot(&self.engine)?.table_by_id(table);
        let estimate = table.map(|table| table.estimate(question)).transpose()?;
        #[allow(clippy::cast_precision_loss)] // a small constant
        let limit = STREAMED_ROWS_MIN as f64;
        Ok(estimate.is_some_and(|estimate| estimate.rows >= limit))
    }

    /// Runs a compiled modification; none when its values need DataFusion's rules.
    pub(super) async fn run_modification(
        &self,
        state: &mut State,
        compiled: &Compiled,
        parameters: &[Value],
        flag: &Flag,
    ) -> Result<Option<Outcome>> {
        let Some(modification) = compiled.modification(parameters)? else { return Ok(None) };
        let waits = state.unfinished.is_some();
        if !waits
            && !state.is_serializable_alone()
            && self.is_shared(state, compiled)
            && !self.is_indexed(compiled, &modification.question())?
            && !modifies_many(&self.engine.snapshot()?, compiled, &modification)?
        {
            match self.modify_shared(state, compiled, modification.clone(), flag).await {
                Err(error) if is_for_alone(&error) => {}
                outcome => return outcome.map(Some),
            }
        }
        if let Some(transaction) = &mut state.transaction {
            let part = Part::of(transaction);
            let outcome = self.modify_in(part.transaction, compiled, &modification, flag)?;
            part.keep();
            return Ok(Some(outcome));
        }
        let mut own = self.own_transaction(state)?;
        let outcome = self.modify_in(&mut own.transaction, compiled, &modification, flag);
        own.end(state, outcome).map(Some)
    }

    async fn modify_shared(
        &self,
        state: &State,
        compiled: &Compiled,
        modification: Modification,
        flag: &Flag,
    ) -> Result<Outcome> {
        let mut asked =
            Withdrawn(self.ask_modification(state.settings.durability, compiled, modification)?);
        let answer = carried_out(&mut asked.0, flag).await;
        changed(compiled.outcome(&*answer?, (&[], Budget::default()), &self.cancel)?)
    }

    pub(super) fn ask_modification(
        &self,
        durability: Option<Durability>,
        compiled: &Compiled,
        modification: Modification,
    ) -> Result<Asked> {
        let durability = durability.unwrap_or(self.engine.options().durability);
        self.engine.modify(compiled.schema(), modification, durability)
    }

    /// Finds and modifies rows as a transaction sees them.
    fn modify_in(
        &self,
        transaction: &mut Transaction,
        compiled: &Compiled,
        modification: &Modification,
        flag: &Flag,
    ) -> Result<Outcome> {
        let table = transaction.table(compiled.schema())?.for_columns(modification.reads());
        let scanning = self.engine.scans_alone();
        let answer = self.answer(&table, modification.question(), flag)?;
        drop((table, scanning));
        let Answer::Rows(found) = answer else {
            return Err(Error::internal("a modification has no rows"));
        };
        let rows = found.ids().collect::<Vec<_>>();
        // So that the transaction changes its version in place.
        drop(found);
        let count = transaction.modify(compiled.schema(), &modification.fate, &rows)?;
        let answer = Answer::Changed(count);
        changed(compiled.outcome(&answer, (&[], Budget::default()), &self.cancel)?)
    }

    /// How a scan would run now, as EXPLAIN shows it.
    pub(super) fn explained_scan(
        &self,
        state: &State,
        compiled: &Compiled,
        parameters: &[Value],
    ) -> Result<Vec<String>> {
        let mut lines = vec![compiled.explained()];
        let snapshot = state.snapshot(&self.engine)?;
        let question =
            compiled.question(parameters, state.settings.statement_memory).ok().flatten();
        let table = snapshot.table_by_id(compiled.schema().id);
        let (Some(question), Some(table)) = (question, table) else { return Ok(lines) };
        let estimate = table.estimate(&question)?;
        if let Some(index) = table.index_of_question(&question)? {
            let name = index.name.map_or_else(
                || "the primary key".to_owned(),
                |name| format!("index {}", crate::postgres::quoted(&name)),
            );
            lines.push(format!(
                "  by {name}, about {} of {} rows named",
                index.rows,
                table.about_rows()
            ));
            return Ok(lines);
        }
        lines.push(
            match estimate.looked_up_by.and_then(|column| table.schema().columns.get(column)) {
                Some(column) => format!(
                    "  in a shared scan looked up by {}, {} rows at a time",
                    column.name,
                    chunk_rows()
                ),
                None => {
                    "  in a shared scan evaluated by itself: no conjunct is selective".to_owned()
                }
            },
        );
        lines.push(format!(
            "  about {:.0} of {} rows expected",
            estimate.rows.ceil(),
            table.about_rows()
        ));
        lines.extend(if self.is_streamed(state, compiled, &question)? {
            vec![
                "  so many that they leave as they are found: planned by DataFusion, alone"
                    .to_owned(),
            ]
        } else if self.is_shared(state, compiled) {
            self.explain_shared(compiled)
        } else {
            vec![match table.scan_threads(&question, self.engine.options().threads) {
                1 => "  alone now, by this thread".to_owned(),
                threads => format!("  alone now, by {threads} threads"),
            }]
        });
        Ok(lines)
    }

    /// Whether DataFusion plans a query, as its answer has many rows or its values need DataFusion's rules.
    pub(super) fn is_planned(
        &self,
        state: &State,
        compiled: &Compiled,
        parameters: &[Value],
    ) -> Result<bool> {
        match compiled.question(parameters, state.settings.statement_memory)? {
            Some(question) => self.is_streamed(state, compiled, &question),
            None => Ok(true),
        }
    }

    /// When the next shared scan would answer.
    fn explain_shared(&self, compiled: &Compiled) -> Vec<String> {
        let clock = self.engine.statistics().clock;
        let mut lines = vec![format!(
            "  shared now; the last pass answered {} statements in {:.1} ms",
            clock.last_questions,
            clock.last_pass_time.as_secs_f64() * 1e3
        )];
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let expected = self.engine.expected_latency(compiled.schema().id);
        if let Some(expected) = expected {
            lines.push(format!("  answered in about {:.0} ms", milliseconds(expected).ceil()));
        }
        let limits = self.engine.scan_limits();
        if let Some(target) = limits.latency_target() {
            let holds = match expected {
                None => "is not known to hold: no pass was made yet",
                Some(expected) if expected <= target => "holds",
                Some(_) if limits.refuses_late() => "does not hold: it would be refused",
                Some(_) => "does not hold: it would wait",
            };
            let target = milliseconds(target);
            lines.push(format!("  the latency target of {target:.0} ms {holds}"));
        }
        lines
    }

    /// Whether an index finds what a statement asks about, so that no scan is worth waiting for.
    fn is_indexed(&self, compiled: &Compiled, question: &Question) -> Result<bool> {
        if compiled.schema().indexes.is_empty() {
            return Ok(false);
        }
        let table = self.engine.snapshot()?.table_by_id(compiled.schema().id);
        let found = table.map(|table| table.index_of_question(question)).transpose()?;
        Ok(found.flatten().is_some())
    }

    fn is_shared(&self, state: &State, compiled: &Compiled) -> bool {
        if state.transaction.is_some() {
            return false;
        }
        match state.settings.scan_sharing {
            ScanSharing::Always => true,
            ScanSharing::Never => false,
            ScanSharing::Auto => {
                let rows = self.engine.visible_rows(compiled.schema().id);
                self.shared.is_worth_sharing(rows) && self.engine.is_scanned()
            }
        }
    }

    fn answer(&self, table: &Table, question: Question, flag: &Flag) -> Result<Answer> {
        let (threads, began) = (self.engine.options().threads, clock().now());
        let is_long = table.about_rows() >= HANDED_OFF_ROWS_MIN;
        let scan = || table.answer_counted(vec![question], threads, &|_| flag.is_set());
        let (answers, rows) = if is_long { hand_off(scan)? } else { scan()? };
        if !flag.is_set() {
            self.shared.sharing.ran_alone(rows, began);
        }
        let answer = answers.into_iter().next();
        answer.ok_or_else(|| Error::internal("a question has no answer"))?
    }
}
