//! Options of COPY, rows that are read and lines that are written.

use super::{CopyForm, CopyFormat, CopyHeader, CopyRows, put_line};
use crate::session::parse;
use arrow::array::{Array, AsArray};

fn form(text: &str) -> gadus_engine::Result<CopyForm> {
    let prepared = parse(text)?;
    let words = prepared.copy_words().expect("a COPY");
    CopyForm::of(words, text.contains("FROM"), CopyFormat::Text)
}

fn state(text: &str) -> String {
    let error = form(text).unwrap_err();
    error.diagnosis().and_then(|found| found.sql_state).unwrap_or("none").to_owned()
}

#[test]
fn options_are_read_in_both_spellings() {
    let text = form("COPY t FROM STDIN").unwrap();
    assert_eq!((text.format, text.delimiter, text.null.as_str()), (CopyFormat::Text, b'\t', "\\N"));
    for older in [
        "COPY t FROM STDIN WITH DELIMITER AS ',' NULL AS 'x'",
        "COPY t FROM STDIN DELIMITERS ',' WITH NULL 'x'",
        "COPY t FROM STDIN (DELIMITER ',', NULL 'x')",
        "COPY t FROM STDIN WITH (delimiter ',', null 'x', format text)",
    ] {
        let form = form(older).unwrap();
        assert_eq!((form.delimiter, form.null.as_str()), (b',', "x"), "{older}");
    }
    let csv = form("COPY t TO STDOUT CSV HEADER QUOTE '''' FORCE QUOTE a, b").unwrap();
    assert_eq!((csv.format, csv.header, csv.quote), (CopyFormat::Csv, CopyHeader::Names, b'\''));
    assert_eq!(csv.force_quote, ["a", "b"]);
    let csv = form("COPY t FROM STDIN (FORMAT csv, HEADER match, FORCE_NULL (a))").unwrap();
    assert_eq!((csv.header, csv.force_null), (CopyHeader::Match, vec!["a".to_owned()]));
    assert_eq!(form("COPY t TO STDOUT (FORMAT csv, FORCE_QUOTE *)").unwrap().force_quote, ["*"]);
    assert_eq!(form("COPY BINARY t TO STDOUT").unwrap().format, CopyFormat::Binary);
}

#[test]
fn options_that_cannot_be_so_have_postgresqls_codes() {
    for (text, expected) in [
        ("COPY t FROM STDIN (FORMAT binary, DELIMITER ',')", "42601"),
        ("COPY t FROM STDIN (FORMAT binary, NULL 'x')", "42601"),
        ("COPY t FROM STDIN (FORMAT xml)", "22023"),
        ("COPY t FROM STDIN (DELIMITER 'a')", "22023"),
        ("COPY t FROM STDIN (DELIMITER ',,')", "0A000"),
        ("COPY t FROM STDIN (QUOTE '''')", "0A000"),
        ("COPY t FROM STDIN (FORMAT csv, FORCE_QUOTE (a))", "0A000"),
        ("COPY t TO STDOUT (FORMAT csv, FORCE_NOT_NULL (a))", "0A000"),
        ("COPY t TO STDOUT (HEADER match)", "0A000"),
        ("COPY t FROM STDIN (HEADER 2)", "42601"),
        ("COPY t FROM STDIN (FORMAT csv, DELIMITER '\"')", "22023"),
        ("COPY t FROM STDIN (FORMAT csv, NULL 'a,')", "0A000"),
        ("COPY t FROM STDIN (ENCODING 'nothing')", "22023"),
    ] {
        assert_eq!(state(text), expected, "{text}");
    }
    for text in ["COPY t FROM STDIN (FOO 1)", "COPY t FROM STDIN (NULL 'a', NULL 'b')"] {
        let error = parse(text).unwrap_err();
        let found = error.diagnosis().and_then(|found| found.sql_state);
        assert_eq!(found, Some("42601"), "{text}");
    }
}

#[test]
fn rows_are_read_with_their_lines() {
    let form = form("COPY t FROM STDIN (FORMAT csv, HEADER match, FORCE_NOT_NULL (b))").unwrap();
    let names = vec!["a".to_owned(), "b".to_owned()];
    let mut rows = CopyRows::new(names.clone(), form.clone(), 1 << 20);
    rows.push(b"a,b\n1,\n\"\",x\n");
    rows.take(true).unwrap();
    assert_eq!(rows.line_numbers(), [2, 3]);
    let batch = rows.batch().unwrap();
    let (a, b) = (batch.column(0).as_string::<i32>(), batch.column(1).as_string::<i32>());
    assert_eq!((a.value(0), a.value(1), b.value(0), b.value(1)), ("1", "", "", "x"));
    assert_eq!(b.null_count(), 0);
    let mut wrong = CopyRows::new(names.clone(), form.clone(), 1 << 20);
    wrong.push(b"a,c\n");
    let message = "column name mismatch in header line field 2: got \"c\", expected \"b\", in line 1 of the COPY";
    assert_eq!(wrong.take(true).unwrap_err().message(), message);
    let mut short = CopyRows::new(names, form, 1 << 20);
    short.push(b"a,b\n1\n");
    let message = "missing data for column \"b\", in line 2 of the COPY";
    assert_eq!(short.take(true).unwrap_err().message(), message);
}

#[test]
fn lines_are_written_as_they_are_read() {
    let text = form("COPY t TO STDOUT").unwrap();
    let mut line = Vec::new();
    let values: [Option<&[u8]>; 3] = [Some(b"a\tb\\"), None, Some(b"\n")];
    put_line(&mut line, &text, values.into_iter(), &[]);
    assert_eq!(line, b"a\\tb\\\\\t\\N\t\\n\n");
}
