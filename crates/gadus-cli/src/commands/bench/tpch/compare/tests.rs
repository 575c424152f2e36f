//! What agrees and what does not.

use arrow::datatypes::{DataType, Field, Schema};

use super::super::super::answers::{Kinds, Rows};
use super::{Columns, ordering};

fn rows(rows: &[&[&str]]) -> Rows {
    rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
}

/// A number that is ordered by, and a text.
fn numbered(limited: bool) -> Columns {
    let types = vec![DataType::Int64, DataType::Utf8View];
    Columns { kinds: Kinds { types, double: vec![false; 2] }, ordering: vec![0], limited }
}

#[test]
fn rows_that_the_order_leaves_equal_come_in_any_order() {
    let own = rows(&[&["1", "a"], &["2", "b"], &["2", "c"], &["3", "d"]]);
    let swapped = rows(&[&["1", "a"], &["2", "c"], &["2", "b"], &["3", "d"]]);
    assert_eq!(numbered(false).difference(&own, &swapped), None);
    let wrong = rows(&[&["2", "b"], &["1", "a"], &["2", "c"], &["3", "d"]]);
    assert!(numbered(false).difference(&own, &wrong).is_some());
    assert!(numbered(false).difference(&own, &own[..3].to_vec()).is_some());
}

#[test]
fn a_limit_takes_any_of_the_last_equal_rows() {
    let own = rows(&[&["1", "a"], &["2", "b"], &["2", "c"]]);
    let others = rows(&[&["1", "a"], &["2", "x"], &["2", "c"]]);
    assert_eq!(numbered(true).difference(&own, &others), None);
    assert!(numbered(false).difference(&own, &others).is_some());
    let wrong = rows(&[&["1", "a"], &["2", "b"], &["3", "c"]]);
    assert!(numbered(true).difference(&own, &wrong).is_some());
}

#[test]
fn the_last_order_by_names_the_ordering_columns() {
    let field = |name: &str| Field::new(name, DataType::Int64, false);
    let schema = Schema::new(vec![field("a"), field("b"), field("c")]);
    let text = "SELECT a, b, c FROM t\nORDER BY c DESC, a\nLIMIT 10";
    assert_eq!(ordering(text, &schema).unwrap(), [2, 0]);
    assert_eq!(ordering("SELECT a, b, c FROM t", &schema).unwrap(), [0; 0]);
    assert!(ordering("SELECT a\nORDER BY d", &schema).is_err());
}
