//! One run of a grace join.
//!
//! - The left input is held until it turns out to be more than a hash table may have. If it ends before that, it is
//!   joined at once, and the right one is not spilled.
//! - Otherwise both inputs are spilled by partitions, the left one first, and then the pairs of partitions are joined.
//!   Nothing waits for a batch longer than for its rows: what is done with it is short, and inputs yield.
//! - The widths of rows are looked at as they come from the inputs, before rows have been given to the client
//!   ([`wide_rows`](crate::memory)); those that are read back are not looked at again.

use super::partitions::{Division, PARTITIONS, Spilled};
use crate::memory::compact::compact;
use crate::memory::gather::in_turn_unwatched;
use crate::memory::stream_exec::StreamExec;
use crate::memory::table_memory::with_table_memory;
use crate::memory::{PlanPool, SPILL_BYTES_MIN};
use crate::pace::PaceJoins;
use arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, SpillManager};
use futures::{StreamExt, stream};
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
struct Pair {
    left: Spilled,
    right: Spilled,
    /// How often their rows were divided.
    level: u32,
}

impl Pair {
    /// True if the table of the left rows is within the limits.
    fn fits(&self, limits: Limits) -> bool {
        table_bytes(self.left.bytes, self.left.rows) <= limits.table_bytes
    }
}

/// A run.
pub(super) struct Run {
    join: HashJoinExec,
    task: Arc<TaskContext>,
    /// For joins whose left rows are no more than a table may have.
    unlimited_task: Arc<TaskContext>,
    limits: Limits,
    has_begun: bool,
    /// Pairs that are to be joined.
    pairs: Vec<Pair>,
    /// Rows of the join of one pair.
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
    ) -> Self {
        let spilled = SpillMetrics::new(metrics, 0);
        let manager = |input: &Arc<dyn ExecutionPlan>| {
            SpillManager::new(task.runtime_env(), spilled.clone(), input.schema())
        };
        let (left, right) = (manager(join.left()), manager(join.right()));
        let metrics = BaselineMetrics::new(metrics, 0);
        let (has_begun, pairs, joined) = (false, Vec::new(), None);
        let unlimited_task = Arc::new(with_table_memory(&task));
        Self { join, task, unlimited_task, limits, has_begun, pairs, joined, left, right, metrics }
    }

    /// Returns the next rows; none after the last ones.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !self.has_begun {
            self.has_begun = true;
            self.begin().await?;
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
            let Some(pair) = self.pairs.pop() else { return Ok(None) };
            match self.divide(&pair).await? {
                Some(pairs) => self.pairs.extend(pairs),
                None => self.joined = Some(self.join_pair(&pair)?),
            }
        }
    }

    /// Reads the left input, and the right one if both have to be spilled.
    async fn begin(&mut self) -> Result<()> {
        let mut left = self.join.left().execute(0, self.task.clone())?;
        let (schema, held) = (left.schema(), self.reservation());
        let (batches, has_ended) = hold(&mut left, self.limits, &held, &self.task).await?;
        // What takes a batch counts it from then on.
        let batches = stream::iter(batches).map(move |(batch, bytes)| {
            held.shrink(bytes);
            Ok(batch)
        });
        if has_ended {
            let left = Box::pin(RecordBatchStreamAdapter::new(schema, batches));
            let right = self.join.right().execute(0, self.task.clone())?;
            self.joined = Some(self.join(left, right, &self.unlimited_task)?);
            return Ok(());
        }
        let left = Box::pin(RecordBatchStreamAdapter::new(schema, batches.chain(left)));
        let division = self.division(0, Side::Left);
        let left = division.spill(left, &self.left, self.reservation()).await?;
        let right = self.join.right().execute(0, self.task.clone())?;
        let division = self.division(0, Side::Right);
        let right = division.spill(right, &self.right, self.reservation()).await?;
        self.pairs = pairs(left, right, 1);
        Ok(())
    }

    /// Divides a pair again; none if its left rows fit into a table, or are not divided by it.
    async fn divide(&mut self, pair: &Pair) -> Result<Option<Vec<Pair>>> {
        if pair.fits(self.limits) || pair.level > LEVELS_MAX {
            return Ok(None);
        }
        let left = pair.left.read(&self.left)?;
        let division = self.division(pair.level, Side::Left);
        let left = division.spill(left, &self.left, self.reservation()).await?;
        if left.iter().any(|part| part.rows == pair.left.rows) {
            return Ok(None);
        }
        let right = pair.right.read(&self.right)?;
        let division = self.division(pair.level, Side::Right);
        let right = division.spill(right, &self.right, self.reservation()).await?;
        Ok(Some(pairs(left, right, pair.level + 1)))
    }

    fn division(&self, level: u32, side: Side) -> Division {
        let keys = self.join.on().iter().map(|(left, right)| match side {
            Side::Left => left.clone(),
            Side::Right => right.clone(),
        });
        let null_equality = self.join.null_equality();
        Division { keys: keys.collect(), null_equality, level, limits: self.limits }
    }

    /// Accounts for rows that are held before they are written.
    fn reservation(&self) -> MemoryReservation {
        MemoryConsumer::new("GraceJoin").register(self.task.memory_pool())
    }

    fn join_pair(&self, pair: &Pair) -> Result<SendableRecordBatchStream> {
        let task = match pair.fits(self.limits) {
            true => &self.unlimited_task,
            false => &self.task,
        };
        self.join(pair.left.read(&self.left)?, pair.right.read(&self.right)?, task)
    }

    /// Joins rows by a hash table of those on the left, which a task counts.
    fn join(
        &self,
        left: SendableRecordBatchStream,
        right: SendableRecordBatchStream,
        task: &Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let left = in_turn_unwatched(left, &self.task);
        let inputs = [left, right].map(|rows| Arc::new(StreamExec::new(rows)) as _);
        // Without the table of the join that it is a copy of.
        let join = self.join.builder().reset_state().recompute_properties();
        let join = join.with_new_children(inputs.into())?.build_exec()?;
        let paced = PaceJoins.optimize(join, self.task.session_config().options())?;
        paced.execute(0, task.clone())
    }
}

/// An input of a join.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn pairs(left: Vec<Spilled>, right: Vec<Spilled>, level: u32) -> Vec<Pair> {
    let pairs = left.into_iter().zip(right);
    let pairs = pairs.filter(|(left, right)| left.rows + right.rows > 0);
    pairs.map(|(left, right)| Pair { left, right, level }).collect()
}

/// Returns what a hash table takes together with its rows.
fn table_bytes(bytes: u64, rows: usize) -> u64 {
    bytes.saturating_add((rows * ENTRY_BYTES) as u64)
}

/// Reads batches, each with its size, while they are no more than a table may have, together with what the rest of
/// the plan holds unless they are few. Returns, too, if they are all.
async fn hold(
    rows: &mut SendableRecordBatchStream,
    limits: Limits,
    held: &MemoryReservation,
    task: &TaskContext,
) -> Result<(Vec<(RecordBatch, usize)>, bool)> {
    let (mut batches, mut row_count) = (Vec::new(), 0);
    let mut counter = RecordBatchMemoryCounter::new();
    while let Some(batch) = rows.next().await {
        let batch = compact(batch?)?;
        let bytes = counter.count_batch(&batch);
        held.grow(bytes);
        row_count += batch.num_rows();
        batches.push((batch, bytes));
        let bytes = table_bytes(counter.memory_usage() as u64, row_count);
        let of_plan = PlanPool::of(task).map_or(bytes, PlanPool::held);
        if bytes > limits.table_bytes || bytes >= SPILL_BYTES_MIN && of_plan > limits.table_bytes {
            return Ok((batches, false));
        }
    }
    Ok((batches, true))
}
