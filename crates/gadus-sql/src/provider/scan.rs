//! The physical plan of a scan: partitions that take morsels from one queue.
//!
//! - A partition that is disturbed takes fewer morsels; none waits for another.

use crate::error::to_datafusion;
use crate::progress::Progress;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use futures::stream;
use gadus_engine::Scan;
use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A scan of one table.
#[derive(Debug)]
pub(super) struct ScanExec {
    table: String,
    scan: Arc<Scan>,
    /// Rows that each partition needs to give at most.
    limit: Option<usize>,
    next: Arc<AtomicUsize>,
    properties: Arc<PlanProperties>,
    progress: Arc<Progress>,
}

impl ScanExec {
    pub(super) fn new(
        table: String,
        scan: Scan,
        threads: usize,
        limit: Option<usize>,
        progress: Arc<Progress>,
    ) -> Self {
        let properties = properties(scan.schema().clone(), partitions(threads, &scan));
        Self::with_properties(table, scan, limit, properties, progress)
    }

    /// A scan in the place of one with these properties.
    pub(super) fn with_properties(
        table: String,
        scan: Scan,
        limit: Option<usize>,
        properties: Arc<PlanProperties>,
        progress: Arc<Progress>,
    ) -> Self {
        Self { table, scan: Arc::new(scan), limit, next: Arc::default(), properties, progress }
    }
}

/// How many partitions a scan is worth.
pub(super) fn partitions(threads: usize, scan: &Scan) -> usize {
    threads.min(scan.morsels()).max(1)
}

/// What the planner wants to know of a scan.
pub(super) fn properties(schema: SchemaRef, partitions: usize) -> Arc<PlanProperties> {
    Arc::new(PlanProperties::new(
        EquivalenceProperties::new(schema),
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    ))
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.scan.schema().fields().iter().map(|field| field.name().as_str());
        write!(
            f,
            "GadusScan: table={}, columns=[{}], segments={}, pruned={}",
            self.table,
            columns.collect::<Vec<_>>().join(", "),
            self.scan.morsels(),
            self.scan.pruned()
        )?;
        let predicates = self.scan.predicates();
        if !predicates.is_empty() {
            write!(f, ", predicates={predicates}")?;
        }
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "GadusScan"
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

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self {
            table: self.table.clone(),
            scan: self.scan.clone(),
            limit: self.limit,
            next: Arc::default(),
            properties: self.properties.clone(),
            progress: self.progress.clone(),
        }))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition == 0 {
            self.progress.scan_begins(self.scan.morsels());
        }
        let reader = Reader {
            progress: self.progress.clone(),
            scan: self.scan.clone(),
            next: self.next.clone(),
            left: self.limit.unwrap_or(usize::MAX),
            waiting: VecDeque::new(),
        };
        let schema: SchemaRef = self.scan.schema().clone();
        let batches = stream::unfold(reader, |mut reader| async move {
            match reader.next_batch() {
                Ok(Some(batch)) => Some((Ok(batch), reader)),
                Ok(None) => None,
                Err(error) => {
                    reader.left = 0;
                    Some((Err(error), reader))
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// Reads morsel after morsel.
struct Reader {
    progress: Arc<Progress>,
    scan: Arc<Scan>,
    next: Arc<AtomicUsize>,
    left: usize,
    waiting: VecDeque<RecordBatch>,
}

impl Reader {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.waiting.pop_front() {
                let rows = batch.num_rows().min(self.left);
                self.left -= rows;
                return Ok((rows > 0).then(|| batch.slice(0, rows)));
            }
            let morsel = self.next.fetch_add(1, Ordering::Relaxed);
            if self.left == 0 || morsel >= self.scan.morsels() {
                return Ok(None);
            }
            let (waiting, left) = (&mut self.waiting, self.left);
            let mut rows = 0;
            self.scan
                .morsel(morsel, |batch| {
                    rows += batch.num_rows();
                    waiting.push_back(batch);
                    if rows >= left { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .map_err(to_datafusion)?;
            self.progress.morsel_read();
        }
    }
}
