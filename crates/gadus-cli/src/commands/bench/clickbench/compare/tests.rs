//! Which rows may stand where.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

use super::super::super::answers::{Answer, Kinds, Rows};
use super::{Parts, difference};
use crate::generate::hits::queries;

fn rows(rows: &[&[&str]]) -> Rows {
    rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
}

fn kinds() -> Kinds {
    Kinds { types: vec![DataType::Utf8View, DataType::Int64], double: vec![false; 2] }
}

/// Texts with their counts, and their places where the largest count comes first.
fn possible() -> Rows {
    let all: [&[&str]; 5] = [
        &["a", "9", "1", "1"],
        &["b", "5", "2", "3"],
        &["c", "5", "2", "3"],
        &["d", "2", "4", "5"],
        &["e", "2", "4", "5"],
    ];
    rows(&all)
}

#[test]
fn rows_that_the_order_leaves_equal_may_change_places() {
    let agrees = |own: &[&[&str]]| difference(&kinds(), 0, &rows(own), possible()).is_none();
    assert!(agrees(&[&["a", "9"], &["c", "5"], &["b", "5"], &["e", "2"]]));
    assert!(agrees(&[&["a", "9"], &["b", "5"], &["c", "5"], &["d", "2"]]));
    assert!(!agrees(&[&["b", "5"], &["a", "9"], &["c", "5"], &["d", "2"]]), "out of order");
    assert!(!agrees(&[&["a", "9"], &["b", "5"], &["b", "5"], &["d", "2"]]), "twice");
    assert!(!agrees(&[&["a", "9"], &["b", "5"], &["d", "2"], &["e", "2"]]), "one left out");
    assert!(!agrees(&[&["a", "9"], &["b", "6"], &["c", "5"], &["d", "2"]]), "another count");
}

#[test]
fn places_are_counted_from_the_offset() {
    let own = rows(&[&["c", "5"], &["d", "2"]]);
    assert_eq!(difference(&kinds(), 2, &own, possible()), None);
    let told = difference(&kinds(), 3, &own, possible()).unwrap();
    assert!(told.starts_with("row 4 of gadus is c|5"), "{told}");
}

#[test]
fn a_query_is_taken_apart() {
    let text = "SELECT URL, COUNT(*) AS c FROM hits WHERE URL <> '' GROUP BY URL ORDER BY c DESC \
                LIMIT 10 OFFSET 20";
    let parts = Parts::of(text).unwrap();
    let expected = Parts {
        select: "SELECT URL, COUNT(*) AS c",
        from: " FROM hits WHERE URL <> '' GROUP BY URL",
        order: "ORDER BY c DESC",
        limit: Some(10),
        offset: 20,
    };
    assert_eq!(parts, expected);
    let fields = [("url", DataType::Utf8View), ("c", DataType::Int64)];
    let fields = fields.map(|(name, kind)| Field::new(name, kind, false));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let own = Answer { schema, rows: rows(&[&["it's", "7"], &["b", "5"]]) };
    assert_eq!(
        parts.possible(&own),
        "SELECT * FROM (SELECT URL, COUNT(*) AS c, rank() OVER (ORDER BY c DESC), \
         count(*) OVER (ORDER BY c DESC) FROM hits WHERE URL <> '' GROUP BY URL) \
         AS possible (c0, c1, first_place, last_place) \
         WHERE first_place <= 30 AND last_place > 20 AND CAST(c0 AS VARCHAR) IN ('it''s', 'b')"
    );
    let alone = Parts::of("SELECT COUNT(*) FROM hits").unwrap();
    assert_eq!((alone.order, alone.limit, alone.offset), ("", None, 0));
}

#[test]
fn every_query_is_understood() {
    for query in queries::all() {
        let parts = Parts::of(query.text).unwrap();
        assert_eq!(parts.limit.is_some(), query.text.contains(" LIMIT "), "{}", query.text);
        assert_eq!(parts.order.is_empty(), !query.text.contains(" ORDER BY "), "{}", query.text);
    }
}
