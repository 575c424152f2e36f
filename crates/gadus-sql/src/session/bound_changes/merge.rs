//! MERGE: rows of the table are changed, deleted and inserted by what a source has of them.
//!
//! - One plan joins both tables and finds the clause of each pair of rows: the first one of its kind whose condition holds.
//! - The values of a clause are computed over the rows that have it, and over no others.
//! - All rows are read before any is changed. Then some are deleted, some updated, and new ones inserted, in this order:
//!   a key that goes may come again.

use super::defaults::SetDefaults;
use super::rows::{RowsInHand, columns_of};
use super::{Bound, Lowered, Parts, arrays_of};
use crate::error::coded;
use crate::lowering::{
    CLAUSE_COLUMN, ChangeLowering, Items, Set, assigned_columns, column_of_name,
};
use crate::memory::Gathered;
use crate::session::Session;
use crate::session::generated::Rules;
use crate::session::modify::{COPIES_OF_UPDATED, rows_of};
use crate::session::returning::Written;
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::{concat_batches, filter_record_batch, take};
use arrow::datatypes::{Field, Int64Type, Schema, UInt64Type};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::stream;
use gadus_base::RowId;
use gadus_binder::bound::{ColumnId, ColumnValue, MergeChange, MergeClause, MergeStep, ScalarKind};
use gadus_engine::{Datum, Error, Reason, Result, Transaction};
use std::collections::HashSet;
use std::sync::Arc;

/// Plans of a MERGE.
pub(super) struct MergePlans {
    rows: LogicalPlan,
    /// Names of the columns that clauses read: those of the table first.
    names: Vec<String>,
    clauses: Vec<Action>,
}

/// Action of a clause.
enum Action {
    Nothing,
    Delete,
    Update { columns: Vec<usize>, defaults: SetDefaults, values: RowsInHand },
    Insert { columns: Vec<usize>, values: RowsInHand },
}

/// New values of rows.
struct Update {
    columns: Vec<usize>,
    rows: Vec<RowId>,
    values: Vec<Vec<Datum>>,
}

/// Values of columns of new rows.
struct Insert {
    columns: Vec<usize>,
    rows: Vec<RecordBatch>,
}

impl Bound<'_> {
    /// Plans a MERGE.
    pub(super) fn merge(
        &self,
        &Parts { common_tables, .. }: &Parts<'_>,
        merge: &MergeChange,
    ) -> Lowered<MergePlans> {
        let planner = self.context.state();
        let mut lowering = ChangeLowering::new(&planner, &self.tables, &self.types);
        lowering.provide(&self.known)?;
        lowering.common_tables(common_tables)?;
        let rows = lowering.merged_rows(merge)?;
        let mut columns = columns_of(&self.schema, &merge.old)?;
        let others = rows.schema().fields().iter().filter_map(|field| {
            let id = column_of_name(field.name())?;
            let is_of_table = merge.old.iter().any(|(_, known)| *known == id);
            (!is_of_table).then(|| (id, field.as_ref().clone()))
        });
        columns.extend(others);
        let names = columns.iter().map(|(id, _)| format!("c{}", id.0)).collect();
        let action =
            |clause: &MergeClause| self.merge_action(&mut lowering, merge, (clause, &columns));
        let clauses = merge.clauses.iter().map(action).collect::<Lowered<_>>()?;
        Ok(MergePlans { rows: self.with_values(rows)?, names, clauses })
    }

    fn merge_action(
        &self,
        lowering: &mut ChangeLowering<'_>,
        merge: &MergeChange,
        (clause, columns): (&MergeClause, &[(ColumnId, Field)]),
    ) -> Lowered<Action> {
        let mut over = |set: Set<'_>| -> Lowered<RowsInHand> {
            let rows = RowsInHand::new(&self.context, columns.to_vec())?;
            let items = Items::Values(set, &merge.old);
            let plan = lowering.over(rows.table(), rows.ids(), None, items)?;
            Ok(rows.asked(self.with_values(plan)?))
        };
        Ok(match &clause.action {
            MergeStep::Nothing => Action::Nothing,
            MergeStep::Delete => Action::Delete,
            MergeStep::Update(assignments) => {
                let (values, defaults) = SetDefaults::take(&self.schema, &assignments.values);
                let queries = &assignments.queries;
                let columns = assigned_columns(&values);
                Action::Update {
                    columns,
                    defaults,
                    values: over(Set { queries, values: &values })?,
                }
            }
            MergeStep::Insert { values, .. } => {
                let is_given =
                    |value: &&ColumnValue| !matches!(value.value.kind, ScalarKind::Default);
                let values = values.iter().filter(is_given).cloned().collect::<Vec<_>>();
                let columns = assigned_columns(&values);
                let set = Set { queries: &[], values: &values };
                Action::Insert { columns, values: over(set)? }
            }
        })
    }
}

impl Session {
    /// Carries out a MERGE.
    pub(super) async fn merge_bound(
        &self,
        transaction: &mut Transaction,
        bound: Bound<'_>,
        plans: MergePlans,
    ) -> Result<Written> {
        let MergePlans { rows, names, clauses } = plans;
        let stream = self.stream_plan(&bound.context, rows).await?;
        let mut memory = Gathered::with_copies(&self.shared.memory, COPIES_OF_UPDATED);
        let found = memory.collect(stream).await?;
        let mut met = HashSet::new();
        let (mut deleted, mut updated, mut inserted) = (Vec::new(), Vec::new(), Vec::new());
        let rules = self.rules(&bound.schema)?;
        for (number, action) in (0..).zip(&clauses) {
            let rows = of_clause(&found, number)?;
            match action {
                Action::Nothing => {}
                Action::Delete => {
                    for batch in &rows {
                        deleted.extend(row_ids(batch, &mut met)?);
                    }
                }
                Action::Update { columns, defaults, values } => {
                    let mut ids = Vec::new();
                    for batch in &rows {
                        ids.extend(row_ids(batch, &mut met)?);
                        values.put(arrays_of(batch, &names)?)?;
                    }
                    let set = (columns.as_slice(), defaults, values);
                    let found = (rows.as_slice(), names.as_slice(), ids.as_slice());
                    updated.extend(self.merge_updates((&bound, &rules), set, found).await?);
                }
                Action::Insert { columns, values } => {
                    for batch in &rows {
                        values.put(arrays_of(batch, &names)?)?;
                    }
                    let new = self.run_over(values).await?.collect().await?;
                    let new = new.iter().map(without_number).collect::<Result<Vec<_>>>()?;
                    inserted.push(Insert { columns: columns.clone(), rows: new });
                }
            }
        }
        let schema = bound.schema.clone();
        // So that the transaction changes its version in place instead of copying it.
        drop((bound, clauses));
        let mut count = transaction.delete(&schema, &deleted)?;
        for Update { columns, rows, values } in &updated {
            count += transaction.update(&schema, columns, rows, values)?;
        }
        for Insert { columns, rows } in inserted {
            let Some(first) = rows.first().map(RecordBatch::schema) else { continue };
            let rows = stream::iter(rows.into_iter().map(Ok));
            let rows = Box::pin(RecordBatchStreamAdapter::new(first, rows));
            count += self.insert_stream(transaction, &schema, &columns, rows).await?;
        }
        Ok(Written::of(count))
    }

    /// Computes what becomes of rows that are updated.
    async fn merge_updates(
        &self,
        (bound, rules): (&Bound<'_>, &Rules),
        (columns, defaults, values): (&[usize], &SetDefaults, &RowsInHand),
        (old, names, ids): (&[RecordBatch], &[String], &[RowId]),
    ) -> Result<Option<Update>> {
        let (schema, from) = (&bound.schema, (&*bound.schema, &bound.snapshot));
        let Some(first) = old.first() else { return Ok(None) };
        let old = concat_batches(&first.schema(), old)?;
        let set = columns.iter().chain(&defaults.filled).copied().collect::<Vec<_>>();
        let mut changed = rules.changed(schema, &set);
        changed.extend(defaults.generated.iter().filter(|place| !set.contains(place)));
        changed.dedup();
        let (mut rows, mut new) = (Vec::new(), Vec::new());
        for batch in self.run_over(values).await?.collect().await? {
            let places = last_column(&batch)?;
            rows.extend(places.values().iter().filter_map(|place| ids.get(usize_of(*place)?)));
            let mut arrays = batch.columns()[..columns.len()].to_vec();
            let filled = self.default_values(from, &defaults.filled, batch.num_rows()).await?;
            arrays.extend(filled);
            if !rules.is_empty() {
                let before = arrays_of(&old, &names[..schema.columns.len()])?;
                let row = |array: &ArrayRef| Ok(take(array, places, None)?);
                let mut whole = before.iter().map(row).collect::<Result<Vec<_>>>()?;
                for (&column, array) in set.iter().zip(&arrays) {
                    whole[column] = array.clone();
                }
                rules.complete(&mut whole)?;
                arrays = changed.iter().map(|&column| whole[column].clone()).collect();
            }
            new.extend(rows_of(schema, &changed, &arrays, batch.num_rows())?);
        }
        Ok(Some(Update { columns: changed, rows, values: new }))
    }
}

fn usize_of(place: u64) -> Option<usize> {
    usize::try_from(place).ok()
}

/// Returns the rows that have a clause.
fn of_clause(found: &[RecordBatch], number: i64) -> Result<Vec<RecordBatch>> {
    let mut all = Vec::new();
    for batch in found {
        let clauses = batch.column_by_name(CLAUSE_COLUMN);
        let clauses = clauses.and_then(|clauses| clauses.as_primitive_opt::<Int64Type>());
        let clauses = clauses.ok_or_else(|| Error::internal("rows of MERGE without a clause"))?;
        let is_it = clauses.iter().map(|clause| Some(clause == Some(number)));
        let rows = filter_record_batch(batch, &is_it.collect::<BooleanArray>())?;
        if rows.num_rows() > 0 {
            all.push(rows);
        }
    }
    Ok(all)
}

fn last_column(batch: &RecordBatch) -> Result<&UInt64Array> {
    let last = batch.columns().last().and_then(|last| last.as_primitive_opt::<UInt64Type>());
    last.ok_or_else(|| Error::internal("numbers of rows are missing"))
}

/// Returns the numbers of rows of the table; refuses those that were met before.
fn row_ids(batch: &RecordBatch, met: &mut HashSet<u64>) -> Result<Vec<RowId>> {
    let numbers = last_column(batch)?.values();
    if numbers.iter().all(|number| met.insert(*number)) {
        return Ok(numbers.iter().map(|number| RowId::from_u64(*number)).collect());
    }
    let message = "MERGE command cannot affect row a second time";
    Err(coded("21000", message.to_owned()).because(Reason::SeveralRows))
}

/// Returns rows without their numbers, possibly of no columns.
fn without_number(batch: &RecordBatch) -> Result<RecordBatch> {
    let count = batch.num_columns() - 1;
    let schema = Arc::new(Schema::new(batch.schema().fields()[..count].to_vec()));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns()[..count].to_vec();
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}
