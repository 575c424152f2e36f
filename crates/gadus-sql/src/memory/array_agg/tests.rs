//! Sizes of lists of long texts.

use super::counted_array_agg;
use arrow::array::{ArrayRef, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::Column;
use std::sync::Arc;

fn texts(rows: usize) -> [ArrayRef; 1] {
    let texts = std::iter::repeat_n("x".repeat(100_000), rows);
    [Arc::new(StringViewArray::from_iter_values(texts))]
}

fn expression() -> AggregateFunctionExpr {
    let schema = Schema::new(vec![Field::new("t", DataType::Utf8View, true)]);
    let builder =
        AggregateExprBuilder::new(counted_array_agg(), vec![Arc::new(Column::new("t", 0))]);
    builder.schema(Arc::new(schema)).alias("lists").build().unwrap()
}

#[test]
fn one_list_counts_its_texts() {
    let mut list = expression().create_accumulator().unwrap();
    list.update_batch(&texts(30)).unwrap();
    assert!((3_000_000..3_100_000).contains(&list.size()), "{}", list.size());
    let states = list.state().unwrap();
    let states = states.iter().map(|state| state.to_array().unwrap()).collect::<Vec<_>>();
    let mut merged = expression().create_accumulator().unwrap();
    merged.merge_batch(&states).unwrap();
    assert!((3_000_000..3_100_000).contains(&merged.size()), "{}", merged.size());
}

#[test]
fn lists_of_groups_count_their_texts_until_they_leave() {
    let mut lists = expression().create_groups_accumulator().unwrap();
    lists.update_batch(&texts(30), &(0..30).collect::<Vec<_>>(), None, 30).unwrap();
    assert!((3_000_000..3_100_000).contains(&lists.size()), "{}", lists.size());
    let some = lists.state(EmitTo::First(10)).unwrap();
    assert!((2_000_000..2_100_000).contains(&lists.size()), "{}", lists.size());
    lists.merge_batch(&some, &(20..30).collect::<Vec<_>>(), 30).unwrap();
    assert!((3_000_000..3_100_000).contains(&lists.size()), "{}", lists.size());
    lists.evaluate(EmitTo::All).unwrap();
    assert!(lists.size() < 100_000, "{}", lists.size());
}
