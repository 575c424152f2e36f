//! A join by blocks gives the rows of the join.

use super::{BlockJoinExec, with_block_join};
use crate::memory::SpillFolder;
use crate::memory::joined_rows::{TYPES, batches, condition, input, pick, sorted_rows};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{NestedLoopJoinExec, NestedLoopJoinExecBuilder};
use datafusion::prelude::SessionConfig;
use gadus_base::Random;
use std::sync::Arc;

/// The rows of a join by blocks of so many bytes; what stands above it only reorders columns.
fn rows_by_blocks(
    join: &NestedLoopJoinExec,
    task: &Arc<TaskContext>,
    block_bytes: u64,
) -> Vec<String> {
    let plan = with_block_join(join).unwrap().unwrap();
    let within = plan.transform_up(|plan| {
        let join = plan.downcast_ref::<BlockJoinExec>();
        Ok(match join {
            Some(join) => Transformed::yes(Arc::new(join.within(block_bytes).unwrap()) as _),
            None => Transformed::no(plan),
        })
    });
    sorted_rows(within.unwrap().data.execute(0, task.clone()).unwrap())
}

/// Also where each batch is a block, and where an input is empty.
#[test]
fn blocks_give_the_rows_of_the_join() {
    let mut random = Random::seeded(11);
    let folder = SpillFolder::new(None);
    let runtime = RuntimeEnv { disk_manager: folder.disk_manager(), ..RuntimeEnv::default() };
    let runtime = Arc::new(runtime);
    for round in 0..200 {
        let mut rows = || {
            let rows = pick(&mut random, &[0, 20, 120]);
            batches(&mut random, rows, 1000)
        };
        let (left, right) = (rows(), rows());
        let (join_type, has_condition) = (pick(&mut random, &TYPES), random.chance(0.8));
        let has_projection = random.chance(0.5);
        let config = SessionConfig::new().with_batch_size(pick(&mut random, &[1, 7, 50]));
        let task = TaskContext::default().with_session_config(config);
        let task = Arc::new(task.with_runtime(runtime.clone()));
        let block_bytes = pick(&mut random, &[1, 3000, 1 << 30]);
        let join = || {
            let join = NestedLoopJoinExecBuilder::new(
                input(left.clone()),
                input(right.clone()),
                join_type,
            );
            let join = join.with_filter(has_condition.then(condition)).build().unwrap();
            let columns = join.schema().fields().len();
            // Not all columns of the join, in another order.
            let some =
                (0..columns).rev().filter(|column| columns == 1 || column % 2 == 0).collect();
            if has_projection { join.with_projection(Some(some)).unwrap() } else { join }
        };
        let expected = sorted_rows(join().execute(0, task.clone()).unwrap());
        let rows = rows_by_blocks(&join(), &task, block_bytes);
        assert_eq!(rows, expected, "round {round}: {join_type:?}, {has_condition}, {block_bytes}");
        assert_eq!(folder.kept().0, 0, "round {round}");
    }
    assert!(folder.written().0 > 0);
}
