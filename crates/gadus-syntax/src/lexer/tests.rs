//! Tests of tokens, and of what names and texts stand for.

use super::*;

/// Returns the texts of all tokens.
fn texts(text: &str) -> Vec<&str> {
    let tokens = tokenize(text).unwrap();
    let tokens = tokens.iter().filter(|token| token.kind != TokenKind::End);
    tokens.map(|token| token.span.of(text)).collect()
}

fn decoded(text: &str) -> String {
    let token = tokenize(text).unwrap()[0];
    match token.kind {
        TokenKind::Text(form) => decode_text(text, token, form, ESCAPE).unwrap(),
        _ => decode_name(text, token, ESCAPE).unwrap(),
    }
}

fn message(text: &str) -> String {
    tokenize(text).unwrap_err().message
}

#[test]
fn operators_are_as_long_as_postgresql_makes_them() {
    assert_eq!(texts("1-1"), ["1", "-", "1"]);
    assert_eq!(texts("a<-1"), ["a", "<", "-", "1"]);
    assert_eq!(texts("a@-1"), ["a", "@-", "1"]);
    assert_eq!(texts("a->>'x'"), ["a", "->>", "'x'"]);
    assert_eq!(texts("a*/* no */b"), ["a", "*", "b"]);
    assert_eq!(texts("a--b\n-1"), ["a", "-", "1"]);
    assert_eq!(texts("a=?"), ["a", "=", "?"]);
    assert_eq!(texts("a @? b ?| c ?& d"), ["a", "@?", "b", "?|", "c", "?&", "d"]);
    assert_eq!(texts("?||?"), ["?", "||", "?"]);
    assert_eq!(
        texts("a=>b a:=b a::b a.*"),
        ["a", "=>", "b", "a", ":=", "b", "a", "::", "b", "a", ".", "*"]
    );
}

#[test]
fn numbers_have_underscores_prefixes_and_exponents() {
    assert_eq!(
        texts("1_000 0xFF_ff 0o17 0b1 1.5e-3 .5 1. 1..2"),
        ["1_000", "0xFF_ff", "0o17", "0b1", "1.5e-3", ".5", "1.", "1", "..", "2"]
    );
    for junk in ["1a", "1_", "1__0", "0x", "0b2", "1e", "1.5f"] {
        assert!(message(junk).starts_with("trailing junk after numeric literal"), "{junk}");
    }
}

#[test]
fn parameters_are_no_slices() {
    let kinds =
        |text: &str| tokenize(text).unwrap().iter().map(|token| token.kind).collect::<Vec<_>>();
    assert_eq!(kinds("$1 :name $name :2")[..4], [TokenKind::Parameter; 4]);
    assert!(!kinds("a[1:n]").contains(&TokenKind::Parameter));
    assert!(message("$1a").starts_with("trailing junk after parameter"));
}

#[test]
fn texts_stand_for_what_their_forms_say() {
    for (text, expected) in [
        ("'it''s'", "it's"),
        ("'a'\n  'b'", "ab"),
        ("'a' -- more\n 'b'", "a"),
        ("'a'\n-- more\n 'b'", "ab"),
        (r"'a\n'", r"a\n"),
        (r"E'\x41\101\u0041\U00000041\n\'\\''x'", "AAAA\n'\\'x"),
        (r"E'\ud83d\ude00'", "😀"),
        (r"E'\xc3\xa9'", "é"),
        (r"U&'\0041\+000042\\'", r"AB\"),
        ("$$it's$$", "it's"),
        ("$a$ $$ $b$ $a$", " $$ $b$ "),
        ("$ä$x$ä$", "x"),
        ("N'x'", "x"),
        ("Name", "name"),
        ("\"Na\"\"me\"", "Na\"me"),
        ("U&\"d\\0061t\"", "dat"),
        ("Straße", "straße"),
    ] {
        assert_eq!(decoded(text), expected, "{text}");
    }
}

#[test]
fn what_has_no_end_is_an_error() {
    assert_eq!(message("SELECT 'a"), "unterminated quoted string at or near \"'a\"");
    assert_eq!(message("/* a /* b */"), "unterminated /* comment at or near \"/* a /* b */\"");
    assert_eq!(message("\"a"), "unterminated quoted identifier at or near \"\"a\"");
    assert_eq!(message("$a$ x"), "unterminated dollar-quoted string at or near \"$a$ x\"");
    assert_eq!(message("\"\""), "zero-length delimited identifier");
    assert_eq!(message("SELECT \\"), "syntax error at or near \"\\\"");
    let text = r"E'\ud83d'";
    let token = tokenize(text).unwrap()[0];
    let error = decode_text(text, token, TextForm::Escaped, ESCAPE).unwrap_err();
    assert_eq!(error.kind.sql_state(), "22025");
}

#[test]
fn names_are_cut_at_63_bytes() {
    let long = "ä".repeat(40);
    assert_eq!(decoded(&long), "ä".repeat(31));
}
