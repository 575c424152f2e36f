//! A join by partitions gives the rows of the join.

use super::input::StreamExec;
use super::{GraceJoinExec, Limits};
use crate::executor::runtime;
use crate::memory::SpillFolder;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::{JoinSide, JoinType, NullEquality};
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr, SendableRecordBatchStream};
use datafusion::prelude::SessionConfig;
use futures::{TryStreamExt, stream};
use gadus_base::Random;
use std::sync::Arc;

const TYPES: [JoinType; 10] = [
    JoinType::Inner,
    JoinType::Left,
    JoinType::Right,
    JoinType::Full,
    JoinType::LeftSemi,
    JoinType::RightSemi,
    JoinType::LeftAnti,
    JoinType::RightAnti,
    JoinType::LeftMark,
    JoinType::RightMark,
];

/// A number as a key, a text as a key, and a number to compare.
fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int64, true),
        Field::new("t", DataType::Utf8View, true),
        Field::new("x", DataType::Int64, true),
    ]))
}

fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[usize::try_from(random.below(of.len() as u64)).unwrap()]
}

/// Batches of random rows; of `keys` keys, some of which are NULL.
fn batches(random: &mut Random, rows: u64, keys: u64) -> Vec<RecordBatch> {
    let batch = |random: &mut Random, rows: u64| {
        let mut numbers = |bound: u64| {
            let number = |_| (!random.chance(0.1)).then(|| random.below(bound).cast_signed());
            (0..rows).map(number).collect::<Int64Array>()
        };
        let (k, t, x) = (numbers(keys), numbers(3), numbers(100));
        let text = |number| format!("a text that is longer than a view holds: {number}");
        let t = t.iter().map(|number| number.map(text)).collect::<StringViewArray>();
        let columns: [ArrayRef; 3] = [Arc::new(k), Arc::new(t), Arc::new(x)];
        RecordBatch::try_new(schema(), columns.into()).unwrap()
    };
    let (mut all, mut left) = (Vec::new(), rows);
    while left > 0 {
        let taken = (1 + random.below(100)).min(left);
        all.push(batch(random, taken));
        left -= taken;
    }
    all
}

fn column(name: &str) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new_with_schema(name, &schema()).unwrap())
}

/// A condition on pairs: `left.x < right.x`.
fn condition() -> JoinFilter {
    let x = |side| ColumnIndex { index: 2, side };
    let fields = ["l", "r"].map(|name| Field::new(name, DataType::Int64, true));
    let [l, r] = [("l", 0), ("r", 1)].map(|(name, index)| Arc::new(Column::new(name, index)) as _);
    let less = Arc::new(BinaryExpr::new(l, Operator::Lt, r));
    let sides = vec![x(JoinSide::Left), x(JoinSide::Right)];
    JoinFilter::new(less, sides, Arc::new(Schema::new(fields.to_vec())))
}

fn input(batches: Vec<RecordBatch>) -> Arc<dyn ExecutionPlan> {
    let batches = stream::iter(batches.into_iter().map(Ok));
    Arc::new(StreamExec::new(Box::pin(RecordBatchStreamAdapter::new(schema(), batches))))
}

fn sorted_rows(rows: SendableRecordBatchStream) -> Vec<String> {
    let batches = runtime().unwrap().block_on(rows.try_collect::<Vec<_>>()).unwrap();
    let mut rows = Vec::new();
    for batch in batches {
        let options = FormatOptions::new().with_null("NULL");
        let columns = batch.columns().iter();
        let columns = columns.map(|column| ArrayFormatter::try_new(column, &options).unwrap());
        let columns = columns.collect::<Vec<_>>();
        rows.extend((0..batch.num_rows()).map(|row| {
            columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join(" ")
        }));
    }
    rows.sort();
    rows
}

/// A join of random rows, as a hash join.
struct Joined {
    left: Vec<RecordBatch>,
    right: Vec<RecordBatch>,
    join_type: JoinType,
    null_equality: NullEquality,
    has_two_keys: bool,
    has_condition: bool,
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
        Self {
            left,
            right,
            join_type: pick(random, &TYPES),
            null_equality: pick(random, &equality),
            has_two_keys: random.chance(0.3),
            has_condition: random.chance(0.7),
        }
    }

    fn join(&self) -> HashJoinExec {
        let keys = if self.has_two_keys { &["t", "k"][..] } else { &["k"] };
        HashJoinExec::try_new(
            input(self.left.clone()),
            input(self.right.clone()),
            keys.iter().map(|key| (column(key), column(key))).collect(),
            self.has_condition.then(condition),
            &self.join_type,
            None,
            PartitionMode::CollectLeft,
            self.null_equality,
            false,
        )
        .unwrap()
    }
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
        assert_eq!(has_spilled, !is_small, "round {round}");
        assert_eq!(folder.kept().0, 0, "round {round}");
    }
}
