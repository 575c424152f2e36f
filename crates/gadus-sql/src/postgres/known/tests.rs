//! Names as statements write them.

use super::{parts, quoted};

#[test]
fn names_are_read_as_they_are_written() {
    for (text, expected) in [
        ("people", &["people"][..]),
        (" Main . People ", &["main", "people"]),
        ("main.\"Odd one\"", &["main", "Odd one"]),
        ("\"a.b\".\"say \"\"hi\"\"\"", &["a.b", "say \"hi\""]),
    ] {
        assert_eq!(parts(text).expect("a name"), expected, "{text}");
    }
    for text in ["", ".", "a.", "\"a", "\"a\"b", "\"\""] {
        assert_eq!(parts(text), None, "{text}");
    }
}

#[test]
fn what_is_quoted_is_read_back() {
    for name in ["people", "Odd one", "say \"hi\"", "1st"] {
        assert_eq!(parts(&quoted(name)), Some(vec![name.to_owned()]));
    }
}
