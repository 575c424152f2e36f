//! The physical plan of a scan: partitions that take morsels from one queue.
//!
//! - A partition that is disturbed takes fewer morsels; none waits for another.
//! - Instead, the rows may be asked of the table's next shared scan: one partition then has all of them.

use super::Reading;
use super::dynamic::Dynamic;
use super::expected::statistics;
use super::measured::ScanFigures;
use super::morsels::{Reader, WideMorsels};
use crate::error::{is_for_alone, to_datafusion};
use crate::pace::yielding;
use crate::statements::charged;
use crate::value_limits::is_amplifying_expression;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Statistics;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_expr::expressions::{Column, DynamicFilterTracking};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
    SendableRecordBatchStream,
};
use futures::stream;
use gadus_engine::{Answer, Asked, FoundReader, Scan, ScansAlone};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

/// A scan of one table.
#[derive(Debug)]
pub(crate) struct ScanExec {
    table: String,
    scan: Arc<Scan>,
    /// Rows that each partition needs to give at most.
    limit: Option<usize>,
    next: Arc<AtomicUsize>,
    properties: Arc<PlanProperties>,
    reading: Reading,
    rows: Mutex<Rows>,
    /// What it gives in all, about.
    expected: OnceLock<Arc<Statistics>>,
    /// What it took, where somebody asks for it.
    figures: Option<Arc<ScanFigures>>,
    /// Filters that come while the plan runs.
    filters: Vec<Arc<dyn PhysicalExpr>>,
}

/// Where a scan's rows come from.
#[derive(Debug)]
enum Rows {
    /// It reads them; it may say that it scans, as long as it does.
    Read(Option<Arc<ScansAlone>>),
    /// A shared scan finds them: until the partition begins that has them.
    Asked(Option<Asked>),
}

impl ScanExec {
    pub(super) fn new(
        table: String,
        scan: Scan,
        threads: usize,
        limit: Option<usize>,
        reading: Reading,
    ) -> Self {
        let properties = properties(scan.schema().clone(), partitions(threads, &scan));
        Self::with_properties(table, Arc::new(scan), limit, properties, reading)
    }

    /// A scan in the place of one with these properties.
    pub(super) fn with_properties(
        table: String,
        scan: Arc<Scan>,
        limit: Option<usize>,
        properties: Arc<PlanProperties>,
        reading: Reading,
    ) -> Self {
        let (next, rows) = (Arc::default(), Mutex::new(Rows::Read(None)));
        let (expected, figures) = (OnceLock::new(), reading.measured.then(Arc::default));
        let filters = Vec::new();
        Self { table, scan, limit, next, properties, reading, rows, expected, figures, filters }
    }

    /// The scan of a plan that has just one, and runs it once.
    pub(crate) fn only_of(plan: &dyn ExecutionPlan) -> Option<&Self> {
        /// Returns whether all of the plan runs once.
        fn add<'a>(plan: &'a dyn ExecutionPlan, scans: &mut Vec<&'a ScanExec>) -> bool {
            scans.extend(plan.downcast_ref::<ScanExec>());
            let once = plan.downcast_ref::<RecursiveQueryExec>().is_none();
            once && plan.children().into_iter().all(|child| add(&**child, scans))
        }
        let mut scans = Vec::new();
        let once = add(plan, &mut scans);
        if let [scan] = scans[..] { Some(scan).filter(|_| once) } else { None }
    }

    /// What it took; none where nobody has asked for that.
    pub(crate) fn figures(&self) -> Option<&ScanFigures> {
        self.figures.as_deref()
    }

    /// Segments that it has to read, and those that cannot have rows for it.
    pub(crate) fn segments(&self) -> (usize, usize) {
        (self.scan.morsels(), self.scan.pruned())
    }

    /// What it reads; none where it stops as soon as it has enough rows, or these come with ids.
    pub(crate) fn whole(&self) -> Option<&Scan> {
        let is_whole = self.limit.is_none() && !self.scan.request().with_row_ids;
        is_whole.then_some(&self.scan)
    }

    /// Has its rows be those that a shared scan finds, unless these are too many.
    pub(crate) fn ask(&self, asked: Asked) {
        *self.rows.lock() = Rows::Asked(Some(asked));
    }

    /// Has it say that it scans.
    pub(crate) fn scans_alone(&self, alone: ScansAlone) {
        *self.rows.lock() = Rows::Read(Some(Arc::new(alone)));
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
        if self.scan.is_by_index() {
            f.write_str(", by an index")?;
        }
        let predicates = self.scan.predicates();
        if !predicates.is_empty() {
            write!(f, ", predicates={predicates}")?;
        }
        if !self.filters.is_empty() {
            write!(f, ", dynamic filters={}", self.filters.len())?;
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
        each: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut next = TreeNodeRecursion::Continue;
        for filter in &self.filters {
            next = next.visit_sibling(|| each(filter))?;
        }
        Ok(next)
    }

    /// Takes filters that come while the plan runs; whoever has them goes on to look himself.
    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let mut filters = self.filters.clone();
        for pushed in &result.parent_filters {
            if is_taken(&pushed.filter, self.scan.schema())? {
                filters.push(pushed.filter.clone());
            }
        }
        let told = FilterPushdownPropagation::all_unsupported(result);
        let is_whole = self.limit.is_none();
        if phase != FilterPushdownPhase::Post || !is_whole || filters.len() == self.filters.len() {
            return Ok(told);
        }
        let (table, scan) = (self.table.clone(), self.scan.clone());
        let (properties, reading) = (self.properties.clone(), self.reading.clone());
        let anew = Self::with_properties(table, scan, None, properties, reading);
        let figures = self.figures.clone();
        Ok(told.with_updated_node(Arc::new(Self { figures, filters, ..anew })))
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
        // Which partition reads which rows is decided while they run.
        if args.partition().is_some() {
            return Ok(Arc::new(Statistics::new_unknown(self.scan.schema())));
        }
        Ok(self.expected.get_or_init(|| Arc::new(statistics(&self.scan, self.limit))).clone())
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let (table, scan) = (self.table.clone(), self.scan.clone());
        let (properties, reading) = (self.properties.clone(), self.reading.clone());
        let anew = Self::with_properties(table, scan, self.limit, properties, reading);
        // What it takes each time, in all. The filters of a run are of its joins.
        Ok(Arc::new(Self { figures: self.figures.clone(), ..anew }))
    }

    fn execute(
        &self,
        partition: usize,
        task: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let source = match &mut *self.rows.lock() {
            Rows::Asked(asked) => match asked.take() {
                Some(asked) => Source::Asked(asked, self.reader(None, &task)),
                None => Source::Nothing,
            },
            Rows::Read(alone) => {
                if partition == 0 {
                    self.reading.progress.scan_begins(self.scan.morsels());
                }
                Source::Own(self.reader(alone.clone(), &task))
            }
        };
        let schema: SchemaRef = self.scan.schema().clone();
        // Others may poll it than those who run the statement.
        let account = self.reading.account.clone().unwrap_or_default();
        let of = (account, self.figures.clone());
        let batches = stream::unfold((source, of), |(source, of)| async move {
            let next = std::pin::pin!(source.next_batch());
            let next = match &of {
                (account, None) => charged(account, next).await,
                (account, Some(figures)) => figures.measure(account, next).await,
            };
            match next {
                Ok((batch, source)) => batch.map(|batch| (Ok(batch), (source, of))),
                Err(error) => Some((Err(error), (Source::Nothing, of))),
            }
        });
        Ok(yielding(Box::pin(RecordBatchStreamAdapter::new(schema, batches))))
    }
}

/// Returns true for a filter that comes while the plan runs, unless it is to be evaluated in slices: batches have none here.
/// Filters of joins search floating-point numbers by their bits, of which zero has two.
fn is_taken(filter: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<bool> {
    let is_dynamic = DynamicFilterTracking::classify(filter).contains_dynamic_filter();
    let is_float = |column: Column| {
        schema.fields().get(column.index()).is_some_and(|field| field.data_type().is_floating())
    };
    let has_floats = collect_columns(filter).into_iter().any(is_float);
    Ok(is_dynamic && !has_floats && !is_amplifying_expression(filter)?)
}

impl ScanExec {
    fn reader(&self, alone: Option<Arc<ScansAlone>>, task: &TaskContext) -> Reader {
        Reader {
            reading: self.reading.clone(),
            scan: self.scan.clone(),
            next: self.next.clone(),
            left: self.limit.unwrap_or(usize::MAX),
            waiting: VecDeque::new(),
            held: WideMorsels::new(
                task.memory_pool(),
                self.properties.partitioning.partition_count(),
            ),
            figures: self.figures.clone(),
            dynamic: Dynamic::of(&self.filters),
            _alone: alone,
        }
    }
}

/// Where a partition has its rows from.
enum Source {
    Own(Reader),
    /// Who has asked a shared scan, and reads himself where that has no answer for him.
    Asked(Asked, Reader),
    Found(FoundReader),
    Nothing,
}

impl Source {
    /// The next batch, none at the end, and what comes behind it.
    async fn next_batch(mut self) -> Result<(Option<RecordBatch>, Self)> {
        if let Self::Asked(asked, reader) = self {
            self = match asked.await {
                Ok(answer) => match &*answer {
                    Answer::Rows(found) => {
                        if let Some(figures) = &reader.figures {
                            figures.shared();
                        }
                        Self::Found(found.read(&reader.scan.request().projection))
                    }
                    // More rows than are held.
                    _ => Self::Own(reader),
                },
                Err(error) if is_for_alone(&error) => Self::Own(reader),
                Err(error) => return Err(to_datafusion(error)),
            };
        }
        let batch = match &mut self {
            Self::Own(reader) => reader.next_batch()?,
            Self::Found(found) => found.next().transpose().map_err(to_datafusion)?,
            Self::Asked(..) | Self::Nothing => None,
        };
        Ok((batch, self))
    }
}
