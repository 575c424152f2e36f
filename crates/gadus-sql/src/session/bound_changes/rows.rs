//! Rows in hand: those that a change has found or written, as plans read them.

use super::Lowered;
use crate::lowering::{NotLowered, schema_in_hand};
use crate::memory::Gathered;
use crate::rows::RowStream;
use crate::session::Session;
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{Field, SchemaRef};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use gadus_binder::bound::{ColumnId, RowColumns};
use gadus_engine::{Error, Result, TableSchema};
use parking_lot::Mutex;
use std::sync::Arc;

/// Rows that a plan reads, which are there when it runs.
pub(in crate::session) struct RowsInHand {
    context: SessionContext,
    ids: Vec<ColumnId>,
    schema: SchemaRef,
    table: Arc<MemTable>,
    batches: Mutex<(u64, Vec<RecordBatch>)>,
    plan: Option<LogicalPlan>,
}

impl RowsInHand {
    /// Creates rows of these columns, of which none is there yet.
    pub(super) fn new(context: &SessionContext, columns: Vec<(ColumnId, Field)>) -> Lowered<Self> {
        let schema = schema_in_hand(columns.iter().map(|(id, field)| (*id, field)));
        let table = MemTable::try_new(schema.clone(), vec![Vec::new()])?;
        Ok(Self {
            context: context.clone(),
            ids: columns.into_iter().map(|(id, _)| id).collect(),
            schema,
            table: Arc::new(table),
            batches: Mutex::default(),
            plan: None,
        })
    }

    /// Returns the rows with the plan that asks for them.
    pub(super) fn asked(self, plan: LogicalPlan) -> Self {
        Self { plan: Some(plan), ..self }
    }

    /// Returns the schema of what the plan gives.
    pub(super) fn outputs(&self) -> Option<SchemaRef> {
        self.plan.as_ref().map(|plan| Arc::new(plan.schema().as_arrow().clone()))
    }

    pub(super) fn ids(&self) -> &[ColumnId] {
        &self.ids
    }

    pub(super) fn table(&self) -> Arc<dyn TableProvider> {
        self.table.clone()
    }

    /// Adds rows behind those that are there.
    pub(in crate::session) fn put(&self, mut columns: Vec<ArrayRef>) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len() as u64);
        let (first, batches) = &mut *self.batches.lock();
        columns.push(Arc::new(UInt64Array::from_iter_values(*first..*first + rows)));
        batches.push(RecordBatch::try_new(self.schema.clone(), columns)?);
        *first += rows;
        Ok(())
    }
}

impl Session {
    /// Runs the plan over rows in hand; whatever fails does so before anything is committed.
    pub(in crate::session) async fn run_over(&self, rows: &RowsInHand) -> Result<RowStream> {
        let plan = rows.plan.clone();
        let plan = plan.ok_or_else(|| Error::internal("rows in hand without a plan"))?;
        let partition = rows.table.batches.first();
        let partition = partition.ok_or_else(|| Error::internal("rows in hand have no place"))?;
        let batches = std::mem::take(&mut rows.batches.lock().1);
        partition.write().await.extend(batches);
        let stream = self.stream_plan(&rows.context, plan).await?;
        let schema = stream.schema();
        let batches = Gathered::new(&self.shared.memory).collect(stream).await?;
        Ok(RowStream::ready(schema, batches))
    }
}

/// Returns the columns of a row of a table.
pub(super) fn columns_of(
    schema: &TableSchema,
    row: &RowColumns,
) -> Lowered<Vec<(ColumnId, Field)>> {
    let column = |(place, id): &(usize, ColumnId)| {
        let column = schema.columns.get(*place);
        let column = column.ok_or_else(|| NotLowered::Missing("a column of the row".to_owned()))?;
        Ok((*id, column.column_type.field(&column.name, true)))
    };
    row.iter().map(column).collect()
}

/// Returns columns of a row of a table from all of them.
pub(super) fn row_of(whole: &[ArrayRef], row: &RowColumns) -> Result<Vec<ArrayRef>> {
    let column = |(place, _): &(usize, ColumnId)| {
        let column = whole.get(*place).cloned();
        column.ok_or_else(|| Error::internal("a row misses a column"))
    };
    row.iter().map(column).collect()
}
