//! The physical plan of files of texts: one reader, whose blocks are read as rows on all threads.
//!
//! - Rows come in the order of the files: as many blocks are read ahead as there are threads.

use super::blocks::{Block, Blocks};
use super::compression::Compression;
use super::form::RowsOfText;
use super::list::TextFile;
use crate::error::to_datafusion;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

/// What compressed texts unpack to, about, for whoever weighs plans.
const UNPACKED: usize = 4;

/// A scan of files of texts.
#[derive(Debug)]
pub(super) struct TextScanExec {
    files: Arc<[TextFile]>,
    rows: Arc<RowsOfText>,
    /// Columns of those that are read; none where they are all.
    kept: Option<Arc<[usize]>>,
    properties: Arc<PlanProperties>,
}

impl TextScanExec {
    /// A scan that gives these columns of all; `rows` reads them, and perhaps more.
    pub(super) fn new(
        files: Arc<[TextFile]>,
        mut rows: RowsOfText,
        wanted: Vec<usize>,
    ) -> Result<Self> {
        if rows.projection.is_empty() && !rows.schema.fields().is_empty() {
            // So that somebody counts the rows.
            rows.projection = vec![0];
        }
        let schema = Arc::new(rows.schema.project(&wanted)?);
        let place = |column: &usize| rows.projection.iter().position(|read| read == column);
        let kept = (rows.projection != wanted)
            .then(|| wanted.iter().filter_map(place).collect::<Arc<[usize]>>());
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self { files, rows: Arc::new(rows), kept, properties: Arc::new(properties) })
    }

    fn schema(&self) -> SchemaRef {
        self.properties.eq_properties.schema().clone()
    }
}

impl DisplayAs for TextScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let columns = schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        let (form, columns) = (self.rows.form.name(), columns.join(", "));
        write!(f, "TextScan: form={form}, columns=[{columns}], files={}", self.files.len())?;
        match self.files.first() {
            Some(first) => write!(f, ", first={}", first.path.display()),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for TextScanExec {
    fn name(&self) -> &'static str {
        "TextScan"
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
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let size = |file: &TextFile| {
            let bytes = file.path.metadata().map_or(0, |data| data.len());
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            match file.compression {
                Compression::None => bytes,
                _ => bytes.saturating_mul(UNPACKED),
            }
        };
        let mut statistics = Statistics::new_unknown(&self.schema());
        let bytes = self.files.iter().map(size).fold(0, usize::saturating_add);
        statistics.total_byte_size = Precision::Inexact(bytes);
        Ok(Arc::new(statistics))
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let threads = context.session_config().target_partitions().max(1);
        let (rows, kept) = (self.rows.clone(), self.kept.clone());
        let reader = Reader { files: self.files.clone(), next: 0, rows: rows.clone(), open: None };
        let read = move |block: gadus_engine::Result<(Arc<str>, Block)>| {
            let (rows, kept) = (rows.clone(), kept.clone());
            async move {
                let (path, block) = block.map_err(to_datafusion)?;
                let read = move || rows.of_block(&path, &block).map_err(to_datafusion);
                let batches = elsewhere(read).await?;
                let batches = batches.into_iter().map(move |batch| match &kept {
                    Some(kept) => Ok(batch.project(kept)?),
                    None => Ok(batch),
                });
                Ok::<_, DataFusionError>(stream::iter(
                    batches.collect::<Vec<Result<RecordBatch>>>(),
                ))
            }
        };
        let batches = stream::iter(reader).map(read).buffered(threads).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}

/// Reads on another thread where there are several; dropped, it is not begun.
async fn elsewhere(
    read: impl FnOnce() -> Result<Vec<RecordBatch>> + Send + 'static,
) -> Result<Vec<RecordBatch>> {
    let runtime = Handle::try_current();
    if !runtime.is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread) {
        return read();
    }
    let done = SpawnedTask::spawn(async move { read() }).await;
    done.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?
}

/// The blocks of files, one after the other; none behind an error.
struct Reader {
    files: Arc<[TextFile]>,
    next: usize,
    rows: Arc<RowsOfText>,
    open: Option<(Arc<str>, Blocks)>,
}

impl Iterator for Reader {
    type Item = gadus_engine::Result<(Arc<str>, Block)>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_block();
        if next.is_err() {
            (self.next, self.open) = (self.files.len(), None);
        }
        next.transpose()
    }
}

impl Reader {
    fn next_block(&mut self) -> gadus_engine::Result<Option<(Arc<str>, Block)>> {
        loop {
            if let Some((path, blocks)) = &mut self.open {
                match blocks.next()? {
                    Some(block) => return Ok(Some((path.clone(), block))),
                    None => self.open = None,
                }
            }
            let Some(file) = self.files.get(self.next) else { return Ok(None) };
            self.next += 1;
            let blocks = Blocks::open(&file.path, file.compression, self.rows.form.ends())?;
            self.open = Some((blocks.path().into(), blocks));
        }
    }
}
