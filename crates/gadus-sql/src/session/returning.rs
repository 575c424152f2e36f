//! RETURNING: rows made of those that a statement has inserted or changed, or is about to delete.
//!
//! - They are made before the statement's changes are committed: where they cannot be, nothing is changed.
//! - Subqueries among them read what was there before the statement, as in PostgreSQL.

use super::relations::{Asks, Relation};
use super::{Outcome, Session};
use crate::error::input;
use crate::rows::RowStream;
use crate::value::Value;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::sql::sqlparser::ast::{
    Delete, Expr, Insert, Query, SelectItem, Statement, Update, Visit, Visitor,
};
use futures::TryStreamExt;
use gadus_engine::{Result, Snapshot};
use std::ops::ControlFlow;

/// A RETURNING, as its statement begins.
pub(super) struct Returning<'a> {
    items: &'a [SelectItem],
    parameters: &'a [Value],
    snapshot: Snapshot,
}

/// What a statement has changed: how many rows, and what it returns of them.
pub(super) struct Written {
    rows: u64,
    returned: Option<RowStream>,
}

impl Written {
    /// Rows of which nothing is returned.
    pub(super) fn of(rows: u64) -> Self {
        Self { rows, returned: None }
    }

    /// Rows with what is returned of them.
    pub(super) fn with(rows: u64, returned: RowStream) -> Self {
        Self { rows, returned: Some(returned) }
    }

    /// Returns what is returned of the rows, which are all there.
    pub(super) async fn into_rows(self) -> Result<Option<(SchemaRef, Vec<RecordBatch>)>> {
        let Some(returned) = self.returned else { return Ok(None) };
        let schema = returned.schema().clone();
        Ok(Some((schema, returned.try_collect().await?)))
    }

    pub(super) fn outcome(self, verb: &'static str) -> Outcome {
        match self.returned {
            Some(returned) => Outcome::Rows(returned.of_change(verb, self.rows)),
            None => Outcome::Changed { verb, rows: self.rows },
        }
    }
}

impl Session {
    /// The RETURNING of a statement that begins with a snapshot, if it has one.
    pub(super) fn returning<'a>(
        &self,
        snapshot: &Snapshot,
        items: Option<&'a [SelectItem]>,
        parameters: &'a [Value],
    ) -> Result<Option<Returning<'a>>> {
        let Some(items) = items else { return Ok(None) };
        let mut many = OfMany { session: self, queries: 0 };
        if items.iter().any(|item| item.visit(&mut many).is_break()) {
            return Err(input(
                "RETURNING gives a row for each row that is changed: aggregates and windows have no \
                 place in it",
            ));
        }
        Ok(Some(Returning { items, parameters, snapshot: snapshot.clone() }))
    }

    /// Ends a statement that has changed rows: the first relation has them, whole.
    pub(super) async fn written(
        &self,
        rows: u64,
        returning: Option<Returning<'_>>,
        relations: &[Relation],
    ) -> Result<Written> {
        let Some(Returning { items, parameters, snapshot }) = returning else {
            return Ok(Written::of(rows));
        };
        let asks = Asks { items, selection: None, parameters };
        let returned = self.evaluate_over(snapshot, relations, asks).await?;
        Ok(Written::with(rows, returned))
    }
}

/// Looks for values of several rows together; in subqueries they have their place.
struct OfMany<'a> {
    session: &'a Session,
    queries: usize,
}

impl Visitor for OfMany<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) if self.queries == 0 && self.session.is_of_many(function) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// The list of a statement's RETURNING, if it has one.
pub(super) fn returned_items(statement: &Statement) -> Option<&[SelectItem]> {
    match statement {
        Statement::Insert(Insert { returning, .. })
        | Statement::Update(Update { returning, .. })
        | Statement::Delete(Delete { returning, .. }) => returning.as_deref(),
        _ => None,
    }
}
