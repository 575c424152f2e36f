//! One run of a block nested loop join.
//!
//! - A pass joins each block of its outer input with all rows of its inner one. A full join has two: one of the left
//!   input by blocks, and one that gives the right rows that have met none of the left ones.
//! - An input that is read several times is spilled before, in the batches in which it comes. Their widths have been
//!   looked at, before rows have been given to the client ([`wide_rows`](crate::memory)).

use crate::memory::blocks::{Block, Room, read_block, unmatched_right, with_schema};
use crate::memory::stream_exec::StreamExec;
use crate::memory::table_memory::with_table_memory;
use crate::pace::PaceJoins;
use arrow::array::RecordBatch;
use datafusion::common::{JoinType, Result};
use datafusion::execution::{SpillFile, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{NestedLoopJoinExec, NestedLoopJoinExecBuilder};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::EmptyRecordBatchStream;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream, SpillManager};
use futures::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rows that are read for each block.
enum Inner {
    /// The right input has not been read.
    Unread,
    Spilled(Spilled),
}

/// Rows that are spilled.
#[derive(Clone)]
struct Spilled {
    manager: SpillManager,
    /// None for no rows.
    file: Option<Arc<dyn SpillFile>>,
}

impl Spilled {
    /// Spills all rows of a stream.
    async fn of(mut rows: SendableRecordBatchStream, manager: SpillManager) -> Result<Self> {
        let mut file = manager.create_in_progress_file("an input of a join")?;
        while let Some(batch) = rows.next().await.transpose()? {
            if batch.num_rows() > 0 {
                file.append_batch(&batch)?;
            }
        }
        let file = file.finish()?;
        Ok(Self { manager, file })
    }

    fn read(&self) -> Result<SendableRecordBatchStream> {
        match &self.file {
            Some(file) => self.manager.read_spill_as_stream_unbuffered(file.clone(), None),
            None => Ok(Box::pin(EmptyRecordBatchStream::new(self.manager.schema().clone()))),
        }
    }
}

/// Joins all blocks of one input with all rows of another.
struct Pass {
    /// That of the rows of a block with those of the inner input.
    join_type: JoinType,
    outer: SendableRecordBatchStream,
    inner: Inner,
}

/// A run.
pub(super) struct Run {
    join: NestedLoopJoinExec,
    task: Arc<TaskContext>,
    /// For joins of blocks, which are no more than there is room for.
    unlimited_task: Arc<TaskContext>,
    block_bytes: u64,
    has_begun: bool,
    /// Passes that remain.
    passes: VecDeque<Pass>,
    /// Rows of the join of one block, as the first pass gives them, or unmatched right rows.
    joined: Option<(SendableRecordBatchStream, JoinType)>,
    spilled: SpillMetrics,
    metrics: BaselineMetrics,
}

impl Run {
    /// Creates a run of a join, which begins when its first rows are asked for.
    pub(super) fn new(
        join: NestedLoopJoinExec,
        task: Arc<TaskContext>,
        block_bytes: u64,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Self {
        let unlimited_task = Arc::new(with_table_memory(&task));
        let spilled = SpillMetrics::new(metrics, 0);
        let metrics = BaselineMetrics::new(metrics, 0);
        let (has_begun, passes, joined) = (false, VecDeque::new(), None);
        Self {
            join,
            task,
            unlimited_task,
            block_bytes,
            has_begun,
            passes,
            joined,
            spilled,
            metrics,
        }
    }

    /// Returns the next rows; none after the last ones.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if !self.has_begun {
            self.has_begun = true;
            self.begin().await?;
        }
        loop {
            // The block of what has ended goes before the next one is read.
            if let Some((mut joined, join_type)) = self.joined.take()
                && let Some(batch) = joined.next().await.transpose()?
            {
                self.joined = Some((joined, join_type));
                let batch = self.output(&batch, join_type)?;
                self.metrics.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            let Some(pass) = self.passes.pop_front() else { return Ok(None) };
            self.join_block(pass).await?;
        }
    }

    fn is_full(&self) -> bool {
        *self.join.join_type() == JoinType::Full
    }

    async fn begin(&mut self) -> Result<()> {
        let left = self.join.left().execute(0, self.task.clone())?;
        if !self.is_full() {
            let join_type = *self.join.join_type();
            self.passes.push_back(Pass { join_type, outer: left, inner: Inner::Unread });
            return Ok(());
        }
        let left = Spilled::of(left, self.manager(self.join.left())).await?;
        let right = self.join.right().execute(0, self.task.clone())?;
        let right = Spilled::of(right, self.manager(self.join.right())).await?;
        for (join_type, outer, inner) in
            [(JoinType::Left, &left, &right), (JoinType::LeftAnti, &right, &left)]
        {
            let inner = Inner::Spilled(inner.clone());
            self.passes.push_back(Pass { join_type, outer: outer.read()?, inner });
        }
        Ok(())
    }

    fn manager(&self, input: &Arc<dyn ExecutionPlan>) -> SpillManager {
        SpillManager::new(self.task.runtime_env(), self.spilled.clone(), input.schema())
    }

    /// Begins to join the next block of a pass, which goes on after it if there are more.
    async fn join_block(&mut self, mut pass: Pass) -> Result<()> {
        let room = Room::for_some(self.block_bytes, 0);
        let Block { rows, is_last } = read_block(&mut pass.outer, room, &self.task).await?;
        let right = || self.join.right().execute(0, self.task.clone());
        let (inner, spilled) = match pass.inner {
            Inner::Unread if is_last => (right()?, None),
            Inner::Unread => {
                let spilled = Spilled::of(right()?, self.manager(self.join.right())).await?;
                (spilled.read()?, Some(spilled))
            }
            Inner::Spilled(spilled) => (spilled.read()?, Some(spilled)),
        };
        self.joined = Some((self.join_rows(rows, inner, pass.join_type)?, pass.join_type));
        if let (false, Some(spilled)) = (is_last, spilled) {
            self.passes.push_front(Pass { inner: Inner::Spilled(spilled), ..pass });
        }
        Ok(())
    }

    fn join_rows(
        &self,
        outer: SendableRecordBatchStream,
        inner: SendableRecordBatchStream,
        join_type: JoinType,
    ) -> Result<SendableRecordBatchStream> {
        let is_swapped = self.is_full() && join_type == JoinType::LeftAnti;
        let filter = match is_swapped {
            true => self.join.filter().map(JoinFilter::swap),
            false => self.join.filter().cloned(),
        };
        let projection = self.join.projection().clone().filter(|_| !is_swapped);
        let [outer, inner] = [outer, inner].map(|rows| Arc::new(StreamExec::new(rows)) as _);
        let join = NestedLoopJoinExecBuilder::new(outer, inner, join_type);
        let join = join.with_filter(filter).with_projection_ref(projection).build()?;
        let paced = PaceJoins.optimize(Arc::new(join), self.task.session_config().options())?;
        paced.execute(0, self.unlimited_task.clone())
    }

    /// Returns rows of the join for those that a pass of such a type gives.
    fn output(&self, batch: &RecordBatch, join_type: JoinType) -> Result<RecordBatch> {
        let schema = self.join.schema();
        if self.is_full() && join_type == JoinType::LeftAnti {
            let projection = self.join.projection().as_deref();
            return unmatched_right(&schema, &self.join.left().schema(), projection, batch);
        }
        with_schema(&schema, batch)
    }
}
