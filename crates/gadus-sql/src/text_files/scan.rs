//! The physical plan of files of texts: one reader, whose blocks are read as rows on all threads.
//!
//! - Rows come in the order of the files: as many blocks are read ahead as there are threads.

use super::blocks::{Block, Blocks};
use super::compression::Compression;
use super::form::RowsOfText;
use super::list::TextFile;
use crate::error::to_datafusion;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ScalarValue, Statistics};
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

/// A file, and what its folders say of its rows.
pub(super) type FileOfPartition = (TextFile, Arc<[ScalarValue]>);

/// A scan of files of texts.
#[derive(Debug)]
pub(super) struct TextScanExec {
    files: Arc<[FileOfPartition]>,
    rows: Arc<RowsOfText>,
    given: Arc<Given>,
    properties: Arc<PlanProperties>,
}

/// The columns that are given, of those that are read and of those that folders say.
#[derive(Debug)]
struct Given {
    schema: SchemaRef,
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy)]
enum Column {
    Read(usize),
    Said(usize),
}

impl Given {
    fn of(&self, batch: &RecordBatch, said: &[ScalarValue]) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let column = |column: &Column| match column {
            Column::Read(place) => Ok(batch.column(*place).clone()),
            Column::Said(place) => said[*place].to_array_of_size(rows),
        };
        let columns = self.columns.iter().map(column).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}

impl TextScanExec {
    /// A scan that gives these columns of all; `rows` reads what is needed of the files' own, and perhaps more.
    pub(super) fn new(
        files: Vec<FileOfPartition>,
        mut rows: RowsOfText,
        wanted: &[usize],
        schema: SchemaRef,
    ) -> Self {
        let own = rows.schema.fields().len();
        if rows.projection.is_empty() && own > 0 {
            // So that somebody counts the rows.
            rows.projection = vec![0];
        }
        let column = |column: &usize| {
            let read = rows.projection.iter().position(|read| read == column);
            read.map_or(Column::Said(column.saturating_sub(own)), Column::Read)
        };
        let columns = wanted.iter().map(column).collect();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let given = Arc::new(Given { schema, columns });
        Self { files: files.into(), rows: Arc::new(rows), given, properties: Arc::new(properties) }
    }

    fn schema(&self) -> SchemaRef {
        self.given.schema.clone()
    }
}

impl DisplayAs for TextScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let columns = schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        let (form, columns) = (self.rows.form.name(), columns.join(", "));
        write!(f, "TextScan: form={form}, columns=[{columns}], files={}", self.files.len())?;
        match self.files.first() {
            Some((first, _)) => write!(f, ", first={}", first.path.display()),
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
        let size = |(file, _): &FileOfPartition| {
            let bytes = usize::try_from(file.bytes()).unwrap_or(usize::MAX);
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
        let (rows, given) = (self.rows.clone(), self.given.clone());
        let reader = Reader { files: self.files.clone(), next: 0, rows: rows.clone(), open: None };
        let read = move |block: gadus_engine::Result<Opened<Block>>| {
            let (rows, given) = (rows.clone(), given.clone());
            async move {
                let Opened { path, said, what: block } = block.map_err(to_datafusion)?;
                let read = move || {
                    let batches = rows.of_block(&path, &block).map_err(to_datafusion)?;
                    batches.iter().map(|batch| given.of(batch, &said)).collect::<Result<Vec<_>>>()
                };
                Ok::<_, DataFusionError>(stream::iter(elsewhere(read).await?.into_iter().map(Ok)))
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
    files: Arc<[FileOfPartition]>,
    next: usize,
    rows: Arc<RowsOfText>,
    open: Option<Opened<Blocks>>,
}

/// What is of a file, by its path, with what its folders say.
struct Opened<T> {
    path: Arc<str>,
    said: Arc<[ScalarValue]>,
    what: T,
}

impl Iterator for Reader {
    type Item = gadus_engine::Result<Opened<Block>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_block();
        if next.is_err() {
            (self.next, self.open) = (self.files.len(), None);
        }
        next.transpose()
    }
}

impl Reader {
    fn next_block(&mut self) -> gadus_engine::Result<Option<Opened<Block>>> {
        loop {
            if let Some(open) = &mut self.open {
                match open.what.next()? {
                    Some(what) => {
                        let (path, said) = (open.path.clone(), open.said.clone());
                        return Ok(Some(Opened { path, said, what }));
                    }
                    None => self.open = None,
                }
            }
            let Some((file, said)) = self.files.get(self.next) else { return Ok(None) };
            self.next += 1;
            let what = Blocks::open(file, self.rows.form.ends())?;
            self.open = Some(Opened { path: what.path().into(), said: said.clone(), what });
        }
    }
}
