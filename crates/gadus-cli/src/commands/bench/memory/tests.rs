//! Lines of workers, and answers that differ.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

use super::answering::Asked;
use super::{Found, compare};
use crate::generate::tpch::queries;

fn asked(number: u8, answer: Result<&[&[&str]], &str>) -> Asked {
    let kinds = [DataType::Utf8View, DataType::Decimal128(38, 4)];
    let fields = kinds.map(|kind| Field::new("value", kind, true));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let rows = |rows: &[&[&str]]| {
        rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect()
    };
    let answer = answer.map(|all| super::Answer { schema, rows: rows(all) });
    let answer = answer.map_err(str::to_owned);
    Asked { number, seconds: 1.5, spilled_bytes: 7, resident_peak_bytes: 9, answer }
}

fn found(asked: Asked) -> Found {
    Found { asked: vec![asked], ..Found::default() }
}

#[test]
fn a_line_is_read_as_it_was_written() {
    for one in [asked(3, Ok(&[&["a", "1.0000"], &["b", "NULL"]])), asked(4, Err("too much"))] {
        let read = Asked::read(&one.line().to_string()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{one:?}"));
    }
    assert!(Asked::read("{}").is_err());
}

#[test]
fn another_answer_is_an_error_and_a_refusal_is_none() {
    // Without ORDER BY.
    let all = queries::validation(1.0).filter(|query| query.number == 6).collect::<Vec<_>>();
    let right = found(asked(6, Ok(&[&["a", "1.0000"]])));
    assert!(compare(&all, &right, &found(asked(6, Ok(&[&["a", "1.0000"]])))).is_ok());
    let told = compare(&all, &found(asked(6, Ok(&[&["a", "2.0000"]]))), &right).unwrap_err();
    assert!(told.to_string().contains("query 6: gadus has a|2.0000"), "{told}");
    assert!(compare(&all, &found(asked(6, Err("too much"))), &right).is_ok());
}
