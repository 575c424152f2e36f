//! What is kept of reads, and when it is kept no more.

use super::*;

fn equal(column: usize, value: i64) -> Predicate {
    Predicate { column, test: Test::Compare(Comparison::Equal, Datum::Integer(value)) }
}

fn less(column: usize, value: i64) -> Predicate {
    Predicate { column, test: Test::Compare(Comparison::Less, Datum::Integer(value)) }
}

fn whole(reads: &TableReads) -> Option<Vec<usize>> {
    reads.whole.as_ref().map(|columns| columns.iter().copied().collect())
}

#[test]
fn a_read_is_new_once() {
    let mut reads = TableReads::default();
    assert!(reads.add(&[less(1, 5)], [2]) && !reads.add(&[less(1, 5)], [2]));
    assert!(reads.add(&[less(1, 5)], [3]), "of another column");
    assert!(reads.add(&[equal(0, 5)], [2]) && !reads.add(&[equal(0, 5)], [2]));
    assert!(reads.add(&[], []), "the number of rows");
    assert!(!reads.add(&[], []));
    assert!(reads.add(&[], [1, 2, 3]));
    assert!(!reads.add(&[less(1, 6)], [2]), "whoever has read all has read a part");
    assert!(reads.add(&[less(4, 6)], [2]), "by a column that was not looked at");
}

#[test]
fn values_of_the_same_columns_are_kept_together_in_whatever_order() {
    let mut reads = TableReads::default();
    for key in 0..5_000 {
        assert!(reads.add(&[equal(1, key), equal(0, 2)], []));
        assert!(!reads.add(&[equal(0, 2), equal(1, key)], []));
    }
    assert_eq!((reads.keyed.len(), reads.passing.len(), whole(&reads)), (1, 0, None));
    // One column cannot be two values: that is no key.
    reads.add(&[equal(1, 2), equal(1, 3)], []);
    assert_eq!((reads.keyed.len(), reads.passing.len()), (1, 1));
}

#[test]
fn beyond_the_limits_all_that_was_looked_at_is_read_of_all_rows() {
    let mut many = TableReads::default();
    for value in 0..=i64::try_from(PREDICATES_MAX).unwrap() {
        assert_eq!(whole(&many), None);
        many.add(&[less(3, value)], [5]);
    }
    assert_eq!(whole(&many), Some(vec![3, 5]));
    many.add(&[equal(1, 1)], [2]);
    assert_eq!(whole(&many), Some(vec![1, 2, 3, 5]));
    assert!(many.passing.is_empty() && many.keyed.is_empty());
    let mut long = TableReads::default();
    let text = Datum::Bytes(vec![7; BYTES_MAX].into());
    long.add(&[Predicate { column: 4, test: Test::Compare(Comparison::Equal, text) }], []);
    assert_eq!(whole(&long), Some(vec![4]));
}
