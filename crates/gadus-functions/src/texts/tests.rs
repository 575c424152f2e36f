//! Functions of texts, with PostgreSQL's answers.

use super::{chr, format, split_part, unistr};

const LIMIT: usize = 1 << 20;

#[test]
fn values_are_formatted_by_type_position_and_width() {
    let values = [Some("one"), None, Some("Two"), Some("-6"), Some("it's")];
    for (pattern, expected) in [
        ("%s %s|", "one |"),
        ("%3$I %1$I", "\"Two\" one"),
        ("%L %L", "'one' NULL"),
        ("%5$L %%", "'it''s' %"),
        ("[%6s][%-6s]", "[   one][      ]"),
        ("[%*4$s]", "[it's  ]"),
        ("%2$s%s", "Two"),
    ] {
        assert_eq!(format(pattern, &values, LIMIT).unwrap(), expected, "{pattern}");
    }
}

#[test]
fn wrong_formats_are_refused_in_postgresqls_words() {
    for (pattern, state, message) in [
        ("%", "22023", "unterminated format() type specifier"),
        ("%1$", "22023", "unterminated format() type specifier"),
        ("%x", "22023", "unrecognized format() type specifier \"x\""),
        ("%é", "22023", "unrecognized format() type specifier \"é\""),
        ("%s%s", "22023", "too few arguments for format()"),
        ("%*s", "22P02", "invalid input syntax for type integer: \"x\""),
        ("%0$s", "22023", "format specifies argument 0, but arguments are numbered from 1"),
        ("%*1s", "22023", "width argument position must be ended by \"$\""),
        ("%99999999999s", "22003", "number is out of range"),
        ("%2000000s", "54000", "requested length too large"),
    ] {
        let error = format(pattern, &[Some("x")], LIMIT).unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), (state, message), "{pattern}");
    }
    let error = format("%I", &[None], LIMIT).unwrap_err();
    assert_eq!(error.message, "null values cannot be formatted as an SQL identifier");
}

#[test]
fn unicode_escapes_become_characters() {
    let escaped = r"d\0061t\+000061 \\ \u00e9 \U0001F600 \D83D\DE00";
    assert_eq!(unistr(escaped).unwrap(), "data \\ é 😀 😀");
    for (text, state, message) in [
        (r"\D83D", "42601", "invalid Unicode surrogate pair"),
        (r"\DE00\D83D", "42601", "invalid Unicode surrogate pair"),
        (r"\0", "42601", "invalid Unicode escape"),
        (r"\0000", "22023", "invalid Unicode code point: 0000"),
        (r"\U00110000", "22023", "invalid Unicode code point: 110000"),
    ] {
        let error = unistr(text).unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), (state, message), "{text}");
    }
}

#[test]
fn characters_and_fields_have_numbers() {
    assert_eq!((chr(65).unwrap(), chr(0x1f600).unwrap()), ("A".to_owned(), "😀".to_owned()));
    for (code, sqlstate) in [(0, "54000"), (-1, "22023"), (0x11_0000, "54000"), (0xd800, "54000")] {
        assert_eq!(chr(code).unwrap_err().sqlstate, sqlstate, "{code}");
    }
    for (text, separator, field, expected) in [
        ("a@b", "@", 2, "b"),
        ("a@b", "@", -2, "a"),
        ("a@b", "@", 3, ""),
        ("a", "", 1, "a"),
        ("a", "", -1, "a"),
        ("a", "", 2, ""),
        ("aXXXb", "XX", -1, "Xb"),
    ] {
        assert_eq!(split_part(text, separator, field).unwrap(), expected, "{text} {field}");
    }
    assert_eq!(split_part("a", "@", 0).unwrap_err().sqlstate, "22023");
}
