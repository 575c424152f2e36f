//! Rows of files that are to be written, in the order in which they stand there.
//!
//! - Neighbours stay neighbours: a column that rises through a file has narrow bounds in each segment, by
//!   which queries leave out the others.
//! - Large files are read in pieces, several at the same time and each some batches ahead, that are handed
//!   on one after the other.
//! - This holds for what is read row by row, whatever is computed of a row; sorts have their own order, and
//!   joins and aggregates none.

use crate::error::from_datafusion;
use crate::executor::physical_plan;
use crate::memory::{Replan, awaited, run_or_replan};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SessionState as PlannerState, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::common::spawn_buffered;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::{StreamExt, TryStreamExt, stream};
use gadus_engine::Result;
use std::sync::Arc;

/// Bytes of a file that are read as one piece: several groups of rows of most Parquet files.
const PIECE_BYTES: u64 = 8 << 20;

/// Batches that a piece is read ahead.
const BATCHES_AHEAD: usize = 16;

/// The physical plan of rows that are to be written.
pub(super) async fn plan_to_write(
    mut planner: PlannerState,
    plan: &LogicalPlan,
) -> Result<Arc<dyn ExecutionPlan>> {
    if !is_row_by_row(plan) {
        return physical_plan(planner, plan).await.map_err(from_datafusion);
    }
    // One file is then one partition, and stays it.
    let options = planner.config_mut().options_mut();
    options.optimizer.repartition_file_scans = false;
    options.optimizer.enable_round_robin_repartition = false;
    let physical = physical_plan(planner.clone(), plan).await.map_err(from_datafusion)?;
    let in_pieces = |node: Arc<dyn ExecutionPlan>| {
        let Some(bytes) = file_bytes(&*node) else { return Ok(Transformed::no(node)) };
        let node = node.with_preserve_order(true).unwrap_or(node);
        let pieces = usize::try_from(bytes / PIECE_BYTES).unwrap_or(usize::MAX).max(1);
        let divided = node.repartitioned(pieces, planner.config_options())?;
        Ok(Transformed::yes(divided.unwrap_or(node)))
    };
    physical.transform_up(in_pieces).data().map_err(from_datafusion)
}

/// Runs such a plan, on so many threads; one of joins may be made again.
pub(super) fn stream_to_write(
    plan: Arc<dyn ExecutionPlan>,
    task: Arc<TaskContext>,
    threads: usize,
    replan: impl FnOnce() -> Option<Replan>,
) -> Result<SendableRecordBatchStream> {
    if !is_of_files(&*plan) {
        return run_or_replan(plan, task, replan).map_err(from_datafusion);
    }
    let (schema, pieces) = (plan.schema(), plan.properties().partitioning.partition_count());
    let ran_in = task.clone();
    let begin = move |piece| {
        let begun = plan.execute(piece, task.clone());
        std::future::ready(begun.map(|rows| spawn_buffered(rows, BATCHES_AHEAD)))
    };
    let rows = stream::iter(0..pieces).map(begin).buffered(threads.max(1)).try_flatten();
    Ok(awaited(&ran_in, Box::pin(RecordBatchStreamAdapter::new(schema, rows))))
}

/// Whether each row of the result comes from a row of the one source.
fn is_row_by_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().into_iter().all(is_row_by_row)
        }
        LogicalPlan::TableScan(_) => true,
        _ => false,
    }
}

fn is_of_files(plan: &dyn ExecutionPlan) -> bool {
    match plan.children()[..] {
        [] => file_bytes(plan).is_some(),
        [child] => {
            let is_whole = plan.maintains_input_order().iter().all(|maintains| *maintains);
            let (own, below) = (plan.properties(), child.properties());
            let same = own.partitioning.partition_count() == below.partitioning.partition_count();
            is_whole && same && is_of_files(&**child)
        }
        _ => false,
    }
}

/// The size of the files that a plan reads; none where it is not what reads files.
fn file_bytes(plan: &dyn ExecutionPlan) -> Option<u64> {
    let source = plan.downcast_ref::<DataSourceExec>()?;
    let files = source.data_source().downcast_ref::<FileScanConfig>()?;
    let files = files.file_groups.iter().flat_map(|group| group.iter());
    Some(files.map(|file| file.object_meta.size).sum())
}
