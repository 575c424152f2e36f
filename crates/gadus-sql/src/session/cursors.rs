//! Cursors: DECLARE, FETCH, MOVE and CLOSE.
//!
//! - A cursor's rows are those of the snapshot that its DECLARE had; they are made as they are fetched.
//! - It ends with its transaction; one WITH HOLD goes on behind the COMMIT, and keeps its snapshot.
//! - What breaks off while rows are fetched ends it: nobody takes for the end what is none.

mod direction;
mod spelling;
mod window;

pub(super) use spelling::{is_move, respell};

use super::{Outcome, Session, State, folded};
use crate::error::{input, unsupported};
use crate::rows::RowStream;
use crate::value::Value;
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::{
    CloseCursor, Declare, FetchDirection, Ident, ObjectName, Statement, Value as SqlValue,
    ValueWithSpan,
};
use direction::scans_backward;
use gadus_engine::{Error, ErrorKind, Reason, Result};
use std::collections::BTreeMap;
use window::{Scrolling, Step, Window};

/// The open cursors of a session.
#[derive(Debug, Default)]
pub(super) struct Cursors {
    open: BTreeMap<String, Cursor>,
    /// How many there have been.
    made: u64,
}

/// A query whose rows are fetched some at a time.
#[derive(Debug)]
struct Cursor {
    /// By which of the session's it came.
    number: u64,
    schema: SchemaRef,
    /// Its transaction is still open.
    in_transaction: bool,
    /// It goes on when that is committed.
    holds: bool,
    window: Window,
}

impl Cursors {
    /// What a savepoint goes back to.
    pub(super) fn mark(&self) -> u64 {
        self.made
    }

    /// Closes those that came after a mark.
    pub(super) fn go_back(&mut self, mark: u64) {
        self.open.retain(|_, cursor| cursor.number <= mark);
    }

    /// Closes those that end with the transaction.
    pub(super) fn end_transaction(&mut self, is_committed: bool) {
        self.open.retain(|_, cursor| {
            let stays = !cursor.in_transaction || (is_committed && cursor.holds);
            cursor.in_transaction = false;
            stays
        });
    }

    pub(super) fn close_all(&mut self) {
        self.open.clear();
    }

    /// The columns of a cursor's rows, where there is such a cursor.
    pub(super) fn columns(&self, name: &Ident) -> Option<SchemaRef> {
        self.open.get(&folded(name)).map(|cursor| cursor.schema.clone())
    }

    fn take(&mut self, name: &str) -> Result<Cursor> {
        self.open.remove(name).ok_or_else(|| {
            let message = format!("cursor \"{name}\" does not exist");
            Error::new(ErrorKind::NotFound, message).because(Reason::UnknownCursor)
        })
    }
}

impl Session {
    /// DECLARE … CURSOR FOR a query.
    pub(super) async fn declare(
        &self,
        state: &mut State,
        declared: &[Declare],
        parameters: &[Value],
    ) -> Result<Outcome> {
        let [Declare { names, for_query: Some(query), binary, scroll, hold, .. }] = declared else {
            return Err(unsupported("DECLARE of anything but a cursor"));
        };
        let [name] = names.as_slice() else { return Err(Error::internal("a cursor has one name")) };
        let (name, holds) = (folded(name), *hold == Some(true));
        if *binary == Some(true) {
            return Err(unsupported("a BINARY cursor: clients choose the format of results; it"));
        }
        if !holds && state.transaction.is_none() {
            let message = "DECLARE CURSOR without WITH HOLD is for transactions: BEGIN starts one";
            return Err(input(message).because(Reason::NoTransaction));
        }
        if state.cursors.open.contains_key(&name) {
            let error = format!("cursor \"{name}\" exists already");
            return Err(
                Error::new(ErrorKind::AlreadyExists, error).because(Reason::DuplicateCursor)
            );
        }
        let statement = Statement::Query(query.clone());
        let outcome = match query.locks.is_empty() {
            true => self.query(state, &statement, parameters).await?,
            false => self.query_locking(state, query, parameters).await?,
        };
        let Outcome::Rows(rows) = outcome else {
            return Err(Error::internal("a query gave no rows"));
        };
        state.cursors.made += 1;
        let scrolling = match scroll {
            Some(true) => Scrolling::Whole,
            None if scans_backward(query) => Scrolling::Held,
            _ => Scrolling::Forward,
        };
        let cursor = Cursor {
            number: state.cursors.made,
            schema: rows.schema().clone(),
            in_transaction: state.transaction.is_some(),
            holds,
            // How deep its plan is, is not known any more when it goes on.
            window: Window::new(rows.with_room(), scrolling, &self.shared.memory),
        };
        state.cursors.open.insert(name, cursor);
        Ok(Outcome::Done("DECLARE CURSOR"))
    }

    /// FETCH, and MOVE, which gives no rows.
    pub(super) async fn fetch(
        &self,
        state: &mut State,
        (name, direction, into): (&Ident, &FetchDirection, Option<&ObjectName>),
    ) -> Result<Outcome> {
        let moves = is_move(into);
        if into.is_some() && !moves {
            return Err(unsupported("FETCH … INTO"));
        }
        let step = step_of(direction)?;
        let name = folded(name);
        let mut cursor = state.cursors.take(&name)?;
        // Who ends this statement does not end the one that began with the rows.
        cursor.window.continue_as(self.cancel.current());
        let stepped = cursor.window.step(step, !moves).await;
        let schema = cursor.schema.clone();
        if !cursor.window.is_broken() {
            state.cursors.open.insert(name, cursor);
        }
        let (count, batches) = stepped?;
        Ok(match moves {
            true => Outcome::Changed { verb: "MOVE", rows: count },
            false => Outcome::Rows(RowStream::ready(schema, batches).of_change("FETCH", count)),
        })
    }
}

/// CLOSE.
pub(super) fn close(state: &mut State, cursor: &CloseCursor) -> Result<Outcome> {
    match cursor {
        CloseCursor::All => {
            state.cursors.close_all();
            Ok(Outcome::Done("CLOSE CURSOR ALL"))
        }
        CloseCursor::Specific { name } => {
            state.cursors.take(&folded(name))?;
            Ok(Outcome::Done("CLOSE CURSOR"))
        }
    }
}

fn step_of(direction: &FetchDirection) -> Result<Step> {
    use FetchDirection as To;
    let size = |count: &ValueWithSpan| number(count).map(i64::unsigned_abs);
    Ok(match direction {
        To::Next => Step::Forward(1),
        To::Prior => Step::Backward(1),
        To::First => Step::To(1),
        To::Last => Step::To(-1),
        To::All | To::ForwardAll => Step::Forward(u64::MAX),
        To::BackwardAll => Step::Backward(u64::MAX),
        To::Absolute { limit } => Step::To(number(limit)?),
        To::Relative { limit } => Step::By(number(limit)?),
        To::Count { limit } => Step::Forward(size(limit)?),
        To::Forward { limit } => Step::Forward(limit.as_ref().map_or(Ok(1), size)?),
        To::Backward { limit } => Step::Backward(limit.as_ref().map_or(Ok(1), size)?),
    })
}

fn number(count: &ValueWithSpan) -> Result<i64> {
    let text = match &count.value {
        SqlValue::Number(text, _) => text.parse().ok(),
        _ => None,
    };
    text.ok_or_else(|| input(format!("{count} is no count of rows")).because(Reason::Syntax))
}
