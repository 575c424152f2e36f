//! How wide rows are, and how many make a batch.

use super::Widths;
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, StringViewArray};
use gadus_base::ByteCount;
use std::sync::Arc;

#[test]
fn a_row_is_at_most_as_wide_as_the_widest_values_of_its_columns() {
    let view: ArrayRef = Arc::new(StringViewArray::from(vec!["x", "a text that is longer"]));
    let text: ArrayRef = Arc::new(StringArray::from(vec![Some("12345"), None]));
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let columns = [("v", view), ("t", text), ("n", number)];
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns);
    let mut widths = Widths::default();
    widths.add(&batch.unwrap());
    assert_eq!(widths, Widths { rows: 2, bytes: 22 + 5 + 32, widest: 21 + 5 + 16 });
}

#[test]
fn batches_have_fewer_rows_the_wider_those_are() {
    let rows = |bytes, widest| Widths { rows: 1, bytes, widest };
    let before = |bytes, widest| rows(bytes, widest).batch_rows(ByteCount::mib(256), false);
    assert_eq!(before(100, 100), 10_485);
    assert_eq!(before(100, 1 << 20), 16);
    assert_eq!(before(1 << 20, 1 << 20), 1);
    assert_eq!(before(u64::MAX, u64::MAX), 0);
    assert_eq!(rows(1, 4 << 10).batch_rows(ByteCount(1), false), 1024);
    // Those that have been given cannot come again in smaller batches.
    let after = |bytes, widest| rows(bytes, widest).batch_rows(ByteCount::mib(256), true);
    assert_eq!(after(100, 1 << 20), 167_772);
    assert_eq!(after(1 << 20, 1 << 20), 16);
}

#[test]
fn fewer_spilled_runs_are_merged_the_wider_their_rows() {
    let runs = |widest| super::merged_runs(widest, ByteCount::mib(256));
    assert_eq!(runs(100), 64);
    assert_eq!(runs(128 << 10), 64);
    assert_eq!(runs(1 << 20), 8);
    assert_eq!(runs(u64::MAX), 2);
}
