//! INSERT.

use super::conflict::on_key;
use super::defaults::Marked;
use super::rows::{RowsInHand, row_of};
use super::{Bound, Lowered, Parts};
use crate::error::from_datafusion;
use crate::lowering::{ChangeLowering, assigned_columns};
use crate::memory::Gathered;
use crate::names::own_name;
use crate::session::Session;
use crate::session::insert::COPIES_ON_KEY;
use crate::session::loading::load;
use crate::session::on_conflict::{Into, OnKey};
use crate::session::returning::Written;
use arrow::array::RecordBatch;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{TryStreamExt, stream};
use gadus_binder::bound::{InsertChange, RowColumns};
use gadus_engine::{Result, Transaction};

/// Plans of an INSERT.
pub(super) struct InsertPlans {
    rows: LogicalPlan,
    /// Columns that the rows give, by place.
    columns: Vec<usize>,
    /// Columns whose values some rows leave to the default: the rows give markers of them after all values.
    marked: Vec<usize>,
    on_key: Option<OnKey<'static>>,
    pub(super) returning: Option<RowsInHand>,
    /// Columns of the row that RETURNING reads.
    row: RowColumns,
}

impl Bound<'_> {
    /// Plans an INSERT.
    pub(super) fn insert(
        &self,
        &Parts { common_tables, change }: &Parts<'_>,
        insert: &InsertChange,
    ) -> Lowered<InsertPlans> {
        let planner = self.context.state();
        let mut lowering = ChangeLowering::new(&planner, &self.tables, &self.types);
        lowering.provide(&self.known)?;
        lowering.common_tables(common_tables)?;
        let Marked { input, values, marked } = Marked::of(insert);
        let rows = lowering.new_rows(&input, &values)?;
        let on_key = match &insert.on_conflict {
            Some(conflict) => Some(on_key(self, &mut lowering, conflict)?),
            None => None,
        };
        let returning = self.returning(&mut lowering, change, Vec::new())?;
        let mut columns = assigned_columns(&values);
        columns.truncate(columns.len() - marked.len());
        let rows = self.with_values(rows)?;
        Ok(InsertPlans { rows, columns, marked, on_key, returning, row: change.row.clone() })
    }
}

impl Session {
    /// Carries out an INSERT.
    pub(super) async fn insert_bound(
        &self,
        transaction: &mut Transaction,
        bound: Bound<'_>,
        plans: InsertPlans,
    ) -> Result<Written> {
        let InsertPlans { rows, columns, marked, on_key, returning, row } = plans;
        let schema = &bound.schema;
        let mut stream = self.stream_plan_to_write(&bound.context, &rows).await?;
        if !marked.is_empty() {
            stream = self.rows_with_defaults(&bound, (&columns, &marked), stream).await?;
        }
        let to = (schema, columns.as_slice());
        if let Some(on_key) = on_key {
            let mut gathered = Gathered::with_copies(&self.shared.memory, COPIES_ON_KEY);
            let mut pieces = Vec::new();
            let take = |batch: RecordBatch| {
                gathered.add(&batch)?;
                pieces.push(batch.columns().to_vec());
                Ok(())
            };
            self.whole_rows(&bound.snapshot, to, stream, take).await?;
            let alias = own_name(&schema.name);
            let into = Into { schema, alias, snapshot: bound.snapshot.clone() };
            let (count, now) = self.insert_on_key(transaction, into, &on_key, &pieces).await?;
            if let Some(returning) = &returning {
                returning.put(row_of(&now, &row)?)?;
            }
            return self.written_bound(count, &bound.headings, returning.as_ref()).await;
        }
        let Some(returning) = returning else {
            // So that the transaction changes its version in place instead of copying it.
            let schema = schema.clone();
            drop(bound);
            let count = self.insert_stream(transaction, &schema, &columns, stream).await?;
            return Ok(Written::of(count));
        };
        let mut bulk = transaction.bulk(schema)?.within(self.shared.memory.limit());
        let mut gathered = Gathered::new(&self.shared.memory);
        let take = |batch: RecordBatch| {
            gathered.add(&batch)?;
            load(&mut bulk, &batch)?;
            returning.put(row_of(batch.columns(), &row)?)
        };
        self.whole_rows(&bound.snapshot, to, stream, take).await?;
        let count = transaction.finish_bulk(bulk)?;
        self.written_bound(count, &bound.headings, Some(&returning)).await
    }

    /// Returns the rows of VALUES with defaults in the positions that are marked.
    async fn rows_with_defaults(
        &self,
        bound: &Bound<'_>,
        (columns, marked): (&[usize], &[usize]),
        rows: SendableRecordBatchStream,
    ) -> Result<SendableRecordBatchStream> {
        // They are written out in the statement: there is memory for them.
        let rows = rows.try_collect::<Vec<_>>().await.map_err(from_datafusion)?;
        let rows = self.with_defaults(bound, (columns, marked), rows).await?;
        let schema = rows.first().map_or_else(|| bound.schema.arrow(), RecordBatch::schema);
        let rows = stream::iter(rows.into_iter().map(Ok));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
