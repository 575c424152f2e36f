//! One run of a grace join.
//!
//! - The left input is held until it turns out to be more than a hash table may have. If it ends before that, it is
//!   joined at once, and the right one is not spilled.
//! - Otherwise both inputs are spilled by partitions, the left one first, and then the pairs of partitions are joined.
//!   Nothing waits for a batch longer than for its rows: what is done with it is short, and inputs yield.
//! - A pair that no division helps is joined in passes over the blocks of one side ([`Pass`]).
//! - The widths of rows are looked at as they come from the inputs, before rows have been given to the client
//!   ([`wide_rows`](crate::memory)); those that are read back are not looked at again.

use super::partitions::{Divided, Division, PARTITIONS, Spilled};
use super::passes::{Pass, Side, passes};
use crate::memory::PlanPool;
use crate::memory::blocks::{Block, Room, read_block};
use crate::memory::gather::in_turn_unwatched;
use crate::memory::stream_exec::StreamExec;
use crate::memory::table_memory::with_table_memory;
use crate::pace::PaceJoins;
use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ExecutionPlan, PhysicalExpr, SendableRecordBatchStream, SpillManager,
};
use futures::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;

/// How often a partition is divided again at most: 32 partitions become 32⁴.
const LEVELS_MAX: u32 = 3;

/// The part of the memory limit that the batches of all partitions may take while an input is divided.
const BUFFERED_PART: u64 = 8;

/// Bytes of a batch that is written: as few as are worth a batch, or as many as a batch of ordinary rows has.
const BATCH_BYTES_MIN: u64 = 64 << 10;
const BATCH_BYTES_MAX: u64 = 1 << 20;

/// Bytes that a hash table takes for a row beside the row: an entry of 16, of which up to half are free, and a link
/// of 4 to the next row of the same hash.
const ENTRY_BYTES: usize = 32;

/// What a run may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Hash table of a left input, or of a partition of it, with its rows.
    pub(super) table_bytes: u64,
    /// Rows that are written at once.
    pub(super) batch_bytes: usize,
    pub(super) batch_rows: usize,
}

impl Limits {
    /// Those of a task.
    pub(super) fn of(task: &TaskContext) -> Self {
        let pool = PlanPool::of(task);
        let buffered = pool.map_or(u64::MAX, |pool| pool.limit().0 / BUFFERED_PART);
        let batch_bytes = (buffered / PARTITIONS as u64).clamp(BATCH_BYTES_MIN, BATCH_BYTES_MAX);
        Self {
            table_bytes: pool.map_or(u64::MAX, PlanPool::table_bytes),
            batch_bytes: usize::try_from(batch_bytes).unwrap_or(usize::MAX),
            batch_rows: task.session_config().batch_size(),
        }
    }
}

/// Partitions of both inputs that have the same keys.
#[derive(Clone)]
pub(super) struct Pair {
    left: Spilled,
    right: Spilled,
    /// How often their rows were divided.
    level: u32,
}

impl Pair {
    /// True if the table of the left rows is within the limits.
    fn fits(&self, limits: Limits) -> bool {
        let entries = (self.left.rows * ENTRY_BYTES) as u64;
        self.left.bytes.saturating_add(entries) <= limits.table_bytes
    }
}

/// A run.
pub(super) struct Run {
    join: HashJoinExec,
    /// True for NOT IN of values that may be NULL; `join` is a plain anti join then.
    is_null_aware: bool,
    task: Arc<TaskContext>,
    /// For joins by tables of rows that are no more than a table may have.
    unlimited_task: Arc<TaskContext>,
    limits: Limits,
    has_begun: bool,
    /// Pairs that are to be joined.
    pairs: Vec<Pair>,
    /// Passes over a pair that is being joined by blocks.
    passes: VecDeque<Pass>,
    /// Rows of the join of one pair, or of a block.
    joined: Option<SendableRecordBatchStream>,
    /// Write and read what is spilled of each input.
    left: SpillManager,
    right: SpillManager,
    metrics: BaselineMetrics,
}

impl Run {
    /// Creates a run of a join, which begins when its first rows are asked for.
    pub(super) fn new(
        join: HashJoinExec,
        task: Arc<TaskContext>,
        limits: Limits,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Self> {
        let is_null_aware = join.null_aware;
        let join = join.builder().with_null_aware(false).build()?;
        let spilled = SpillMetrics::new(metrics, 0);
        let manager = |input: &Arc<dyn ExecutionPlan>| {
            SpillManager::new(task.runtime_env(), spilled.clone(), input.schema())
        };
        let (left, right) = (manager(join.left()), manager(join.right()));
        let metrics = BaselineMetrics::new(metrics, 0);
        let unlimited_task = Arc::new(with_table_memory(&task));
        Ok(Self {
            join,
            is_null_aware,
            task,
            unlimited_task,
            limits,
            has_begun: false,
            pairs: Vec::new(),
            passes: VecDeque::new(),
            joined: None,
            left,
            right,
            metrics,
        })
    }

    /// Returns the next rows; none after the last ones.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !self.has_begun {
            self.has_begun = true;
            match self.is_null_aware {
                true => self.begin_not_in().await?,
                false => self.begin().await?,
            }
        }
        loop {
            if let Some(joined) = &mut self.joined {
                if let Some(batch) = joined.next().await.transpose()? {
                    self.metrics.record_output(batch.num_rows());
                    return Ok(Some(batch));
                }
                // Its table goes before the next one is built.
                self.joined = None;
            }
            if let Some(pass) = self.passes.pop_front() {
                self.join_block(pass).await?;
                continue;
            }
            let Some(pair) = self.pairs.pop() else { return Ok(None) };
            if pair.fits(self.limits) {
                let (left, right) = (self.read(&pair, Side::Left)?, self.read(&pair, Side::Right)?);
                self.joined = Some(self.join_rows(&self.join, Side::Left, left, right)?);
                continue;
            }
            match self.divide(&pair).await? {
                Some(pairs) => self.pairs.extend(pairs),
                None => self.passes = passes(&self.join, &pair, |side| self.read(&pair, side))?,
            }
        }
    }

    /// Reads the left input, and the right one if both have to be spilled.
    async fn begin(&mut self) -> Result<()> {
        let mut left = self.join.left().execute(0, self.task.clone())?;
        let schema = left.schema();
        let room = Room::for_all(self.limits.table_bytes, ENTRY_BYTES);
        let Block { rows, is_last } = read_block(&mut left, room, &self.task).await?;
        if is_last {
            let right = self.join.right().execute(0, self.task.clone())?;
            self.joined = Some(self.join_rows(&self.join, Side::Left, rows, right)?);
            return Ok(());
        }
        let left = Box::pin(RecordBatchStreamAdapter::new(schema, rows.chain(left)));
        let left = self.spill(left, 0, Side::Left).await?;
        let right = self.join.right().execute(0, self.task.clone())?;
        let right = self.spill(right, 0, Side::Right).await?;
        self.pairs = pairs(left.partitions, right.partitions, 1);
        Ok(())
    }

    /// Reads both inputs of NOT IN. A NULL on the right leaves no rows, whatever the left ones are; none on the right
    /// leaves all; and otherwise those on the left whose keys are NULL are not among the rows of an anti join.
    async fn begin_not_in(&mut self) -> Result<()> {
        let right = self.join.right().execute(0, self.task.clone())?;
        let right = self.spill(right, 0, Side::Right).await?;
        if right.null_keys > 0 {
            return Ok(());
        }
        let mut left = self.join.left().execute(0, self.task.clone())?;
        if right.partitions.iter().any(|partition| partition.rows > 0) {
            left = without_null_keys(left, self.join.on()[0].0.clone());
        }
        let left = self.spill(left, 0, Side::Left).await?;
        self.pairs = pairs(left.partitions, right.partitions, 1);
        Ok(())
    }

    /// Divides a pair again; none if no more than before would be in its parts.
    async fn divide(&mut self, pair: &Pair) -> Result<Option<Vec<Pair>>> {
        if pair.level > LEVELS_MAX {
            return Ok(None);
        }
        let left = self.read(pair, Side::Left)?;
        let left = self.spill(left, pair.level, Side::Left).await?.partitions;
        if left.iter().any(|part| part.rows == pair.left.rows) {
            return Ok(None);
        }
        let right = self.read(pair, Side::Right)?;
        let right = self.spill(right, pair.level, Side::Right).await?.partitions;
        Ok(Some(pairs(left, right, pair.level + 1)))
    }

    /// Divides all rows of one side and writes them.
    async fn spill(
        &mut self,
        rows: SendableRecordBatchStream,
        level: u32,
        side: Side,
    ) -> Result<Divided> {
        let keys = self.join.on().iter().map(|(left, right)| match side {
            Side::Left => left.clone(),
            Side::Right => right.clone(),
        });
        let (keys, null_equality) = (keys.collect(), self.join.null_equality());
        let division = Division { keys, null_equality, level, limits: self.limits };
        // Accounts for rows that are held before they are written.
        let buffered = MemoryConsumer::new("GraceJoin").register(self.task.memory_pool());
        division.spill(rows, self.manager(side), buffered).await
    }

    fn manager(&self, side: Side) -> &SpillManager {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }

    /// Reads the rows that one side of a pair has.
    fn read(&self, pair: &Pair, side: Side) -> Result<SendableRecordBatchStream> {
        match side {
            Side::Left => pair.left.read(&self.left),
            Side::Right => pair.right.read(&self.right),
        }
    }

    /// Begins to join the next block of a pass, which goes on after it if there are more.
    async fn join_block(&mut self, mut pass: Pass) -> Result<()> {
        let room = Room::for_some(self.limits.table_bytes, ENTRY_BYTES);
        let Block { rows, is_last } = read_block(&mut pass.blocks, room, &self.task).await?;
        let others = self.read(&pass.pair, pass.side.other())?;
        let joined = self.join_rows(&pass.join, pass.side, rows, others)?;
        self.joined = Some(pass.output(&self.join, joined));
        if !is_last {
            self.passes.push_front(pass);
        }
        Ok(())
    }

    /// Joins rows by a hash table of those of one side, which fit, with those of the other.
    fn join_rows(
        &self,
        join: &HashJoinExec,
        side: Side,
        table: SendableRecordBatchStream,
        others: SendableRecordBatchStream,
    ) -> Result<SendableRecordBatchStream> {
        let table = in_turn_unwatched(table, &self.task);
        let [table, others] = [table, others].map(|rows| Arc::new(StreamExec::new(rows)) as _);
        // Without the table of the join that it is a copy of.
        let join = join.builder().reset_state().recompute_properties();
        let join: Arc<dyn ExecutionPlan> = match side {
            Side::Left => join.with_new_children(vec![table, others])?.build_exec()?,
            Side::Right => {
                let join = join.with_new_children(vec![others, table])?.build()?;
                join.swap_inputs(PartitionMode::CollectLeft)?
            }
        };
        let paced = PaceJoins.optimize(join, self.task.session_config().options())?;
        paced.execute(0, self.unlimited_task.clone())
    }
}

fn pairs(left: Vec<Spilled>, right: Vec<Spilled>, level: u32) -> Vec<Pair> {
    let pairs = left.into_iter().zip(right);
    let pairs = pairs.filter(|(left, right)| left.rows + right.rows > 0);
    pairs.map(|(left, right)| Pair { left, right, level }).collect()
}

/// Leaves out rows whose keys are NULL.
fn without_null_keys(
    rows: SendableRecordBatchStream,
    key: Arc<dyn PhysicalExpr>,
) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let rows = rows.map(move |batch| {
        let batch = batch?;
        let keys = key.evaluate(&batch)?.into_array(batch.num_rows())?;
        match keys.logical_nulls() {
            Some(nulls) => {
                Ok(filter_record_batch(&batch, &BooleanArray::new(nulls.into_inner(), None))?)
            }
            None => Ok(batch),
        }
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
