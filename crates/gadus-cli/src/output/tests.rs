//! Each format against its golden file in `tests/golden`; `GADUS_REWRITE=1` rewrites them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float64Array,
    Int64Array, RecordBatch, StringViewArray, TimestampMicrosecondArray,
};
use arrow::ipc::reader::StreamReader;

use super::{Format, Limits};

fn batch() -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, -20, 300]))),
        (
            "name",
            Arc::new(StringViewArray::from(vec![
                Some("Ångström, \"山田\""),
                None,
                Some("two\nlines | \\ \u{1b}[31m"),
            ])),
        ),
        ("born", Arc::new(Date32Array::from(vec![Some(0), Some(19_000), None]))),
        ("seen", Arc::new(TimestampMicrosecondArray::from(vec![Some(1_500_000), None, Some(0)]))),
        ("share", Arc::new(Float64Array::from(vec![Some(0.5), Some(-1e30), None]))),
        (
            "price",
            Arc::new(
                Decimal128Array::from(vec![Some(1_999), None, Some(-5)])
                    .with_precision_and_scale(15, 2)
                    .unwrap(),
            ),
        ),
        ("open", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn numbers(rows: i64) -> RecordBatch {
    RecordBatch::try_from_iter([("n", Arc::new(Int64Array::from_iter_values(0..rows)) as ArrayRef)])
        .unwrap()
}

fn written(format: Format, limits: Limits, batches: &[RecordBatch]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut writer = format.writer(&mut output, limits);
    writer.start(&batches[0].schema()).unwrap();
    for batch in batches {
        writer.batch(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    output
}

fn text(format: Format, limits: Limits, batches: &[RecordBatch]) -> String {
    String::from_utf8(written(format, limits, batches)).unwrap()
}

fn matches_golden(name: &str, text: &str) {
    // Of the checkout that is tested, which need not be the one that was compiled.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&package).join("tests/golden").join(name);
    if std::env::var_os("GADUS_REWRITE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, golden, "{name}: rewrite by GADUS_REWRITE=1 and review the difference");
}

#[test]
fn formats_write_what_their_golden_files_hold() {
    let batch = batch();
    for (format, name) in [
        (Format::Table, "table.txt"),
        (Format::Csv, "rows.csv"),
        (Format::Json, "rows.json"),
        (Format::Jsonl, "rows.jsonl"),
        (Format::Markdown, "table.md"),
    ] {
        let parts = [batch.slice(0, 2), batch.slice(2, 1)];
        matches_golden(name, &text(format, Limits::default(), &parts));
    }
}

#[test]
fn empty_results_are_still_well_formed() {
    let empty = [batch().slice(0, 0)];
    let all = [Format::Table, Format::Csv, Format::Json, Format::Jsonl, Format::Markdown];
    let texts =
        all.map(|format| format!("{format:?}:\n{}", text(format, Limits::default(), &empty)));
    matches_golden("empty.txt", &texts.concat());
}

#[test]
fn narrow_terminals_cut_cells_then_leave_out_columns() {
    let mut texts = String::new();
    for width in [80, 60, 34] {
        let limits = Limits { width_max: Some(width), rows_max: None };
        let table = text(Format::Table, limits, &[batch()]);
        for line in table.lines().filter(|line| !line.starts_with('(')) {
            assert!(super::layout::width(line) <= width, "{line}");
        }
        texts += &format!("{width} columns:\n{table}");
    }
    matches_golden("narrow.txt", &texts);
}

#[test]
fn long_results_show_both_ends() {
    let limits = Limits { width_max: None, rows_max: Some(5) };
    let shown = [numbers(5), numbers(6)].map(|batch| text(Format::Table, limits, &[batch]));
    matches_golden("both_ends.txt", &shown.concat());
}

#[test]
fn tables_longer_than_the_measured_part_are_complete() {
    let table = text(Format::Table, Limits::default(), &[numbers(9_000), numbers(9_000)]);
    assert_eq!(table.lines().count(), 18_000 + 5);
    assert!(table.ends_with("(18000 rows)\n"));
}

#[test]
fn the_arrow_stream_reads_back() {
    let bytes = written(Format::Arrow, Limits::default(), &[batch()]);
    let read: Vec<_> =
        StreamReader::try_new(bytes.as_slice(), None).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(read, [batch()]);
}

#[test]
fn identifiers_are_texts_where_they_are_read() {
    let keys = [Some([0x0a; 16]), None].into_iter();
    let keys = FixedSizeBinaryArray::try_from_sparse_iter_with_size(keys, 16).unwrap();
    let batch = RecordBatch::try_from_iter([("k", Arc::new(keys) as ArrayRef)]).unwrap();
    let key = "0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a";
    let text = |format| text(format, Limits::default(), std::slice::from_ref(&batch));
    assert_eq!(text(Format::Csv), format!("k\n{key}\n\"\"\n"));
    assert_eq!(text(Format::Jsonl), format!("{{\"k\":\"{key}\"}}\n{{\"k\":null}}\n"));
    for format in [Format::Table, Format::Json, Format::Markdown] {
        assert!(text(format).contains(key), "{format:?}");
    }
}

#[test]
fn formats_are_named_as_on_the_command_line() {
    assert_eq!("JSONL".parse(), Ok(Format::Jsonl));
    assert!("excel".parse::<Format>().is_err());
}
