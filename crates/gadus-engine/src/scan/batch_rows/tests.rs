//! How many rows the next batch has, and what it holds.

use super::{BYTES_MAX, BatchRows, ROWS_FIRST, ROWS_MAX, ScannedBatch};
use arrow::array::{ArrayRef, AsArray, RecordBatch, StringViewArray};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

fn texts(rows: usize, bytes: usize) -> RecordBatch {
    let texts = std::iter::repeat_n("x".repeat(bytes), rows);
    batch(StringViewArray::from_iter_values(texts))
}

fn batch(texts: StringViewArray) -> RecordBatch {
    RecordBatch::try_from_iter([("t", Arc::new(texts) as ArrayRef)]).unwrap()
}

fn held(piece: &RecordBatch) -> usize {
    let buffers = piece.column(0).as_string_view().data_buffers();
    buffers.iter().map(|buffer| buffer.len()).sum()
}

#[test]
fn batches_grow_to_what_fits_and_shrink_where_rows_are_wider() {
    let rows = BatchRows { rows: AtomicUsize::new(ROWS_FIRST), learns: true };
    let after = |count, bytes| {
        let pieces = rows.pieces(texts(count, bytes)).map(|piece| piece.num_rows());
        assert_eq!(pieces.sum::<usize>(), count);
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
        let pieces = rows.pieces(texts(100, bytes).slice(7, 2)).map(ScannedBatch::into_own);
        let pieces = pieces.collect::<Vec<_>>();
        assert_eq!(pieces.len(), 1);
        assert_eq!(pieces[0].column(0).as_string_view().value(1).len(), bytes);
        held(&pieces[0])
    };
    assert_eq!(held(10_000), 20_000);
    // Copying short ones is not worth while.
    assert!(held(100) > 200);
}

/// Rows that show one value of a dictionary are as wide as if each had its own, and are not given their own.
#[test]
fn what_repeats_is_cut_to_pieces_and_not_copied() {
    let rows = BatchRows { rows: AtomicUsize::new(ROWS_MAX), learns: true };
    let one = StringViewArray::from_iter_values(["x".repeat(1 << 20)]);
    let views = vec![one.views()[0]; 301];
    let all = StringViewArray::new(views.into(), one.data_buffers().to_vec(), None);
    let pieces = rows.pieces(batch(all)).map(ScannedBatch::into_own).collect::<Vec<_>>();
    let counts = pieces.iter().map(RecordBatch::num_rows).collect::<Vec<_>>();
    assert_eq!((counts.len(), counts[0], counts[75]), (76, 4, 1));
    assert!(pieces.iter().all(|piece| held(piece) == 1 << 20));
    // One that is wider than a batch comes alone.
    let wide = ["x".repeat(5 << 20), "y".to_owned(), "z".to_owned()];
    let pieces = rows.pieces(batch(StringViewArray::from_iter_values(wide)));
    assert_eq!(pieces.map(|piece| piece.num_rows()).collect::<Vec<_>>(), [1, 2]);
}
