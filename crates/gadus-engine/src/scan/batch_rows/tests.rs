//! How many rows the next batch has, and what it holds.

use super::{BYTES_MAX, BatchRows, ROWS_FIRST, ROWS_MAX};
use arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

fn texts(rows: usize, bytes: usize) -> ArrayRef {
    let texts = std::iter::repeat_n("x".repeat(bytes), rows);
    Arc::new(StringViewArray::from_iter_values(texts))
}

#[test]
fn batches_grow_to_what_fits_and_shrink_where_rows_are_wider() {
    let rows = BatchRows { rows: AtomicUsize::new(ROWS_FIRST), learns: true };
    let after = |count, bytes| {
        rows.learn(&mut [texts(count, bytes)], count);
        rows.next()
    };
    assert_eq!(after(64, 10), 1024);
    assert_eq!(after(1024, 10), ROWS_MAX);
    assert_eq!(after(100, 100_000), BYTES_MAX / 100_000);
    assert_eq!(after(1, 5 << 20), 1);
    assert_eq!(after(1, 10), 16);
}

#[test]
fn wide_values_do_not_hold_those_around_them() {
    let rows = BatchRows { rows: AtomicUsize::new(ROWS_FIRST), learns: true };
    let held = |bytes: usize| {
        let mut some = [texts(100, bytes).slice(7, 2)];
        rows.learn(&mut some, 2);
        assert_eq!(some[0].as_string_view().value(1).len(), bytes);
        some[0].as_string_view().data_buffers().iter().map(|buffer| buffer.len()).sum::<usize>()
    };
    assert_eq!(held(10_000), 20_000);
    // Copying short ones is not worth while.
    assert!(held(100) > 200);
}
