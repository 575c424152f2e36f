//! UPDATE and DELETE.

use super::rows::{RowsInHand, row_of};
use super::{Bound, Lowered, Parts, SetDefaults, arrays_of, missing};
use crate::lowering::{ChangeLowering, Set, assigned_columns, column_of_name};
use crate::memory::Gathered;
use crate::session::Session;
use crate::session::modify::{COPIES_OF_UPDATED, row_ids, rows_of};
use crate::session::returning::Written;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::Field;
use datafusion::logical_expr::LogicalPlan;
use gadus_base::RowId;
use gadus_binder::bound::{ChangeKind, ColumnId, Relational, RowColumns};
use gadus_engine::{Datum, Result, Transaction};
use std::collections::HashSet;
use std::sync::Arc;

/// Plans of an UPDATE or DELETE.
pub(super) struct ModifyPlans {
    rows: LogicalPlan,
    /// Columns that get new values, by place; `None` of a DELETE.
    columns: Option<Vec<usize>>,
    /// Columns that are set to their defaults.
    defaults: SetDefaults,
    /// Names of the columns of the whole row, in the order of the table, if they are carried.
    whole: Vec<String>,
    pub(super) returning: Option<RowsInHand>,
    /// Columns of the row that RETURNING reads, and of the tables next to it.
    row: RowColumns,
    others: Vec<String>,
    /// True if a row may come several times.
    is_joined: bool,
}

/// Rows that are changed, as they are gathered.
#[derive(Default)]
struct Found {
    ids: Vec<RowId>,
    values: Vec<Vec<Datum>>,
    seen: HashSet<u64>,
}

impl Bound<'_> {
    /// Plans an UPDATE or DELETE.
    pub(super) fn modification(
        &self,
        &Parts { common_tables, change }: &Parts<'_>,
    ) -> Lowered<ModifyPlans> {
        let (input, old, assignments) = match &change.kind {
            ChangeKind::Update(update) => (&update.input, &update.old, Some(&update.assignments)),
            ChangeKind::Delete { input } => (input, &change.row, None),
            _ => return missing("this change"),
        };
        let set = assignments.map(|set| SetDefaults::take(&self.schema, &set.values));
        let (values, defaults) = set.unwrap_or_default();
        let queries = assignments.map_or(&[][..], |assignments| &assignments.queries);
        let planner = self.context.state();
        let mut lowering = ChangeLowering::new(&planner, &self.tables, &self.types);
        lowering.provide(&self.known)?;
        lowering.common_tables(common_tables)?;
        let is_computed = self.schema.columns.iter().any(|column| column.generated.is_some());
        let has_rules = is_computed || !self.schema.checks.is_empty();
        let carries_all = change.returning.is_some() || (has_rules && assignments.is_some());
        let set = Set { queries, values: &values };
        let rows = lowering.changed_rows((input, old), set, carries_all)?;
        let whole = match carries_all {
            true => old.iter().map(|(_, id)| format!("c{}", id.0)).collect::<Vec<_>>(),
            false => Vec::new(),
        };
        let others = others_of(&rows, &whole);
        let names = others.iter().map(|(_, field)| field.name().clone()).collect();
        Ok(ModifyPlans {
            returning: self.returning(&mut lowering, change, others)?,
            rows: self.with_values(rows)?,
            columns: assignments.map(|_| assigned_columns(&values)),
            defaults,
            whole,
            row: change.row.clone(),
            others: names,
            is_joined: is_joined(input),
        })
    }
}

/// Returns the carried columns that are not of the table that is changed.
fn others_of(rows: &LogicalPlan, whole: &[String]) -> Vec<(ColumnId, Field)> {
    let fields = rows.schema().fields().iter();
    let others = fields.filter(|field| !whole.contains(field.name()));
    let other = |field: &Arc<Field>| Some((column_of_name(field.name())?, field.as_ref().clone()));
    others.filter_map(other).collect()
}

/// Returns true if the rows of a table are joined with others.
fn is_joined(input: &Relational) -> bool {
    match input {
        Relational::Filter { input, .. } => is_joined(input),
        Relational::Scan { .. } => false,
        _ => true,
    }
}

impl Session {
    /// Carries out an UPDATE or DELETE: all rows are read before any is changed.
    pub(super) async fn modify_bound(
        &self,
        transaction: &mut Transaction,
        bound: Bound<'_>,
        plans: ModifyPlans,
    ) -> Result<Written> {
        let Bound { schema, headings, context, snapshot, tables, .. } = bound;
        let schema = &schema;
        let stream = self.stream_plan(&context, plans.rows).await?;
        let copies = if plans.columns.is_some() { COPIES_OF_UPDATED } else { 1 };
        let mut memory = Gathered::with_copies(&self.shared.memory, copies);
        let batches = memory.collect(stream).await?;
        let rules = self.rules(schema)?;
        let mut found = Found::default();
        let planned = plans.columns.as_deref().unwrap_or_default();
        let given = planned.iter().chain(&plans.defaults.filled).copied().collect::<Vec<_>>();
        let mut changed = rules.changed(schema, &given);
        let generated = plans.defaults.generated.iter();
        changed.extend(generated.filter(|place| !given.contains(place)));
        for batch in batches {
            let batch = if plans.is_joined { found.once(batch)? } else { batch };
            found.ids.extend(row_ids(&batch)?);
            let mut arrays = batch.columns()[..planned.len()].to_vec();
            let from = (&**schema, &snapshot);
            let filled = self.default_values(from, &plans.defaults.filled, batch.num_rows());
            arrays.extend(filled.await?);
            let mut whole = arrays_of(&batch, &plans.whole)?;
            if plans.columns.is_some() {
                if !whole.is_empty() {
                    for (&column, array) in given.iter().zip(&arrays) {
                        whole[column] = array.clone();
                    }
                    rules.complete(&mut whole)?;
                    arrays = changed.iter().map(|&column| whole[column].clone()).collect();
                }
                let rows = rows_of(schema, &changed, &arrays, batch.num_rows())?;
                found.values.extend(rows);
            }
            if let Some(returning) = &plans.returning {
                let mut columns = row_of(&whole, &plans.row)?;
                columns.extend(arrays_of(&batch, &plans.others)?);
                returning.put(columns)?;
            }
        }
        // So that the transaction changes its version in place instead of copying it.
        drop((context, snapshot, tables));
        let count = match plans.columns {
            Some(_) => transaction.update(schema, &changed, &found.ids, &found.values)?,
            None => transaction.delete(schema, &found.ids)?,
        };
        self.written_bound(count, &headings, plans.returning.as_ref()).await
    }
}

impl Found {
    /// Returns the rows that did not come before.
    fn once(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let ids = row_ids(&batch)?.into_iter();
        let is_first = ids.map(|id| Some(self.seen.insert(id.to_u64())));
        Ok(filter_record_batch(&batch, &is_first.collect::<BooleanArray>())?)
    }
}
