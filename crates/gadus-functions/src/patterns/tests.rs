//! Regular expressions with PostgreSQL's answers.

use super::{
    Search, regexp_count, regexp_instr, regexp_like, regexp_match, regexp_matches, regexp_replace,
    regexp_replace_by_flags, regexp_split, regexp_substr, similar_to_escape, substring,
};

/// Captures of the first match, as one text.
fn captures(text: &str, pattern: &str) -> String {
    let Some(captures) = regexp_match(text, pattern, "").unwrap() else { return "none".to_owned() };
    let shown = captures.iter().map(|one| one.as_deref().unwrap_or("NULL"));
    shown.collect::<Vec<_>>().join("|")
}

fn refused(pattern: &str) -> String {
    let error = regexp_like("", pattern, "").unwrap_err();
    let state = if error.message.contains("not supported") { "0A000" } else { "2201B" };
    assert_eq!(error.sqlstate, state, "{pattern}");
    error.message.replace("invalid regular expression: ", "")
}

#[test]
fn the_longest_match_wins_unless_the_pattern_prefers_the_shortest() {
    for (text, pattern, expected) in [
        ("abcd", "a|ab|abc", "abc"),
        ("abcd", "(a|ab)(c|bcd)(d*)", "ab|c|d"),
        ("foobarbequebaz", "bar.*?(b)", "b"),
        ("XY1234Z", "Y*([0-9]{1,3})", "123"),
        ("XY1234Z", "Y*?([0-9]{1,3})", "1"),
        ("abc01234xyz", "(.*)([0-9]+)(.*)", "abc0123|4|xyz"),
        ("abc01234xyz", "(.*?)([0-9]+)(.*)", "abc|0|"),
        ("abc01234xyz", "(?:(.*?)([0-9]+)(.*)){1,1}", "abc|01234|xyz"),
        ("foobarbequebaz", "(bar)(beque)", "bar|beque"),
        ("ab", "(a?(?:ab)?)(b*)", "ab|"),
        ("aab", "(a|ab)*", "ab"),
        ("b", "(a)?b", "NULL"),
        ("abc", "((b))", "b|b"),
        ("x", "y", "none"),
    ] {
        assert_eq!(captures(text, pattern), expected, "{text} {pattern}");
    }
}

#[test]
fn the_grammar_is_postgresqls() {
    for (text, pattern) in [
        ("a.b", r"\Aa\.b\Z"),
        ("two words", r"\mwords\M"),
        ("ab_1 é", r"^\w+\s\w$"),
        ("a\nb", "a.b"),
        ("]-", "^[]-]{2}$"),
        ("a{", "a{"),
        ("\x0b", r"\v"),
        ("A", r"\x41\u0041?"),
        ("a b", "(?x)a \\s b # comment"),
        ("ABC", "(?i)abc"),
        ("a+b", "***=a+b"),
        ("ab", "a(?#comment)b"),
        ("-", "[[.hyphen.]]"),
        ("word", "[[:<:]]word[[:>:]]"),
        ("a1", "[[:alpha:]][[:digit:]]"),
        ("x\ny", "(?n)^y"),
    ] {
        assert!(regexp_like(text, pattern, "").unwrap(), "{text} {pattern}");
    }
    for (text, pattern, flags) in [
        ("a\nb", "a.b", "n"),
        ("x\ny", "^y", ""),
        ("x\ny", "^y", "p"),
        ("ABC", "b", "c"),
        ("aXb", "a.b", "q"),
    ] {
        assert!(!regexp_like(text, pattern, flags).unwrap(), "{text} {pattern} {flags}");
    }
}

#[test]
fn texts_that_are_no_patterns_are_refused() {
    for (pattern, reason) in [
        ("(", "parentheses () not balanced"),
        (")", "parentheses () not balanced"),
        ("[a", "brackets [] not balanced"),
        ("a{2", "braces {} not balanced"),
        ("a{2,1}", "invalid repetition count(s)"),
        ("a{256}", "invalid repetition count(s)"),
        ("*a", "quantifier operand invalid"),
        ("a**", "quantifier operand invalid"),
        ("^*", "quantifier operand invalid"),
        ("[b-a]", "invalid character range"),
        ("[[:name:]]", "invalid character class"),
        ("[[.name.]]", "invalid collating element"),
        (r"\q", r"invalid escape \ sequence"),
        (r"a\", r"invalid escape \ sequence"),
        (r"\1", "invalid backreference number"),
        ("(?z)", "invalid embedded option"),
        ("((((a{255}){255}){255}){255})", "regular expression is too complex"),
    ] {
        assert_eq!(refused(pattern), reason, "{pattern}");
    }
    assert_eq!(refused(&"(".repeat(300)), "regular expression is too complex");
    assert!(refused(r"(a)\1").starts_with("back references are not supported"));
    assert!(refused("a(?=b)").starts_with("lookahead and lookbehind constraints"));
}

#[test]
fn searches_count_characters_and_matches() {
    let search = Search::default();
    assert_eq!(regexp_count("ABCABCABC", "A.", &Search { start: 2, ..search }).unwrap(), 2);
    assert_eq!(regexp_count("abc", "", &search).unwrap(), 4);
    assert_eq!(
        regexp_instr("éabcabc", "a(b)c", &Search { n: 2, subexpr: 1, ..search }).unwrap(),
        6
    );
    assert_eq!(regexp_instr("abc", "b", &Search { endoption: 1, ..search }).unwrap(), 3);
    assert_eq!(regexp_instr("abc", "b", &Search { start: 9, ..search }).unwrap(), 0);
    let found = regexp_substr("ABCDEF", "c(.)(..)", &Search { flags: "i", subexpr: 2, ..search });
    assert_eq!(found.unwrap().as_deref(), Some("EF"));
    assert_eq!(substring("foobar", "o(.)b").unwrap().as_deref(), Some("o"));
    let error = regexp_count("", "", &Search { start: 0, ..search }).unwrap_err();
    assert_eq!(error.message, "invalid value for parameter \"start\": 0");
    let error = regexp_instr("", "", &Search { endoption: 2, ..search }).unwrap_err();
    assert_eq!(
        (error.sqlstate, &*error.message),
        ("22023", "invalid value for parameter \"endoption\": 2")
    );
    let error = regexp_match("", "", "g").unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("Use the regexp_matches function instead."));
    let error = regexp_like("", "", "z").unwrap_err();
    assert_eq!(error.message, "invalid regular expression option: \"z\"");
}

#[test]
fn all_matches_come_in_order() {
    let all = regexp_matches("foobarbequebazilbarfbonk", "(b[^b]+)(b[^b]+)", "g").unwrap();
    let shown = all.iter().map(|one| one.iter().flatten().cloned().collect::<Vec<_>>().join("|"));
    assert_eq!(shown.collect::<Vec<_>>(), ["bar|beque", "bazil|barf"]);
}

#[test]
fn texts_are_split_at_matches_that_take_something() {
    let split = |text: &str, pattern: &str| regexp_split(text, pattern, "", "f").unwrap().join("|");
    assert_eq!(split("the quick  fox", r"\s+"), "the|quick|fox");
    assert_eq!(split("the", r"\s*"), "t|h|e");
    assert_eq!(split("123456", "(?:)"), "1|2|3|4|5|6");
    assert_eq!(split("12", "1"), "|2");
    assert_eq!(split("", "x"), "");
}

#[test]
fn replacements_refer_to_captures() {
    let limit = 1 << 20;
    let replaced = |n, replacement: &str| {
        regexp_replace("A PostgreSQL function", "a|e|i|o|u", replacement, (1, n), "i", limit)
            .unwrap()
    };
    assert_eq!(replaced(Some(0), "X"), "X PXstgrXSQL fXnctXXn");
    assert_eq!(replaced(Some(3), "<\\&>"), "A Postgr<e>SQL function");
    assert_eq!(replaced(None, "\\\\"), "\\ PostgreSQL function");
    let swapped = regexp_replace_by_flags("foobar foobaz", "b(..)", "X\\1Y", "g", limit);
    assert_eq!(swapped.unwrap(), "fooXarY fooXazY");
    assert!(regexp_replace_by_flags("", "", "", "1", limit).unwrap_err().hint.is_some());
    let error = regexp_replace("aaaa", "a", "xxxx", (1, Some(0)), "", 10).unwrap_err();
    assert_eq!(error.sqlstate, "54000");
}

#[test]
fn patterns_of_sql_become_regular_expressions() {
    let converted = |pattern: &str| similar_to_escape(pattern, None).unwrap();
    assert_eq!(converted("%b_(c|d)."), r"^(?:.*b.(?:c|d)\.)$");
    assert_eq!(converted(r#"a\"b\"c"#), "^(?:a){1,1}?(b){1,1}(?:c)$");
    assert_eq!(converted(r"[%\d]"), r"^(?:[%\d])$");
    assert_eq!(similar_to_escape("#%x", Some("#")).unwrap(), r"^(?:\%x)$");
    assert_eq!(similar_to_escape("a", Some("ab")).unwrap_err().sqlstate, "22025");
    assert_eq!(similar_to_escape(r#"\"\"\""#, None).unwrap_err().sqlstate, "2200C");
}
