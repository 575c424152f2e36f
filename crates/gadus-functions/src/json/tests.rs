//! Functions of documents, with PostgreSQL's answers.

use super::{
    DocumentKind, NullTreatment, array_element, array_length, array_text, check_json, extract_path,
    json_object, json_object_of_lists, json_strip_nulls, jsonb_assign, jsonb_contains,
    jsonb_delete_index, jsonb_delete_keys, jsonb_delete_path, jsonb_exists_any_or_all,
    jsonb_insert, jsonb_pretty, jsonb_set, jsonb_set_lax, jsonb_sort_key, jsonb_strip_nulls,
    normalized, object_field, type_name, value_text,
};

const DOCUMENT: &str = r#"{"b": [0, 1, 2], "aa": null, "a": {"c": null}, "a": 1.50}"#;

#[test]
fn documents_are_normalized_as_jsonb() {
    assert_eq!(normalized(DOCUMENT).unwrap(), r#"{"a": 1.50, "b": [0, 1, 2], "aa": null}"#);
    let numbers = normalized("[-0, 2e2, 1.5E-3, 1e0, -12.50]").unwrap();
    assert_eq!(numbers, "[0, 200, 0.0015, 1, -12.50]");
    assert_eq!(normalized(r#""\u0041\ud83d\ude00\n""#).unwrap(), "\"A😀\\n\"");
    for wrong in ["", "{", "[1,]", "01", "tru", "\"\\x\"", "{\"a\" 1}", "1 2"] {
        let error = normalized(wrong).unwrap_err();
        assert_eq!(error.message, "invalid input syntax for type json", "{wrong}");
    }
    assert_eq!(normalized(&"[".repeat(1000)).unwrap_err().sqlstate, "54001");
    assert_eq!(normalized("1e200000").unwrap_err().sqlstate, "22003");
}

#[test]
fn nulls_are_stripped_from_objects() {
    let document = r#"{"a": null, "b": [null, {"c": null, "d": 1.0}]}"#;
    assert_eq!(json_strip_nulls(document).unwrap(), r#"{"b":[null,{"d":1.0}]}"#);
    assert_eq!(jsonb_strip_nulls(document).unwrap(), r#"{"b": [null, {"d": 1.0}]}"#);
}

#[test]
fn values_are_set_inserted_and_deleted_at_paths() {
    let target = r#"{"a": [1, 2], "b": {"c": 3}}"#;
    let set = |path: &[Option<&str>], creates| jsonb_set(target, path, "9", creates).unwrap();
    assert_eq!(set(&[Some("a"), Some("-1")], true), r#"{"a": [1, 9], "b": {"c": 3}}"#);
    assert_eq!(set(&[Some("a"), Some("7")], true), r#"{"a": [1, 2, 9], "b": {"c": 3}}"#);
    assert_eq!(set(&[Some("a"), Some("-7")], true), r#"{"a": [9, 1, 2], "b": {"c": 3}}"#);
    assert_eq!(set(&[Some("b"), Some("d")], true), r#"{"a": [1, 2], "b": {"c": 3, "d": 9}}"#);
    assert_eq!(set(&[Some("b"), Some("d")], false), r#"{"a": [1, 2], "b": {"c": 3}}"#);
    let inserted = jsonb_insert(target, &[Some("a"), Some("0")], "9", true).unwrap();
    assert_eq!(inserted, r#"{"a": [1, 9, 2], "b": {"c": 3}}"#);
    let deleted = jsonb_delete_path(target, &[Some("b"), Some("c")]).unwrap();
    assert_eq!(deleted, r#"{"a": [1, 2], "b": {}}"#);
    let error = jsonb_set(target, &[Some("a"), Some("x")], "9", true).unwrap_err();
    assert_eq!(error.message, "path element at position 2 is not an integer: \"x\"");
    let error = jsonb_insert(target, &[Some("b")], "9", false).unwrap_err();
    assert_eq!(error.message, "cannot replace existing key");
    assert_eq!(
        jsonb_set("1", &[None], "9", true).unwrap_err().message,
        "cannot set path in scalar"
    );
    assert_eq!(jsonb_set(target, &[None], "9", true).unwrap_err().sqlstate, "22004");
}

#[test]
fn nulls_are_treated_as_told() {
    let lax = |name| {
        let treatment = NullTreatment::named(Some(name)).unwrap();
        jsonb_set_lax(r#"{"a": 1}"#, &[Some("a")], None, true, treatment)
    };
    assert_eq!(lax("use_json_null").unwrap(), r#"{"a": null}"#);
    assert_eq!(lax("delete_key").unwrap(), "{}");
    assert_eq!(lax("return_target").unwrap(), r#"{"a": 1}"#);
    assert_eq!(lax("raise_exception").unwrap_err().sqlstate, "22004");
    assert_eq!(NullTreatment::named(None).unwrap_err().sqlstate, "22023");
}

#[test]
fn members_and_elements_are_deleted() {
    let keys = [Some("a"), None];
    assert_eq!(jsonb_delete_keys(r#"["a", "b", 1, "a"]"#, &keys).unwrap(), r#"["b", 1]"#);
    assert_eq!(jsonb_delete_keys(r#"{"a": 1, "b": 2}"#, &keys).unwrap(), r#"{"b": 2}"#);
    assert_eq!(jsonb_delete_index("[1, 2, 3]", -1).unwrap(), "[1, 2]");
    assert_eq!(jsonb_delete_index("[1]", 5).unwrap(), "[1]");
    let error = jsonb_delete_index("{}", 0).unwrap_err();
    assert_eq!(error.message, "cannot delete from object using integer index");
}

#[test]
fn containment_ignores_order_and_repetition() {
    for (document, part, expected) in [
        (r#"{"a": 1, "b": [1, 2]}"#, r#"{"b": [2, 2]}"#, true),
        ("[1, 2, [1, 3]]", "[1, 3]", false),
        ("[1.0]", "[1.00]", true),
        (r#"["a"]"#, r#""a""#, true),
        (r#""a""#, r#"["a"]"#, false),
        (r#"{"a": {"b": 1}}"#, r#"{"b": 1}"#, false),
        ("{}", "[]", false),
    ] {
        assert_eq!(jsonb_contains(document, part).unwrap(), expected, "{document} {part}");
    }
    let keys = [Some("a"), Some("x")];
    assert!(jsonb_exists_any_or_all(r#"{"a": 1}"#, &keys, false).unwrap());
    assert!(!jsonb_exists_any_or_all(r#"{"a": 1}"#, &keys, true).unwrap());
}

#[test]
fn objects_are_made_of_lists() {
    let texts = [Some("a"), Some("1"), Some("b"), None];
    assert_eq!(json_object(&texts).unwrap(), r#"{"a" : "1", "b" : null}"#);
    assert_eq!(json_object_of_lists(&texts[..1], &texts[1..2]).unwrap(), r#"{"a" : "1"}"#);
    let error = json_object(&texts[..1]).unwrap_err();
    assert_eq!(error.message, "array must have even number of elements");
    assert_eq!(json_object(&[None, None]).unwrap_err().sqlstate, "22004");
    let error = json_object_of_lists(&texts, &[]).unwrap_err();
    assert_eq!(error.message, "mismatched array dimensions");
}

#[test]
fn documents_are_written_on_lines() {
    let text = "{\n    \"a\": [\n        1\n    ],\n    \"b\": {\n    }\n}";
    assert_eq!(jsonb_pretty(r#"{"b": {}, "a": [1]}"#, 1000).unwrap(), text);
    assert_eq!(jsonb_pretty("[1]", 3).unwrap_err().sqlstate, "54000");
}

#[test]
fn errors_of_documents_are_explained() {
    for (text, detail) in [
        ("", "The input string ended unexpectedly."),
        ("{", "The input string ended unexpectedly."),
        ("[1,]", "Expected JSON value, but found \"]\"."),
        ("[1 2]", "Expected \",\" or \"]\", but found \"2\"."),
        ("{\"a\" 1}", "Expected \":\", but found \"1\"."),
        ("{1:2}", "Expected string or \"}\", but found \"1\"."),
        ("{\"a\":1,}", "Expected string, but found \"}\"."),
        ("1 2", "Expected end of input, but found \"2\"."),
        ("01", "Token \"01\" is invalid."),
        ("\"abc", "Token \"\"abc\" is invalid."),
        ("\"\\x\"", "Escape sequence \"\\x\" is invalid."),
        ("\"\n\"", "Character with value 0x0a must be escaped."),
        ("\"\\u12\"", "\"\\u\" must be followed by four hexadecimal digits."),
    ] {
        let error = check_json(text).unwrap_err();
        assert_eq!(error.detail.as_deref(), Some(detail), "{text}");
        assert_eq!(error.sqlstate, "22P02");
    }
    assert!(check_json("\"\\u0000\\ud800\"").is_ok());
    assert_eq!(normalized("\"\\u0000\"").unwrap_err().sqlstate, "22P05");
    assert!(normalized("\"\\ud800\"").is_err());
}

#[test]
fn parts_are_ranges_of_the_text() {
    let document = r#" {"a" : [1, {"b":"x\"}"}, "s"], "a\u0062":true, "a": [ ] , "n":null} "#;
    assert_eq!(object_field(document, "ab").unwrap(), Some("true"));
    assert_eq!(object_field(document, "a").unwrap(), Some("[ ]"));
    assert_eq!(object_field(document, "z").unwrap(), None);
    let list = r#"[1, {"b":"x\"}"}, "s"]"#;
    assert_eq!(array_element(list, 1, DocumentKind::Text), Some(r#"{"b":"x\"}"}"#));
    assert_eq!(array_element(list, -1, DocumentKind::Text), Some("\"s\""));
    assert_eq!(array_element("7", 0, DocumentKind::Text), None);
    assert_eq!(array_element("7", 0, DocumentKind::Binary), Some("7"));
    assert_eq!(extract_path(list, &[Some("1"), Some("b")]).unwrap(), Some(r#""x\"}""#));
    assert_eq!(extract_path(list, &[None]).unwrap(), None);
    assert_eq!(value_text(r#""x\"}""#).unwrap().as_deref(), Some("x\"}"));
    assert_eq!(value_text("null").unwrap(), None);
    // Texts that are no documents were never stored, and end no program.
    for wrong in ["", "{", "[", "{\"a", "[\"\\", "]", "{\"a\":", "[,", "{}}"] {
        let _ = (object_field(wrong, "a"), array_element(wrong, 0, DocumentKind::Text));
        let _ = (array_length(wrong), type_name(wrong));
    }
}

#[test]
fn keys_are_ordered_as_documents() {
    let ordered = [
        "[]",
        "null",
        "\"\"",
        "\"a\"",
        "\"ab\"",
        "-1e100",
        "-10",
        "-9.5",
        "-0.001",
        "0",
        "0.001",
        "0.1",
        "1",
        "1.5",
        "9",
        "10",
        "1e100",
        "false",
        "true",
        "[null]",
        "[1]",
        "[[]]",
        "[{}]",
        "[1, 2]",
        "{}",
        "{\"a\": 1}",
        "{\"a\": 2}",
        "{\"b\": 0}",
        "{\"a\": 0, \"b\": 0}",
    ];
    for (one, other) in ordered.iter().zip(&ordered[1..]) {
        assert!(jsonb_sort_key(one).unwrap() < jsonb_sort_key(other).unwrap(), "{one} {other}");
    }
    for (one, other) in [("1.0", "1.00"), ("-0", "0.0"), ("1e2", "100"), ("[1.0]", "[1]")] {
        assert_eq!(jsonb_sort_key(one).unwrap(), jsonb_sort_key(other).unwrap(), "{one}");
    }
}

#[test]
fn assignments_make_what_their_path_lacks() {
    for (target, path, expected) in [
        (Some("{}"), &["a", "2"][..], r#"{"a": [null, null, 1]}"#),
        (Some("[0]"), &["5"], "[0, null, null, null, null, 1]"),
        (Some("[0, 2]"), &["-1"], "[0, 1]"),
        (Some(r#"{"a": {"b": 2}}"#), &["a", "b"], r#"{"a": {"b": 1}}"#),
        (Some("[]"), &["0", "x", "y"], r#"[{"x": {"y": 1}}]"#),
        (None, &["1", "x"], r#"[null, {"x": 1}]"#),
    ] {
        let path = path.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(jsonb_assign(target, &path, Some("1"), true).unwrap(), expected);
    }
    assert_eq!(jsonb_assign(None, &[Some("1")], None, false).unwrap(), r#"{"1": null}"#);
    for (target, step, sqlstate) in [
        ("[0]", Some("-2"), "22023"),
        ("[0]", Some("x"), "22P02"),
        ("1", Some("x"), "22023"),
        ("{}", None, "22004"),
    ] {
        let error = jsonb_assign(Some(target), &[step], Some("1"), false).unwrap_err();
        assert_eq!(error.sqlstate, sqlstate, "{target}");
    }
}

#[test]
fn arrays_of_documents_are_texts_of_arrays() {
    for (document, expected) in [
        (r#"[1, "2", null, true]"#, Some(r#"{"1","2",NULL,"true"}"#)),
        (r#"[[1, 2], [3, 4]]"#, Some(r#"{{"1","2"},{"3","4"}}"#)),
        (r#"[{"a": [1, 2]}]"#, Some(r#"{"{\"a\": [1, 2]}"}"#)),
        (r#""{1,2}""#, Some("{1,2}")),
        ("null", None),
    ] {
        assert_eq!(array_text(document, "k").unwrap().as_deref(), expected, "{document}");
    }
    for wrong in ["1", "{}", "[[1], 2]", "[[1], [2, 3]]"] {
        assert_eq!(array_text(wrong, "k").unwrap_err().sqlstate, "22P02", "{wrong}");
    }
}
