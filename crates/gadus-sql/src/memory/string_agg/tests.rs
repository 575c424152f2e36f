//! Texts that are joined in parts, counted and bounded.

use super::bounded_string_agg;
use crate::memory::{Memory, SpillFolder};
use arrow::array::{ArrayRef, AsArray, BooleanArray, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::EmitTo;
use datafusion::physical_expr::aggregate::{AggregateExprBuilder, AggregateFunctionExpr};
use datafusion::physical_expr::expressions::Column;
use gadus_base::ByteCount;
use std::sync::Arc;

fn expression(limit: ByteCount) -> AggregateFunctionExpr {
    let column = |name| Field::new(name, DataType::Utf8View, true);
    let schema = Schema::new(vec![column("value"), column("delimiter")]);
    let function = bounded_string_agg(&Memory::new(1, limit, None, SpillFolder::new(None)));
    let columns: [Arc<dyn datafusion::physical_expr::PhysicalExpr>; 2] =
        [Arc::new(Column::new("value", 0)), Arc::new(Column::new("delimiter", 1))];
    let builder = AggregateExprBuilder::new(function, columns.to_vec());
    builder.schema(Arc::new(schema)).alias("texts").build().unwrap()
}

fn columns(rows: &[(Option<&str>, Option<&str>)]) -> [ArrayRef; 2] {
    let values = rows.iter().map(|(value, _)| *value).collect::<StringViewArray>();
    let delimiters = rows.iter().map(|(_, delimiter)| *delimiter).collect::<StringViewArray>();
    [Arc::new(values), Arc::new(delimiters)]
}

#[test]
fn each_value_has_its_own_delimiter_in_front_also_across_parts() {
    let expression = expression(ByteCount::mib(64));
    let rows = [
        (Some("a"), Some("<>")),
        (None, Some("!")),
        (Some("b"), None),
        (Some("c"), Some(", ")),
        (Some(""), Some("/")),
    ];
    for split in 0..=rows.len() {
        let mut merged = expression.create_accumulator().unwrap();
        for part in [&rows[..split], &rows[split..]] {
            let mut text = expression.create_accumulator().unwrap();
            text.update_batch(&columns(part)).unwrap();
            let states = text.state().unwrap();
            let states = states.iter().map(|state| state.to_array().unwrap());
            merged.merge_batch(&states.collect::<Vec<_>>()).unwrap();
        }
        let joined = merged.evaluate().unwrap();
        assert_eq!(joined, ScalarValue::LargeUtf8(Some("ab, c/".to_owned())), "{split}");
        assert_eq!(merged.evaluate().unwrap(), joined, "a window asks more than once");
    }
}

#[test]
fn groups_leave_in_parts_and_without_values_are_null() {
    let expression = expression(ByteCount::mib(64));
    let mut texts = expression.create_groups_accumulator().unwrap();
    let rows = columns(&[
        (Some("a"), Some(";")),
        (Some("b"), Some(";")),
        (None, Some(";")),
        (Some("c"), Some(";")),
        (Some("d"), Some(";")),
    ]);
    let filter = BooleanArray::from(vec![Some(true), Some(true), Some(true), None, Some(true)]);
    texts.update_batch(&rows, &[0, 1, 2, 3, 0], Some(&filter), 4).unwrap();
    let states = texts.state(EmitTo::First(1)).unwrap();
    assert_eq!(states[0].as_string::<i64>().value(0), ";a;d");
    // The last group becomes the first's other part: what is left has moved up.
    texts.merge_batch(&states, &[0], 3).unwrap();
    let texts = texts.evaluate(EmitTo::All).unwrap();
    let texts = texts.as_string::<i64>();
    assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("b;a;d"), None, None]);
}

#[test]
fn buffers_are_counted_twice_until_they_leave() {
    let mut texts = expression(ByteCount::mib(64)).create_groups_accumulator().unwrap();
    let megabyte = "x".repeat(1 << 20);
    for _ in 0..4 {
        let rows = columns(&[(Some(&megabyte), Some(","))]);
        texts.update_batch(&rows, &[0], None, 1).unwrap();
    }
    assert!((8 << 20..11 << 20).contains(&texts.size()), "{}", texts.size());
    drop(texts.evaluate(EmitTo::All).unwrap());
    assert!(texts.size() < 1000, "{}", texts.size());
}

#[test]
fn a_text_beyond_its_part_of_the_limit_is_refused() {
    let mut text = expression(ByteCount::mib(64)).create_accumulator().unwrap();
    let megabyte = "x".repeat(1 << 20);
    let rows = columns(&[(Some(&megabyte), Some(","))]);
    let added = (0..20).find_map(|count| Some((count, text.update_batch(&rows).err()?)));
    let (count, error) = added.expect("twenty megabytes are beyond a quarter of the limit");
    assert_eq!(count, 15);
    assert!(error.to_string().contains("gadus.memory_limit"), "{error}");
}
