//! Readers of a common table.

use super::buffer::Buffer;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_datafusion_err, project_schema};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use futures::StreamExt;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Common table whose rows a run makes once.
#[derive(Debug)]
pub(crate) struct CommonTable {
    name: String,
    schema: SchemaRef,
    rows: Rows,
}

/// Place of the rows of the run that is under way.
#[derive(Clone, Default)]
pub(super) struct Rows(Arc<Mutex<Option<Arc<Buffer>>>>);

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").finish_non_exhaustive()
    }
}

impl Rows {
    /// Begins a run.
    pub(super) fn begin(&self, buffer: Arc<Buffer>) {
        *self.0.lock() = Some(buffer);
    }

    /// Gives up the rows of a run, as far as they are still those of this one.
    pub(super) fn end(&self, buffer: &Arc<Buffer>) {
        let mut rows = self.0.lock();
        if rows.as_ref().is_some_and(|current| Arc::ptr_eq(current, buffer)) {
            *rows = None;
        }
    }
}

impl CommonTable {
    /// Creates the table that a query calls so.
    pub(crate) fn new(name: String, schema: SchemaRef) -> Self {
        Self { name, schema, rows: Rows::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }
}

#[async_trait]
impl TableProvider for CommonTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = project_schema(&self.schema, projection)?;
        Ok(Arc::new(CommonTableScan {
            name: self.name.clone(),
            rows: self.rows.clone(),
            projection: projection.cloned(),
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(PlanProperties::new(
                EquivalenceProperties::new(schema),
                Partitioning::UnknownPartitioning(1),
                EmissionType::Incremental,
                Boundedness::Bounded,
            )),
        }))
    }
}

/// Operator that reads a common table.
#[derive(Debug)]
struct CommonTableScan {
    name: String,
    rows: Rows,
    projection: Option<Vec<usize>>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl DisplayAs for CommonTableScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CommonTableScan: {}", self.name)
    }
}

impl ExecutionPlan for CommonTableScan {
    fn name(&self) -> &'static str {
        "CommonTableScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let buffer = self.rows.0.lock().clone();
        let buffer = buffer.ok_or_else(|| {
            internal_datafusion_err!("common table {} is read outside its query", self.name)
        })?;
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let projection = self.projection.clone();
        let rows = buffer.read().map(move |batch| {
            let batch = batch?;
            let batch = match &projection {
                Some(columns) => batch.project(columns)?,
                None => batch,
            };
            Ok(batch.record_output(&metrics))
        });
        let schema = self.properties.eq_properties.schema().clone();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
