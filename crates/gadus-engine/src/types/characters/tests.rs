//! Values of character types: what is stored, cut and shown.

use super::Characters;
use crate::types::ColumnType;
use gadus_base::{ByteReader, ByteWriter};

#[test]
fn assignments_refuse_what_is_too_long() {
    let varchar = Characters::Varchar(3);
    assert_eq!(varchar.assigned("abc").as_deref(), Some("abc"));
    assert_eq!(varchar.assigned("ab   ").as_deref(), Some("ab "));
    assert_eq!(varchar.assigned("abcd"), None);
    assert_eq!(varchar.assigned("äöü").as_deref(), Some("äöü"));
    let char = Characters::Char(3);
    assert_eq!(char.assigned("a  ").as_deref(), Some("a"));
    assert_eq!(char.assigned("abc     ").as_deref(), Some("abc"));
    assert_eq!(char.assigned("abcd"), None);
}

#[test]
fn casts_cut() {
    assert_eq!(Characters::Varchar(2).cut("äöü"), "äö");
    assert_eq!(Characters::Char(2).cut("a b"), "a");
    assert_eq!(Characters::Name.cut(&"x".repeat(70)).len(), 63);
    assert_eq!(Characters::Name.cut(&"ä".repeat(40)).len(), 62);
    assert_eq!(Characters::Byte.cut("abc"), "a");
    assert_eq!(Characters::Byte.cut("\\101"), "A");
    assert_eq!(Characters::Byte.cut(""), "");
}

#[test]
fn values_are_shown_as_in_postgresql() {
    assert_eq!(Characters::Char(4).shown("ä"), "ä   ");
    assert_eq!(Characters::Varchar(4).shown("a"), "a");
    let byte = Characters::Byte.cut("\\377").into_owned();
    assert_eq!(Characters::Byte.shown(&byte), "\\377");
    assert_eq!(Characters::Byte.shown("\\377"), "\\377");
}

#[test]
fn types_are_read_as_they_were_written() {
    for of in [Characters::Varchar(7), Characters::Char(1), Characters::Name, Characters::Byte] {
        let column_type = ColumnType::Characters(of);
        let field = column_type.field("a", true);
        assert_eq!(ColumnType::from_field(&field), Some(column_type));
        let mut bytes = ByteWriter::new();
        column_type.encode(&mut bytes);
        let bytes = bytes.finish();
        let read = ColumnType::decode(&mut ByteReader::new(&bytes)).unwrap();
        assert_eq!(read, Some(column_type));
    }
}
