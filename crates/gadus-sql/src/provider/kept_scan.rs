//! The scan of a kept plan: a template, which becomes the scan of a snapshot when its plan is bound.

use super::expected::statistics;
use super::scan::{ScanExec, partitions, properties};
use crate::error::to_datafusion;
use crate::kept::Binding;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err, plan_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use gadus_engine::{Scan, ScanRequest, TableSchema};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A scan without a snapshot.
#[derive(Debug)]
pub(super) struct KeptScanExec {
    table: Arc<TableSchema>,
    projection: Vec<usize>,
    with_row_ids: bool,
    /// Filters that the engine takes over, with parameters in them.
    filters: Vec<Expr>,
    limit: Option<usize>,
    threads: usize,
    binding: Arc<Binding>,
    properties: Arc<PlanProperties>,
    /// What it gives in all, about, by its first binding.
    expected: OnceLock<Arc<Statistics>>,
}

impl KeptScanExec {
    /// A template whose first binding is `binding`'s of now.
    pub(super) fn new(
        table: Arc<TableSchema>,
        request: &ScanRequest,
        filters: &[Expr],
        limit: Option<usize>,
        threads: usize,
        binding: Arc<Binding>,
    ) -> Result<Self> {
        let mut template = Self {
            table,
            projection: request.projection.clone(),
            with_row_ids: request.with_row_ids,
            filters: filters.to_vec(),
            limit,
            threads,
            binding,
            properties: properties(SchemaRef::new(arrow::datatypes::Schema::empty()), 1),
            expected: OnceLock::new(),
        };
        let scan = template.scan()?;
        template.properties = properties(scan.schema().clone(), partitions(threads, &scan));
        Ok(template)
    }

    /// The scan that the binding of now asks for.
    fn scan(&self) -> Result<Scan> {
        let snapshot = self.binding.snapshot();
        let table = snapshot.and_then(|snapshot| snapshot.table_by_id(self.table.id));
        let Some(table) = table.filter(|table| Arc::ptr_eq(table.schema(), &self.table)) else {
            return plan_err!("table {} has another shape now", self.table.name);
        };
        let predicate = |filter: &Expr| self.binding.predicate(filter, &self.table);
        let Some(predicates) = self.filters.iter().map(predicate).collect() else {
            return plan_err!("a filter of table {} has no exact form", self.table.name);
        };
        let (projection, with_row_ids) = (self.projection.clone(), self.with_row_ids);
        let together = self.binding.reading().together && self.limit.is_none();
        let request = ScanRequest { projection, predicates, with_row_ids, together };
        table.scan(request).map_err(to_datafusion)
    }
}

impl DisplayAs for KeptScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GadusKeptScan: table={}", self.table.name)
    }
}

impl ExecutionPlan for KeptScanExec {
    fn name(&self) -> &'static str {
        "GadusKeptScan"
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

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let unknown = || Arc::new(Statistics::new_unknown(self.properties.eq_properties.schema()));
        if args.partition().is_some() {
            return Ok(unknown());
        }
        let of_scan = |scan: Scan| Arc::new(statistics(&scan, self.limit));
        let expected = || self.scan().map_or_else(|_| unknown(), of_scan);
        Ok(self.expected.get_or_init(expected).clone())
    }

    /// Binds: the scan of the snapshot and values of now.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = self.scan()?;
        if partitions(self.threads, &scan) > self.properties.partitioning.partition_count() {
            return plan_err!("table {} is worth more threads now", self.table.name);
        }
        let name = self.table.name.clone();
        let (properties, reading) = (self.properties.clone(), self.binding.reading());
        Ok(Arc::new(ScanExec::with_properties(
            name,
            Arc::new(scan),
            self.limit,
            properties,
            reading,
        )))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a kept scan is bound before it runs")
    }
}
