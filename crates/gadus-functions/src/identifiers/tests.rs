//! Quoting and taking apart, with PostgreSQL's answers.

use super::{parse_ident, quote_ident, quote_literal, quote_nullable};

#[test]
fn literals_are_quoted_with_escapes_only_for_backslashes() {
    assert_eq!(quote_literal("O'Hara"), "'O''Hara'");
    assert_eq!(quote_literal(r"a\b"), r"E'a\\b'");
    assert_eq!(quote_nullable(None), "NULL");
    assert_eq!(quote_nullable(Some("")), "''");
}

#[test]
fn names_are_quoted_if_they_would_be_read_otherwise() {
    for plain in ["a", "_x9", "name", "abs", "value"] {
        assert_eq!(quote_ident(plain), plain);
    }
    for (name, quoted) in [
        ("", "\"\""),
        ("A", "\"A\""),
        ("9a", "\"9a\""),
        ("a$", "\"a$\""),
        ("é", "\"é\""),
        ("select", "\"select\""),
        ("between", "\"between\""),
        ("a\"b", "\"a\"\"b\""),
    ] {
        assert_eq!(quote_ident(name), quoted);
    }
}

#[test]
fn qualified_names_are_taken_apart() {
    assert_eq!(parse_ident(r#" Foo . "B""ar" . baz$9 "#, true).unwrap(), ["foo", "B\"ar", "baz$9"]);
    assert_eq!(parse_ident("a.b(c)", false).unwrap(), ["a", "b"]);
    let refused = |text: &str| {
        let error = parse_ident(text, true).unwrap_err();
        assert_eq!(error.sqlstate, "22023");
        assert_eq!(error.message, format!("string is not a valid identifier: \"{text}\""));
        error.detail.unwrap_or_default()
    };
    assert_eq!(refused("a.b(c)"), "");
    assert_eq!(refused(".a"), "No valid identifier before \".\".");
    assert_eq!(refused("a."), "No valid identifier after \".\".");
    assert_eq!(refused("\"a"), "String has unclosed double quotes.");
    assert_eq!(refused("\"\""), "Quoted identifier must not be empty.");
}
