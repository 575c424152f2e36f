//! A table of a snapshot as a DataFusion table.

use super::Reading;
use super::filter::predicate_of;
use super::kept_scan::KeptScanExec;
use super::scan::ScanExec;
use crate::error::to_datafusion;
use crate::executor::check_cancelled;
use crate::kept::Binding;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Constraint, Constraints, ScalarValue, internal_err};
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableSource, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use gadus_engine::{Predicate, ROW_ID_COLUMN, ScanRequest, Table};
use std::sync::Arc;

/// A table, with its row ids as a last column where asked for.
#[derive(Debug)]
pub(super) struct SnapshotTable {
    table: Table,
    schema: SchemaRef,
    constraints: Constraints,
    threads: usize,
    /// For a plan that is to be kept.
    binding: Option<Arc<Binding>>,
    reading: Reading,
}

impl SnapshotTable {
    pub(super) fn new(
        table: Table,
        with_row_ids: bool,
        threads: usize,
        binding: Option<Arc<Binding>>,
        reading: Reading,
    ) -> Self {
        let mut schema = table.schema().arrow();
        if with_row_ids {
            let id = Arc::new(Field::new(ROW_ID_COLUMN, DataType::UInt64, false));
            let fields = schema.fields().iter().cloned().chain([id]);
            schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        }
        let key = table.schema().key.clone();
        let constraints = if key.is_empty() { vec![] } else { vec![Constraint::PrimaryKey(key)] };
        let constraints = Constraints::new_unverified(constraints);
        Self { table, schema, constraints, threads, binding, reading }
    }
}

impl SnapshotTable {
    /// The engine's form of a filter, where it has one.
    fn predicate(&self, filter: &Expr) -> Option<Predicate> {
        match &self.binding {
            Some(binding) => binding.predicate(filter, self.table.schema()),
            None => predicate_of(filter, self.table.schema()),
        }
    }

    /// The engine's form of all filters; none where no row meets them. A filter that was taken over may have become a
    /// constant since, as `IS NULL` does where a join no longer adds NULLs.
    fn predicates(&self, filters: &[Expr]) -> Result<Option<Vec<Predicate>>> {
        let mut predicates = Vec::new();
        for filter in filters {
            match (filter, self.predicate(filter)) {
                (_, Some(predicate)) => predicates.push(predicate),
                (Expr::Literal(ScalarValue::Boolean(Some(true)), _), None) => {}
                (Expr::Literal(ScalarValue::Boolean(_) | ScalarValue::Null, _), None) => {
                    return Ok(None);
                }
                // Its values of each run decide.
                (_, None) if self.binding.is_some() => {}
                (filter, None) => return internal_err!("{filter} was taken over by a scan"),
            }
        }
        Ok(Some(predicates))
    }
}

/// Whether a planner's table is one of a snapshot.
pub(crate) fn is_snapshot_table(source: &Arc<dyn TableSource>) -> bool {
    source_as_provider(source).is_ok_and(|provider| provider.is::<SnapshotTable>())
}

#[async_trait]
impl TableProvider for SnapshotTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.constraints)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let pushdown = |filter: &&Expr| match self.predicate(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(pushdown).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        check_cancelled()?;
        let columns = self.table.schema().columns.len();
        let all = (0..self.schema.fields().len()).collect::<Vec<_>>();
        let mut projection = projection.unwrap_or(&all).clone();
        let Some(predicates) = self.predicates(filters)? else {
            return Ok(Arc::new(EmptyExec::new(Arc::new(self.schema.project(&projection)?))));
        };
        // The engine hands row ids out last.
        let with_row_ids = projection.contains(&columns);
        let wanted = projection.clone();
        projection.retain(|&column| column < columns);
        let together = self.reading.together && limit.is_none();
        let request = ScanRequest { projection, predicates, with_row_ids, together };
        let order = with_row_ids && wanted.last() != Some(&columns);
        if order {
            return Err(to_datafusion(gadus_engine::Error::internal(
                "row ids are asked for as the last column",
            )));
        }
        if let Some(binding) = &self.binding {
            let (table, binding) = (self.table.schema().clone(), binding.clone());
            let kept = KeptScanExec::new(table, &request, filters, limit, self.threads, binding)?;
            return Ok(Arc::new(kept));
        }
        let scan = self.table.scan(request).map_err(to_datafusion)?;
        let (name, reading) = (self.table.schema().name.clone(), self.reading.clone());
        Ok(Arc::new(ScanExec::new(name, scan, self.threads, limit, reading)))
    }
}
