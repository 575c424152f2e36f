//! A join by partitions gives the rows of the join.

use super::{GraceJoinExec, Limits};
use crate::memory::SpillFolder;
use crate::memory::joined_rows::{TYPES, batches, column, condition, input, pick, sorted_rows};
use arrow::array::RecordBatch;
use arrow::compute::{filter_record_batch, is_not_null};
use datafusion::common::{JoinType, NullEquality};
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::prelude::SessionConfig;
use gadus_base::Random;
use std::sync::Arc;

/// A join of random rows, as a hash join.
struct Joined {
    left: Vec<RecordBatch>,
    right: Vec<RecordBatch>,
    join_type: JoinType,
    null_equality: NullEquality,
    has_two_keys: bool,
    has_condition: bool,
    /// True if an anti join is NOT IN.
    is_null_aware: bool,
    /// Not all columns of the join, in another order.
    has_projection: bool,
}

impl Joined {
    fn random(random: &mut Random) -> Self {
        let keys = pick(random, &[1, 4, 1000]);
        let mut rows = || {
            let rows = pick(random, &[0, 30, 600]);
            batches(random, rows, keys)
        };
        let (left, right) = (rows(), rows());
        let equality = [NullEquality::NullEqualsNothing, NullEquality::NullEqualsNull];
        let join_type = pick(random, &TYPES);
        let is_null_aware = join_type == JoinType::LeftAnti && random.chance(0.5);
        // One of ten keys is NULL, so few right inputs have none of them.
        let right =
            if is_null_aware && random.chance(0.5) { right_without_nulls(right) } else { right };
        Self {
            left,
            right,
            join_type,
            null_equality: pick(random, &equality[..if is_null_aware { 1 } else { 2 }]),
            has_two_keys: !is_null_aware && random.chance(0.3),
            has_condition: !is_null_aware && random.chance(0.7),
            is_null_aware,
            has_projection: random.chance(0.5),
        }
    }

    fn join(&self) -> HashJoinExec {
        let keys = if self.has_two_keys { &["t", "k"][..] } else { &["k"] };
        let join = HashJoinExec::try_new(
            input(self.left.clone()),
            input(self.right.clone()),
            keys.iter().map(|key| (column(key), column(key))).collect(),
            self.has_condition.then(condition),
            &self.join_type,
            None,
            PartitionMode::CollectLeft,
            self.null_equality,
            self.is_null_aware,
        );
        let join = join.unwrap();
        let columns = join.schema().fields().len();
        let some = (0..columns).rev().filter(|column| columns == 1 || column % 2 == 0).collect();
        if self.has_projection { join.with_projection(Some(some)).unwrap() } else { join }
    }
}

fn right_without_nulls(batches: Vec<RecordBatch>) -> Vec<RecordBatch> {
    let keys = |batch: &RecordBatch| is_not_null(batch.column(0)).unwrap();
    batches.iter().map(|batch| filter_record_batch(batch, &keys(batch)).unwrap()).collect()
}

/// Also where partitions are divided as often as they may be, and where one key has all rows.
#[test]
fn partitions_give_the_rows_of_the_join() {
    let mut random = Random::seeded(7);
    let folder = SpillFolder::new(None);
    let runtime = RuntimeEnv { disk_manager: folder.disk_manager(), ..RuntimeEnv::default() };
    let runtime = Arc::new(runtime);
    for round in 0..200 {
        let joined = Joined::random(&mut random);
        let config = SessionConfig::new().with_batch_size(pick(&mut random, &[1, 7, 50]));
        let task = TaskContext::default().with_session_config(config);
        let task = Arc::new(task.with_runtime(runtime.clone()));
        let limits = Limits {
            table_bytes: pick(&mut random, &[0, 2000, 1 << 20]),
            batch_bytes: pick(&mut random, &[1, 1000, 1 << 20]),
            batch_rows: task.session_config().batch_size(),
        };
        let expected = sorted_rows(joined.join().execute(0, task.clone()).unwrap());
        let written = folder.written();
        let grace = GraceJoinExec::new(&joined.join()).unwrap();
        let rows = sorted_rows(grace.execute_within(task, limits).unwrap());
        let (of, condition) = (joined.join_type, joined.has_condition);
        assert_eq!(rows, expected, "round {round}: {of:?}, condition {condition}, {limits:?}");
        let has_spilled = folder.written() > written;
        let is_small = joined.left.is_empty() || limits.table_bytes == 1 << 20;
        // NOT IN reads the right input first.
        assert!(joined.is_null_aware || has_spilled != is_small, "round {round}");
        assert_eq!(folder.kept().0, 0, "round {round}");
    }
}
