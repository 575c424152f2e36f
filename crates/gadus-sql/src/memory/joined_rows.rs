//! Random inputs of joins, and what joins give, for the tests of several of them.

use super::stream_exec::StreamExec;
use crate::executor::runtime;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::{JoinSide, JoinType};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column};
use datafusion::physical_plan::joins::utils::{ColumnIndex, JoinFilter};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr, SendableRecordBatchStream};
use futures::{TryStreamExt, stream};
use gadus_base::Random;
use std::sync::Arc;

/// All types of joins.
pub(super) const TYPES: [JoinType; 10] = [
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
pub(super) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int64, true),
        Field::new("t", DataType::Utf8View, true),
        Field::new("x", DataType::Int64, true),
    ]))
}

pub(super) fn pick<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[usize::try_from(random.below(of.len() as u64)).unwrap()]
}

/// Batches of random rows; of `keys` keys, some of which are NULL.
pub(super) fn batches(random: &mut Random, rows: u64, keys: u64) -> Vec<RecordBatch> {
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

pub(super) fn column(name: &str) -> Arc<dyn PhysicalExpr> {
    Arc::new(Column::new_with_schema(name, &schema()).unwrap())
}

/// A condition on pairs: `left.x < right.x`.
pub(super) fn condition() -> JoinFilter {
    let x = |side| ColumnIndex { index: 2, side };
    let fields = ["l", "r"].map(|name| Field::new(name, DataType::Int64, true));
    let [l, r] = [("l", 0), ("r", 1)].map(|(name, index)| Arc::new(Column::new(name, index)) as _);
    let less = Arc::new(BinaryExpr::new(l, Operator::Lt, r));
    let sides = vec![x(JoinSide::Left), x(JoinSide::Right)];
    JoinFilter::new(less, sides, Arc::new(Schema::new(fields.to_vec())))
}

pub(super) fn input(batches: Vec<RecordBatch>) -> Arc<dyn ExecutionPlan> {
    let batches = stream::iter(batches.into_iter().map(Ok));
    Arc::new(StreamExec::new(Box::pin(RecordBatchStreamAdapter::new(schema(), batches))))
}

pub(super) fn sorted_rows(rows: SendableRecordBatchStream) -> Vec<String> {
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
