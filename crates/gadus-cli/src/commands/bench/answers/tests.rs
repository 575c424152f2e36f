//! Which values agree.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, TimestampMicrosecondArray};
use arrow::datatypes::DataType;

use super::{Kinds, texts};

fn one(kind: DataType, double: bool) -> Kinds {
    Kinds { types: vec![kind], double: vec![double] }
}

fn agree(kinds: &Kinds, own: &str, other: &str) -> bool {
    kinds.agree(0, own, other)
}

#[test]
fn decimals_are_equal_but_for_zeros_at_their_end() {
    let decimal = one(DataType::Decimal128(38, 4), false);
    assert!(agree(&decimal, "12.5000", "12.5"));
    assert!(agree(&decimal, "12.0000", "12"));
    assert!(agree(&decimal, "100", "100"));
    assert!(!agree(&decimal, "12.5001", "12.5"));
    assert!(!agree(&decimal, "100", "10"));
    assert!(!agree(&decimal, "NULL", "0"));
    assert!(!agree(&one(DataType::Utf8View, false), "1.0", "1"));
}

#[test]
fn doubles_agree_within_their_tolerance() {
    let double = one(DataType::Float64, true);
    assert!(agree(&double, "1000000000.5", "1000000000.6"));
    assert!(!agree(&double, "1000000000.5", "1000000002.5"));
    let average = one(DataType::Decimal128(19, 6), true);
    assert!(agree(&average, "25.778735", "25.778735632183906"));
    assert!(!agree(&average, "25.778733", "25.778735632183906"));
    assert!(!agree(&average, "NULL", "25.778735632183906"));
}

#[test]
fn times_are_written_as_python_does() {
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_372_636_800_000_000]));
    let batch = RecordBatch::try_from_iter([("t", times)]).unwrap();
    assert_eq!(texts(&[batch]).unwrap(), [["2013-07-01 00:00:00"]]);
}
