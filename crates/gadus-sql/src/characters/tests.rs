//! Names of character types, and arrays of their values.

use super::{assigned, characters_of, cut, shown};
use arrow::array::{ArrayRef, AsArray, StringViewArray};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use gadus_engine::Characters;
use std::sync::Arc;

fn named(name: &str) -> Option<Characters> {
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql(name).unwrap();
    characters_of(&parser.parse_data_type().unwrap()).unwrap()
}

fn texts(texts: &[Option<&str>]) -> ArrayRef {
    Arc::new(texts.iter().copied().collect::<StringViewArray>())
}

fn values(array: &ArrayRef) -> Vec<Option<String>> {
    array.as_string_view().iter().map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn names_mean_types() {
    for (name, expected) in [
        ("VARCHAR(4)", Some(Characters::Varchar(4))),
        ("character varying(4)", Some(Characters::Varchar(4))),
        ("CHAR(4)", Some(Characters::Char(4))),
        ("char", Some(Characters::Char(1))),
        ("bpchar(3)", Some(Characters::Char(3))),
        ("\"char\"", Some(Characters::Byte)),
        ("name", Some(Characters::Name)),
        ("VARCHAR", None),
        ("text", None),
        ("mood", None),
    ] {
        assert_eq!(named(name), expected, "{name}");
    }
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql("varchar(0)").unwrap();
    assert!(characters_of(&parser.parse_data_type().unwrap()).is_err());
}

#[test]
fn arrays_are_cut_and_shown() {
    let long = texts(&[Some("ab"), None, Some("abcd")]);
    let of = Characters::Varchar(3);
    let error = assigned(&long, of).unwrap_err();
    assert_eq!(error.message(), "value too long for type character varying(3)");
    assert_eq!(error.diagnosis().and_then(|found| found.sql_state), Some("22001"));
    let expected = [Some("ab".to_owned()), None, Some("abc".to_owned())];
    assert_eq!(values(&cut(&long, of).unwrap()), expected);
    let char = Characters::Char(3);
    let stored = assigned(&texts(&[Some("a  "), None]), char).unwrap();
    assert_eq!(values(&stored), [Some("a".to_owned()), None]);
    assert_eq!(values(&shown(&stored, char).unwrap()), [Some("a  ".to_owned()), None]);
}
