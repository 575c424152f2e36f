//! How many rows fit a segment, by their bytes; rows share one text, which takes no memory.

use super::*;
use gadus_base::{CommitNumber, SegmentId};
use std::sync::Arc;

fn rows(bytes: usize, count: usize) -> Vec<Row> {
    let text: Arc<[u8]> = vec![b'x'; bytes].into();
    (0..count).map(|_| Row::from([Datum::Integer(1), Datum::Bytes(text.clone())])).collect()
}

fn with(rows: &[Row]) -> SegmentVersion {
    let mut segment = SegmentVersion::open(SegmentId(1), CommitNumber(1));
    segment.append(rows.iter().cloned(), CommitNumber(1));
    segment
}

#[test]
fn large_rows_fill_a_segment_by_their_bytes_and_others_by_their_number() {
    let (large, small) = (rows(3 << 19, 30), rows(LARGE_BYTES / 2, 400));
    assert_eq!(fitting(None, &large), 10);
    assert_eq!(fitting(Some(&with(&[])), &large), 10);
    assert_eq!(fitting(Some(&with(&large[..4])), &large), 6);
    assert_eq!(fitting(Some(&with(&large[..10])), &large), 0);
    assert_eq!(fitting(Some(&with(&large[..10])), &small), 400);
    let mixed = [&small[..], &large[..]].concat();
    assert_eq!(fitting(None, &mixed), 410);
    // One row fits, whatever it takes.
    let many = |count: usize| {
        let text: Arc<[u8]> = vec![b'x'; 3 << 20].into();
        Row::from(vec![Datum::Bytes(text); count])
    };
    assert_eq!(fitting(None, &[many(8), many(1)]), 1);
    assert_eq!(fitting(Some(&with(&[many(1)])), &[many(8)]), 0);
}

#[test]
fn a_segment_takes_what_its_rows_take() {
    assert_eq!(with(&[]).bytes(), 0);
    let bytes = with(&rows(1 << 20, 7)).bytes();
    assert!((7 << 20..8 << 20).contains(&bytes), "{bytes}");
}
