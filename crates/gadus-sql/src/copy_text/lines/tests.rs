//! Lines in pieces of all sizes.

use super::Lines;
use crate::copy_text::{CopyForm, CopyFormat, CopyHeader};

fn form(format: CopyFormat) -> CopyForm {
    let is_csv = format == CopyFormat::Csv;
    CopyForm {
        format,
        delimiter: if is_csv { b',' } else { b'\t' },
        null: if is_csv { "" } else { "\\N" }.to_owned(),
        header: CopyHeader::None,
        quote: b'"',
        escape: b'"',
        force_quote: Vec::new(),
        force_not_null: Vec::new(),
        force_null: Vec::new(),
    }
}

/// The rows of data that comes in pieces of so many bytes.
fn rows(form: &CopyForm, data: &str, piece: usize) -> Result<Vec<Vec<Option<String>>>, String> {
    let mut lines = Lines::new(form.clone(), &[], 1 << 20);
    let mut rows = Vec::new();
    let mut read = |lines: &mut Lines, is_end| {
        while lines.read(is_end).map_err(|error| error.message().to_owned())? {
            let line = lines.line();
            let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
            rows.push(line.values().map(|value| value.map(text)).collect::<Vec<_>>());
        }
        Ok::<_, String>(())
    };
    for piece in data.as_bytes().chunks(piece) {
        lines.push(piece);
        read(&mut lines, false)?;
    }
    read(&mut lines, true)?;
    Ok(rows)
}

fn row(values: &[Option<&str>]) -> Vec<Option<String>> {
    values.iter().map(|value| value.map(str::to_owned)).collect()
}

#[test]
fn text_is_split_and_unescaped() {
    let data = "1\ta\\tb\\\\\\n\t\\N\n2\t\\x41\\102\\N\t\r\n\\.\nignored";
    for piece in [1, 2, 7, 100] {
        assert_eq!(
            rows(&form(CopyFormat::Text), data, piece),
            Ok(vec![
                row(&[Some("1"), Some("a\tb\\\n"), None]),
                row(&[Some("2"), Some("ABN"), Some("")]),
            ])
        );
    }
}

#[test]
fn an_end_of_line_after_a_backslash_belongs_to_the_value() {
    for piece in [1, 2, 100] {
        assert_eq!(
            rows(&form(CopyFormat::Text), "a\\\nb\\.c\n\\.\n", piece),
            Ok(vec![row(&[Some("a\nb.c")])])
        );
    }
}

#[test]
fn csv_keeps_what_is_quoted() {
    let data = "1,\"a,\"\"b\"\"\nc\",\n2,\"\",x\"y\"z";
    for piece in [1, 3, 100] {
        assert_eq!(
            rows(&form(CopyFormat::Csv), data, piece),
            Ok(vec![
                row(&[Some("1"), Some("a,\"b\"\nc"), None]),
                row(&[Some("2"), Some(""), Some("xyz")]),
            ])
        );
    }
    let escaped = CopyForm { escape: b'\\', ..form(CopyFormat::Csv) };
    let read = rows(&escaped, "\"a\\\"b\\\\\",c\n", 2);
    assert_eq!(read, Ok(vec![row(&[Some("a\"b\\"), Some("c")])]));
}

#[test]
fn what_has_no_end_is_refused() {
    let unterminated = rows(&form(CopyFormat::Csv), "1,\"abc\n", 3);
    assert_eq!(
        unterminated,
        Err("unterminated CSV quoted field, in line 1 of the COPY".to_owned())
    );
    let long = "x".repeat(2 << 20);
    assert!(rows(&form(CopyFormat::Text), &long, 4096).is_err());
}
