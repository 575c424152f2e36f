//! Statements that scan a table: alone, or together with others in the table's next shared scan.
//!
//! - A transaction's statements run alone: they read its own snapshot and its own changes.
//! - Otherwise a statement is shared where others scan at the moment; alone it starts at once, with all
//!   threads.

use super::cancel::Flag;
use super::{Outcome, Session, State};
use crate::compiled::Compiled;
use crate::value::Value;
use gadus_engine::{Answer, Error, Result, Table};
use std::sync::Arc;

/// Rows that are scanned alone while a question goes from one thread to another and back.
const SHARED_ROWS_MIN: u64 = 100_000;

/// Whether a statement takes part in shared scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ScanSharing {
    /// Where others scan at the same time.
    #[default]
    Auto,
    Always,
    Never,
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
        let Some(question) = compiled.question(parameters)? else { return Ok(None) };
        let answer = if self.is_shared(state, compiled) {
            flag.run(self.engine.ask(compiled.schema(), question)?).await?
        } else {
            let snapshot = state.snapshot(&self.engine)?;
            let Some(table) = snapshot.table_by_id(compiled.schema().id) else { return Ok(None) };
            let scanning = self.engine.scans_alone();
            let answer = self.answer(&table, question, flag)?;
            drop(scanning);
            Arc::new(answer)
        };
        compiled.outcome(answer, &self.cancel).map(Some)
    }

    fn is_shared(&self, state: &State, compiled: &Compiled) -> bool {
        if state.transaction.is_some() {
            return false;
        }
        match state.scan_sharing {
            ScanSharing::Always => true,
            ScanSharing::Never => false,
            ScanSharing::Auto => {
                let rows = self.engine.visible_rows(compiled.schema().id);
                rows >= SHARED_ROWS_MIN && self.engine.is_scanned()
            }
        }
    }

    fn answer(
        &self,
        table: &Table,
        question: gadus_engine::Question,
        flag: &Flag,
    ) -> Result<Answer> {
        let threads = self.engine.options().threads;
        let answers = table.answer(vec![question], threads, &|_| flag.is_set())?;
        let answer = answers.into_iter().next();
        answer.ok_or_else(|| Error::internal("a question has no answer"))?
    }
}
