//! Sizes of results before they are made.

use super::result_size::{Argument, result_bytes};
use arrow::array::{ArrayRef, Int64Array, StringArray, StringViewArray};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ColumnarValue;
use std::sync::Arc;

fn column(array: impl arrow::array::Array + 'static) -> Argument {
    let array: ArrayRef = Arc::new(array);
    Argument::of(&ColumnarValue::Array(array))
}

fn constant(value: ScalarValue) -> Argument {
    Argument::of(&ColumnarValue::Scalar(value))
}

#[test]
fn repeated_texts_are_as_long_as_their_factors_product() {
    let texts = column(StringViewArray::from(vec![
        Some("ab"),
        None,
        Some("a longer text than a view has"),
    ]));
    let sizes = result_bytes("repeat", &[texts, column(Int64Array::from(vec![10, 10, 2]))]);
    assert_eq!((sizes.at(0), sizes.at(1), sizes.at(2)), (20, 0, 58));
    let sizes = result_bytes(
        "repeat",
        &[column(StringArray::from(vec!["abc"])), constant(ScalarValue::Int64(Some(-4)))],
    );
    assert_eq!(sizes.at(0), 0);
    assert_eq!(sizes.largest_and_sum(1), (0, 0));
}

#[test]
fn series_have_eight_bytes_for_each_step() {
    let number = |value| constant(ScalarValue::Int64(Some(value)));
    assert_eq!(result_bytes("range", &[number(1), number(5_000_000_000)]).at(0), 40_000_000_000);
    assert_eq!(result_bytes("range", &[number(10), number(0), number(-5)]).at(0), 24);
    assert_eq!(result_bytes("range", &[number(i64::MIN), number(i64::MAX)]).at(0), u64::MAX);
}

#[test]
fn replacements_are_bounded_by_the_places_that_there_may_be() {
    let text = |value: &str| constant(ScalarValue::from(value));
    assert_eq!(result_bytes("replace", &[text("aaaa"), text("aa"), text("bbbbb")]).at(0), 14);
    assert_eq!(result_bytes("replace", &[text("aaaa"), text(""), text("bbbbb")]).at(0), 4);
    let once = [text("aaaa"), text("a*"), text("bbb")];
    assert_eq!(result_bytes("regexp_replace", &once).at(0), 7);
}
