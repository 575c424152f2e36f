//! Where records end, however their bytes come.

use super::*;

/// The records of a text whose bytes come in pieces of each size.
fn records(text: &str, begin: &Ends) -> Vec<String> {
    let of_size = |size: usize| {
        let (mut ends, mut all) = (begin.clone(), Vec::new());
        for (number, piece) in text.as_bytes().chunks(size).enumerate() {
            ends.pass(piece, |end| all.push(number * size + end));
        }
        let mut from = 0;
        let mut records = Vec::new();
        for end in all.into_iter().chain([text.len()]) {
            records.push(text[from..end].to_owned());
            from = end;
        }
        records.retain(|record| !record.trim().is_empty());
        records
    };
    let whole = of_size(text.len().max(1));
    for size in 1..text.len() {
        assert_eq!(of_size(size), whole, "in pieces of {size}");
    }
    whole
}

#[test]
fn a_record_of_csv_ends_with_its_line_but_not_within_quotes() {
    let csv = Ends::of_csv(b',');
    for (text, expected) in [
        ("a,b\nc,d\n", &["a,b\n", "c,d\n"][..]),
        ("a,b\r\nc,d", &["a,b\r", "c,d"]),
        ("\"a\nb\",c\nd,e\n", &["\"a\nb\",c\n", "d,e\n"]),
        ("x,\"a\"\"\nb\"\nd,e\n", &["x,\"a\"\"\nb\"\n", "d,e\n"]),
        // A quote within a value is one.
        ("5\" pipe,1\n6,2\n", &["5\" pipe,1\n", "6,2\n"]),
        ("\"a\"b\",1\n6,2\n", &["\"a\"b\",1\n", "6,2\n"]),
        ("\"\",\"\"\n\"\"\n", &["\"\",\"\"\n", "\"\"\n"]),
    ] {
        assert_eq!(records(text, &csv), expected, "{text}");
    }
    let mut open = csv.clone();
    open.pass(b"a,\"b\nc\n", |_| {});
    assert!(!open.is_closed());
}

#[test]
fn an_object_of_json_ends_where_it_is_closed() {
    let json = Ends::of_json();
    for (text, expected) in [
        ("{\"a\":1}\n{\"a\":2}\n", &["{\"a\":1}", "{\"a\":2}"][..]),
        ("{\"a\":{\"b\":[1,\n2]}}{\"a\":2}", &["{\"a\":{\"b\":[1,\n2]}}", "{\"a\":2}"]),
        ("{\"a\":\"}\\\"{\"}\n7\n", &["{\"a\":\"}\\\"{\"}", "7\n"]),
    ] {
        assert_eq!(records(text, &json), expected, "{text}");
    }
}
