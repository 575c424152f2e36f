//! Literals of every type, and texts that stay as they are.

use super::*;
use crate::bound::Constant;
use crate::provider::{Relation, RelationColumn};
use crate::types::constants::*;
use std::sync::Arc;

#[derive(Debug)]
struct Moods;

impl Provider for Moods {
    fn relation(&self, _: Option<&str>, _: &str) -> Result<Option<Arc<Relation>>> {
        Ok(None)
    }

    fn type_named(&self, _: Option<&str>, _: &str) -> Result<Option<TypeId>> {
        Ok(None)
    }

    fn type_name(&self, _: TypeId) -> Option<String> {
        Some("mood".to_owned())
    }

    fn fields(&self, _: TypeId) -> Option<Arc<[RelationColumn]>> {
        None
    }

    fn enum_labels(&self, _: TypeId) -> Option<Arc<[String]>> {
        Some(["sad".to_owned(), "happy".to_owned()].into())
    }
}

fn shown(text: &str, target: TypeId) -> String {
    match read_if_certain(text, target, &Moods) {
        Ok(Some(Constant::Text(text))) => text,
        Ok(Some(other)) => format!("{other:?}"),
        Ok(None) => "as written".to_owned(),
        Err(error) => format!("{} {}", error.sql_state, error.message),
    }
}

#[test]
fn numbers_are_read_by_their_types() {
    assert_eq!(shown(" -0012 ", INT4), "Integer(-12)");
    assert_eq!(shown("32768", INT2), "22003 value \"32768\" is out of range for type smallint");
    assert_eq!(shown("-32768", INT2), "Integer(-32768)");
    assert_eq!(shown("1.5", INT8), "22P02 invalid input syntax for type bigint: \"1.5\"");
    assert_eq!(shown("1e3", NUMERIC), "1000");
    assert_eq!(shown("-00.50", NUMERIC), "-0.50");
    assert_eq!(shown("12.5e-3", NUMERIC), "0.0125");
    assert_eq!(shown("1e131072", NUMERIC), "22003 value overflows numeric format");
    assert_eq!(shown("-inf", NUMERIC), "-Infinity");
    assert_eq!(shown("1e400", FLOAT8), "22003 \"1e400\" is out of range for type double precision");
    assert_eq!(shown("0.1", FLOAT4), "0.1");
    assert_eq!(shown("-1", OID), "Integer(4294967295)");
    assert_eq!(shown("4294967296", OID), "22003 value \"4294967296\" is out of range for type oid");
    assert_eq!(shown("0x10", FLOAT8), "as written");
}

#[test]
fn dates_are_read_in_iso_form() {
    assert_eq!(shown("2024-2-29", DATE), "2024-02-29");
    assert_eq!(shown("January 8, 1999", DATE), "1999-01-08");
    assert_eq!(shown("0044-03-15 BC", DATE), "0044-03-15 BC");
    assert_eq!(
        shown("2023-02-29", DATE),
        "22008 date/time field value out of range: \"2023-02-29\""
    );
    assert_eq!(shown("1/2/2024", DATE), "as written");
    assert_eq!(shown("10:00 2024-01-01", TIMESTAMP), "as written");
    assert_eq!(shown("now", TIMESTAMP), "as written");
    assert_eq!(shown("2024-01-01T23:59:59.9999999", TIMESTAMP), "2024-01-02 00:00:00");
    assert_eq!(shown("2024-01-01 12:00+05:30", TIMESTAMPTZ), "2024-01-01 06:30:00+00");
    assert_eq!(shown("2024-01-01 12:00", TIMESTAMPTZ), "as written");
    assert_eq!(shown("24:00", TIME), "24:00:00");
    assert_eq!(
        shown("12:00+16", TIMETZ),
        "22009 time zone displacement out of range: \"12:00+16\""
    );
}

#[test]
fn intervals_are_sums_of_their_fields() {
    assert_eq!(shown("1 year 2 mons 3 days 04:05:06", INTERVAL), "14 mons 3 days 14706 secs");
    assert_eq!(shown("1.5 days ago", INTERVAL), "-1 days -43200 secs");
    assert_eq!(shown("1-2", INTERVAL), "14 mons");
    assert_eq!(shown("P1D", INTERVAL), "as written");
    assert_eq!(shown("day", INTERVAL), "22007 invalid input syntax for type interval: \"day\"");
}

#[test]
fn documents_are_checked_and_stay() {
    assert!(json::is_valid("{\"a\": [1, 2.5e3, \"\\u00e4\"]}").expect("it is valid"));
    let found = json::check("{\"a\" 1}", json::Kind::Text).expect_err("a colon is missing");
    assert_eq!(found.detail.as_deref(), Some("Expected \":\", but found \"1\"."));
    assert_eq!(shown("\"\\u0000\"", JSONB), "22P05 unsupported Unicode escape sequence");
    assert_eq!(shown("\"\\u0000\"", JSON), "\"\\u0000\"");
}

#[test]
fn elements_of_arrays_are_read_by_their_type() {
    assert_eq!(arrays::elements("{ a b ,\"c,d\", \\e }").expect("read"), ["a b", "c,d", "e"]);
    assert_eq!(shown("{ 1, 02 ,NULL}", INT4_ARRAY), "{1,2,NULL}");
    assert_eq!(shown("{{1},{2,3}}", INT4_ARRAY), "22P02 malformed array literal: \"{{1},{2,3}}\"");
    assert_eq!(shown("[0:1]={1,2}", INT4_ARRAY), "as written");
    assert_eq!(shown("{{{1}},{2}}", INT4_ARRAY), "as written");
    assert_eq!(shown("{\"a b\",\"\"}", TEXT_ARRAY), "{\"a b\",\"\"}");
    assert_eq!(shown("{x}", INT4_ARRAY), "22P02 invalid input syntax for type integer: \"x\"");
}

#[test]
fn bytes_and_labels_are_checked() {
    assert_eq!(shown("\\xDE ad", BYTEA), "\\xdead");
    assert_eq!(shown("a\\001\\\\", BYTEA), "\\x61015c");
    assert_eq!(shown("xA", BIT), "1010");
    assert_eq!(
        shown("{A0EEBC99-9C0B4EF8-bb6d-6bb9-bd380a11}", UUID),
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    );
    let mood = TypeId::scalar(BaseType::Enum("mood"));
    assert_eq!(shown("angry", mood), "22P02 invalid input value for enum mood: \"angry\"");
    assert_eq!(shown("sad", mood), "sad");
}
