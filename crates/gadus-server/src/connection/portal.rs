//! Statements with their values, and how far their rows have been sent.

use super::Client;
use super::extended::Parsed;
use super::told::formed;
use crate::error::{Failure, SqlState};
use crate::protocol::Field;
use crate::values;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use gadus::{Outcome, Rows, Statement, StatementKind, Value};
use std::sync::Arc;
use std::time::Duration;

/// Rows that are written between looks at how much has gathered.
const ROWS_TOGETHER: usize = 128;

/// A statement that was bound to values, or is being answered.
pub(super) struct Portal {
    /// None for one that was answered as it was parsed.
    pub(super) parsed: Option<Arc<Parsed>>,
    pub(super) values: Vec<Value>,
    pub(super) formats: Vec<i16>,
    /// The columns of its rows, also when those have come to their end; none where it has given none.
    columns: Option<SchemaRef>,
    /// In which its rows leave, where it is not their own.
    pub(super) form: Option<SchemaRef>,
    /// Of its columns, where its text tells them.
    names: Arc<[String]>,
    pub(super) state: State,
    /// What CommandComplete says before the number of rows.
    verb: &'static str,
    /// Sent so far, or changed.
    pub(super) rows: u64,
    /// That it has run before it was executed; none once it is counted.
    pub(super) time: Option<Duration>,
}

/// How far a portal has come.
pub(super) enum State {
    Bound,
    Rows {
        rows: Box<Rows>,
        current: Option<(RecordBatch, usize)>,
    },
    /// Done, without rows: what CommandComplete says.
    Done(String),
    /// All of it has been told.
    Told,
    /// Its statement has failed, or the transaction that it was part of.
    Failed,
}

impl Portal {
    pub(super) fn bound(parsed: Arc<Parsed>, values: Vec<Value>, formats: Vec<i16>) -> Self {
        let verb = parsed.statement.as_ref().map_or("", verb_of);
        let (names, state) = (parsed.names.clone(), State::Bound);
        let time = Some(Duration::ZERO);
        Self {
            parsed: Some(parsed),
            values,
            formats,
            columns: None,
            form: None,
            names,
            state,
            verb,
            rows: 0,
            time,
        }
    }

    /// Of a statement that has run.
    pub(super) fn of_outcome(statement: &Statement, outcome: Outcome) -> Self {
        let (values, formats, columns, form) = Default::default();
        let (state, names) = (State::Told, statement.postgres_names().into());
        let verb = verb_of(statement);
        let (parsed, time) = Default::default();
        let mut portal =
            Self { parsed, values, formats, columns, form, names, state, verb, rows: 0, time };
        portal.take(outcome);
        portal
    }

    /// Takes what its statement has given.
    pub(super) fn take(&mut self, outcome: Outcome) {
        match &outcome {
            Outcome::Rows(rows) => self.columns = Some(rows.schema().clone()),
            Outcome::Changed { rows, .. } => self.rows = *rows,
            Outcome::Done(_) => {}
        }
        self.state = State::of(outcome);
    }

    /// The columns of its rows; none where it gives none.
    pub(super) fn fields(&self) -> Result<Option<Vec<Field>>, Failure> {
        let schema = self.schema();
        schema.map(|schema| values::fields(schema, &self.names, &self.formats)).transpose()
    }

    /// Of its rows as they leave; none where it gives none.
    pub(super) fn schema(&self) -> Option<&SchemaRef> {
        self.form.as_ref().or(self.columns.as_ref())
    }
}

/// Why a portal that has failed gives nothing more.
pub(super) fn has_failed() -> Failure {
    let text = "a portal that has failed cannot be run again";
    Failure::new(SqlState::OBJECT_NOT_IN_STATE, text)
}

impl State {
    fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rows(rows) => Self::Rows { rows: Box::new(rows), current: None },
            Outcome::Changed { verb, rows } => Self::Done(tag_of(verb, rows)),
            Outcome::Done(verb) => Self::Done(verb.to_owned()),
        }
    }
}

/// What CommandComplete says of rows that were changed.
fn tag_of(verb: &str, rows: u64) -> String {
    match verb {
        "INSERT" => format!("INSERT 0 {rows}"),
        "CREATE TABLE AS" => format!("SELECT {rows}"),
        verb => format!("{verb} {rows}"),
    }
}

/// What rows are completed with.
fn verb_of(statement: &Statement) -> &'static str {
    match statement.kind() {
        StatementKind::Explain => "EXPLAIN",
        StatementKind::Show => "SHOW",
        _ => "SELECT",
    }
}

impl Client {
    /// Sends the rows of a portal, at most so many unless that is 0, and what stands behind them.
    pub(super) async fn send_rows(
        &mut self,
        portal: &mut Portal,
        max_rows: usize,
    ) -> Result<(), Failure> {
        let (fields, form) = (portal.fields()?, portal.form.clone());
        let State::Rows { rows, current } = &mut portal.state else {
            return self.send_tag(portal);
        };
        let fields = fields.unwrap_or_default();
        let (mut left, before) = (if max_rows == 0 { usize::MAX } else { max_rows }, portal.rows);
        while left > 0 {
            let (batch, start) = match current.take() {
                Some(current) => current,
                None => match self.watched(rows.next_batch_async()).await? {
                    Some(batch) => match &form {
                        Some(form) => (formed(&batch, form)?, 0),
                        None => (batch, 0),
                    },
                    None => {
                        let tag = match (rows.changed(), portal.verb) {
                            (Some((verb, rows)), _) => tag_of(verb, rows),
                            (None, "SELECT") => format!("SELECT {}", portal.rows - before),
                            (None, verb) => verb.to_owned(),
                        };
                        // With the rows goes what they hold of the database.
                        portal.state = State::Told;
                        self.channel.output.complete(&tag);
                        return Ok(());
                    }
                },
            };
            let end = batch.num_rows().min(start.saturating_add(left));
            self.send_batch(&batch, start..end, &fields).await?;
            left -= end - start;
            portal.rows += (end - start) as u64;
            self.shared.metrics.rows_sent.add((end - start) as u64);
            if end < batch.num_rows() {
                *current = Some((batch, end));
            }
        }
        self.channel.output.portal_suspended();
        Ok(())
    }

    async fn send_batch(
        &mut self,
        batch: &RecordBatch,
        range: std::ops::Range<usize>,
        fields: &[Field],
    ) -> Result<(), Failure> {
        let columns = fields.iter().map(|field| (field.oid, field.format));
        let rows = values::Rows::new(batch, columns, &self.connection.times())?;
        for row in range {
            self.channel.output.message(b'D', |body| rows.put(row, body));
            if row % ROWS_TOGETHER == 0 {
                self.channel.flush_much().await?;
            }
        }
        Ok(self.channel.flush_much().await?)
    }

    /// Says what a portal without rows has done.
    fn send_tag(&mut self, portal: &mut Portal) -> Result<(), Failure> {
        match std::mem::replace(&mut portal.state, State::Told) {
            State::Done(tag) => {
                self.channel.output.complete(&tag);
                Ok(())
            }
            State::Failed => {
                portal.state = State::Failed;
                Err(has_failed())
            }
            _ if portal.verb == "SELECT" => {
                self.channel.output.complete("SELECT 0");
                Ok(())
            }
            _ => {
                let text = "a portal that has come to its end cannot be run again";
                Err(Failure::new(SqlState::OBJECT_NOT_IN_STATE, text))
            }
        }
    }
}
