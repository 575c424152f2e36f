//! MERGE: rows of a table are changed, deleted and inserted by what a source has of them.
//!
//! - A source's row with each row of the table that it meets, or either of them alone, has the first clause whose kind
//!   and condition fit; where none does, nothing becomes of it.
//! - Values are asked for where their clause fits, and nowhere else. What fits is asked again for each of them: a
//!   condition that has another value each time is refused.
//! - All rows are read before any is changed. Then some are deleted, some changed, and new ones inserted, in this order:
//!   a key that goes may come again.

mod clause;
mod spelling;

pub(super) use clause::compared_values;
pub(super) use spelling::respell;

use super::generated::Rules;
use super::modify::{
    COPIES_OF_UPDATED, Found, Wanted, columns_of, modified, refuse_extras, row_ids, rows_of,
};
use super::returning::Written;
use super::{Session, folded};
use crate::error::{from_datafusion, input, unsupported};
use crate::memory::Gathered;
use crate::value::Value;
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Int64Type, Schema};
use clause::{Action, Clause, Meets};
use datafusion::logical_expr::Volatility;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, Ident, Merge, TableWithJoins, visit_expressions,
};
use futures::stream;
use gadus_base::RowId;
use gadus_engine::{Datum, Error, Reason, Result, Snapshot, TableSchema, Transaction};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::ops::Range;
use std::sync::Arc;

/// What becomes of rows.
#[derive(Default)]
struct Changes {
    deleted: Vec<RowId>,
    updated: Vec<Update>,
    inserted: Vec<Insert>,
    /// The rows that are changed or deleted.
    met: HashSet<u64>,
    /// What all of it takes.
    memory: Vec<Gathered>,
}

/// Columns of rows, and their new values.
struct Update {
    columns: Vec<usize>,
    rows: Vec<RowId>,
    values: Vec<Vec<Datum>>,
}

/// Values for columns of new rows.
struct Insert {
    columns: Vec<usize>,
    rows: Vec<RecordBatch>,
}

impl Session {
    pub(super) async fn merge(
        &self,
        transaction: &mut Transaction,
        merge: &Merge,
        parameters: &[Value],
    ) -> Result<Written> {
        refuse_extras(&[
            (merge.output.is_some(), "OUTPUT and RETURNING of a MERGE"),
            (!merge.optimizer_hints.is_empty(), "a hint in a MERGE"),
        ])?;
        self.refuse_volatile(merge)?;
        let snapshot = transaction.snapshot();
        let table = TableWithJoins { relation: merge.table.clone(), joins: Vec::new() };
        let (schema, alias) = modified(&snapshot, &table)?;
        let clauses = clause::clauses(&schema, merge)?;
        let (alone, others) =
            clauses.into_iter().partition::<Vec<_>, _>(|clause| clause.meets == Meets::NoSource);
        let beside = match others.iter().any(|clause| clause.meets == Meets::NoTarget) {
            true => format!(" RIGHT JOIN {} ON {}", merge.source, merge.on),
            false => format!(" JOIN {} ON {}", merge.source, merge.on),
        };
        let is_alone = format!("NOT EXISTS (SELECT 1 FROM {} WHERE {})", merge.source, merge.on);
        let mut changes = Changes::default();
        let into = (&schema, &alias);
        for (clauses, beside, condition) in [(others, &*beside, ""), (alone, "", &*is_alone)] {
            let from = Pairs { beside, condition };
            self.add_changes(&snapshot, into, (&clauses, from), parameters, &mut changes).await?;
        }
        drop(snapshot);
        let mut rows = transaction.delete(&schema, &changes.deleted)?;
        for Update { columns, rows: changed, values } in &changes.updated {
            rows += transaction.update(&schema, columns, changed, values)?;
        }
        for Insert { columns, rows: new } in changes.inserted {
            let shape = new[0].schema();
            let new = RecordBatchStreamAdapter::new(shape, stream::iter(new.into_iter().map(Ok)));
            rows += self.insert_stream(transaction, &schema, &columns, Box::pin(new)).await?;
        }
        Ok(Written::of(rows))
    }

    /// Refuses conditions that may have another value each time they are asked.
    fn refuse_volatile(&self, merge: &Merge) -> Result<()> {
        let functions = self.shared.planner.scalar_functions();
        let is_volatile = |call: &Function| {
            let name = call.name.0.last().and_then(|part| part.as_ident()).map(folded);
            let known = name.and_then(|name| functions.get(&name));
            known.is_some_and(|known| known.signature().volatility == Volatility::Volatile)
                || crate::sequences::does(call).is_some()
        };
        let predicates = merge.clauses.iter().filter_map(|clause| clause.predicate.as_ref());
        for condition in predicates.chain([&*merge.on]) {
            let visited = visit_expressions(condition, |expr| match expr {
                Expr::Function(call) if is_volatile(call) => ControlFlow::Break(call.name.clone()),
                _ => ControlFlow::Continue(()),
            });
            if let ControlFlow::Break(name) = visited {
                let what =
                    format!("{name}() in a condition of MERGE: let the source have its value; it");
                return Err(unsupported(&what));
            }
        }
        Ok(())
    }

    /// Finds rows, and what becomes of them by these clauses.
    async fn add_changes(
        &self,
        snapshot: &Snapshot,
        (schema, alias): (&Arc<TableSchema>, &Ident),
        (clauses, from): (&[Clause], Pairs<'_>),
        parameters: &[Value],
        changes: &mut Changes,
    ) -> Result<()> {
        if clauses.is_empty() {
            return Ok(());
        }
        let choice = clause::choice(clauses, alias);
        let mut items = vec![format!("{choice} AS \"gadus.choice\"")];
        for (number, clause) in clauses.iter().enumerate() {
            let value = |(place, value): (usize, &String)| {
                format!(
                    "CASE WHEN {choice} = {number} THEN {value} END AS \"gadus.{number}.{place}\""
                )
            };
            items.extend(clause.values.iter().enumerate().map(value));
        }
        let rules = self.rules(schema)?;
        let first_of_row = items.len();
        if !rules.is_empty() {
            items.extend(columns_of(schema, alias));
        }
        let behind_row = items.len();
        let mut rest = format!(" WHERE {choice} IS NOT NULL");
        if !from.condition.is_empty() {
            rest = format!("{rest} AND {}", from.condition);
        }
        let wanted = Wanted {
            beside: from.beside,
            rest: &rest,
            copies: COPIES_OF_UPDATED,
            ..Wanted::by(None)
        };
        let found = self.rows(snapshot.clone(), (schema, alias), &items, wanted, parameters);
        let Found { batches, memory, .. } = found.await?;
        changes.memory.push(memory);
        for batch in batches {
            let chosen = batch.column(0).as_primitive_opt::<Int64Type>();
            let chosen = chosen.ok_or_else(|| Error::internal("a choice is no number"))?;
            let mut first = 1;
            for (number, clause) in (0..).zip(clauses) {
                let values = first..first + clause.values.len();
                first = values.end;
                let is_chosen = chosen.iter().map(|chosen| Some(chosen == Some(number)));
                let batch = filter_record_batch(&batch, &is_chosen.collect::<BooleanArray>())?;
                if batch.num_rows() > 0 {
                    let old = &batch.columns()[first_of_row..behind_row];
                    changes.add((schema, &rules), clause, (&batch, values), old)?;
                }
            }
        }
        Ok(())
    }
}

impl Changes {
    /// Adds what becomes of rows by their clause: its values are these columns, and `old` are the table's, where they are
    /// checked.
    fn add(
        &mut self,
        (schema, rules): (&TableSchema, &Rules),
        clause: &Clause,
        (batch, values): (&RecordBatch, Range<usize>),
        old: &[ArrayRef],
    ) -> Result<()> {
        match &clause.action {
            Action::Nothing => {}
            Action::Delete => self.deleted.extend(met(batch, &mut self.met)?),
            Action::Update { assigned } => {
                let columns = assigned.columns();
                let mut arrays = assigned.arrays(schema, &batch.columns()[values])?;
                let changed = rules.changed(schema, columns);
                if !rules.is_empty() {
                    let mut whole = old.to_vec();
                    for (&column, array) in columns.iter().zip(&arrays) {
                        whole[column] = array.clone();
                    }
                    rules.complete(&mut whole)?;
                    arrays = changed.iter().map(|&column| whole[column].clone()).collect();
                }
                self.updated.push(Update {
                    rows: met(batch, &mut self.met)?,
                    values: rows_of(schema, &changed, &arrays, batch.num_rows())?,
                    columns: changed,
                });
            }
            Action::Insert { columns } => {
                let rows = part(batch, values)?;
                // Those of one clause go together.
                match self.inserted.iter_mut().find(|known| known.columns == *columns) {
                    Some(known) => known.rows.push(rows),
                    None => {
                        self.inserted.push(Insert { columns: columns.clone(), rows: vec![rows] });
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a query pairs with the table: what stands beside it, and a condition on its rows.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    beside: &'a str,
    condition: &'a str,
}

/// The rows of the table; refused where one was met before.
fn met(batch: &RecordBatch, met: &mut HashSet<u64>) -> Result<Vec<RowId>> {
    let rows = row_ids(batch)?;
    if rows.iter().all(|row| met.insert(row.to_u64())) {
        return Ok(rows);
    }
    let message = "MERGE cannot change a row a second time: several rows of the source meet one row of the table; let \
                   at most one do so";
    Err(input(message).because(Reason::SeveralRows))
}

/// Some columns of rows, also of none.
fn part(batch: &RecordBatch, columns: Range<usize>) -> Result<RecordBatch> {
    let shown = batch.schema();
    let shape = Arc::new(Schema::new(shown.fields()[columns.clone()].to_vec()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns()[columns].to_vec();
    RecordBatch::try_new_with_options(shape, columns, &options)
        .map_err(|error| from_datafusion(error.into()))
}
