//! Enumerations, by themselves.

use super::*;

fn labels(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

fn mood() -> &'static Enum {
    Enum::new("mood", labels(&["sad", "ok", "happy"])).expect("labels that can be so")
}

#[test]
fn the_same_labels_are_the_same_type() {
    assert!(std::ptr::eq(mood(), mood()));
    assert_ne!(Some(mood()), Enum::new("mood", labels(&["ok", "sad", "happy"])));
    assert_ne!(Some(mood()), Enum::new("other", labels(&["sad", "ok", "happy"])));
}

#[test]
fn labels_have_the_places_in_which_they_were_given() {
    assert_eq!(mood().place("sad"), Some(0));
    assert_eq!(mood().place("happy"), Some(2));
    assert_eq!(mood().place("SAD"), None);
    assert!(Enum::new("none", Vec::new()).is_some_and(|none| none.place("").is_none()));
}

#[test]
fn labels_that_cannot_be_are_refused() {
    for wrong in [&["a", "a"][..], &["a\0"], &["x".repeat(64).as_str()]] {
        assert_eq!(Enum::new("mood", labels(wrong)), None, "{wrong:?}");
    }
    let many = (0..=LABELS_MAX).map(|label| label.to_string()).collect::<Vec<_>>();
    assert_eq!(Enum::new("mood", many), None);
    assert!(Enum::new("mood", labels(&["x".repeat(63).as_str()])).is_some());
}

#[test]
fn fields_tell_the_type() {
    let of = ColumnType::Enum(mood());
    let field = of.field("m", true);
    assert_eq!(ColumnType::from_field(&field), Some(of));
    assert_eq!(Enum::of_field(&field), Some(mood()));
    assert_eq!(Enum::of_field(&ColumnType::Text.field("m", true)), None);
    let odd = Enum::new("s\u{1f}Odd \"one\"", labels(&["a\"b", "ä\n", "\\"])).expect("labels");
    assert_eq!(Enum::of_field(&ColumnType::Enum(odd).field("m", true)), Some(odd));
    assert_eq!(Enum::of_definition(odd.name(), &odd.definition()), Some(odd));
    assert_eq!(odd.to_string(), "s.\"Odd \"\"one\"\"\"");
}

#[test]
fn what_is_written_is_read_and_nothing_else() {
    let mut to = ByteWriter::new();
    ColumnType::Enum(mood()).encode(&mut to);
    let bytes = to.finish();
    let decoded = ColumnType::decode(&mut ByteReader::new(&bytes)).expect("just written");
    assert_eq!(decoded, Some(ColumnType::Enum(mood())));
    for end in 0..bytes.len() {
        assert!(ColumnType::decode(&mut ByteReader::new(&bytes[..end])).is_err(), "{end} bytes");
    }
    let twice = [24, 0, 0, 1, 0, 0, 0, b'm', 2, 0, 0, 0, 1, 0, 0, 0, b'a', 1, 0, 0, 0, b'a'];
    assert!(ColumnType::decode(&mut ByteReader::new(&twice)).is_err());
}

#[test]
fn columns_admit_labels_alone() {
    use super::super::Datum;
    let of = ColumnType::Enum(mood());
    assert!(of.admits(&Datum::text("ok")) && of.admits(&Datum::Null));
    assert!(!of.admits(&Datum::text("x")) && !of.admits(&Datum::Integer(1)));
}
