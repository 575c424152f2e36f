//! Columns whose values are known.

use super::*;
use crate::{ColumnDefinition, ColumnType, Engine, Options, TableSchema, array_from_datums};
use arrow::array::RecordBatch;

const SEGMENT_ROWS: i64 = 32_768;
const SEGMENTS: i64 = 6;

/// A column, the value of a row in it, and how many different ones there are.
type Known = (&'static str, fn(i64) -> i64, f64);

/// Numbers that tell nothing of the row, and lie far from each other.
fn mixed(row: i64, values: u64) -> i64 {
    let bits = row.cast_unsigned().wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (((bits ^ (bits >> 32)) % values) * 1_000_003).cast_signed()
}

const COLUMNS: [Known; 6] = [
    ("id", |row| row, 196_608.0),
    ("order", |row| row / 4 * 1_000_003, 49_152.0),
    ("few", |row| row % 7, 7.0),
    ("some", |row| mixed(row, 20_000), 20_000.0),
    ("dense", |row| mixed(row, 50_000) / 1_000_003, 49_000.0),
    ("apart", |row| row / 32_768 * 1_000_003 + row % 32_768 / 8, 24_576.0),
];

#[test]
fn values_are_about_as_many_as_there_are() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let column = |(name, ..): &Known| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, ColumnType::Int64)
    };
    let schema = TableSchema::new("t", COLUMNS.iter().map(column).collect(), vec![0]).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema).unwrap();
    for first in (0..SEGMENTS).map(|segment| segment * SEGMENT_ROWS) {
        let columns = COLUMNS.iter().map(|(_, value, _)| {
            let values = (first..first + SEGMENT_ROWS).map(|row| Datum::Integer(value(row)));
            array_from_datums(ColumnType::Int64, values.collect::<Vec<_>>().iter()).unwrap()
        });
        let batch = RecordBatch::try_new(schema.arrow(), columns.collect()).unwrap();
        let mut bulk = transaction.bulk(&schema).unwrap();
        bulk.push(&batch).unwrap();
        transaction.finish_bulk(bulk).unwrap();
    }
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    let samples = Samples::of(&table);
    for (column, (name, _, expected)) in COLUMNS.iter().enumerate() {
        let told = samples.distinct(column).unwrap().unwrap();
        assert!((0.5..=2.0).contains(&(told / expected)), "{name}: {told} of {expected}");
    }
}

#[test]
fn long_texts_are_not_read_to_be_counted() {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let column = ColumnDefinition::new("v", ColumnType::Text);
    let schema = TableSchema::new("t", vec![column], Vec::new()).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema).unwrap();
    let texts = (0..600).map(|row| Datum::text(&format!("{row} {}", "long".repeat(4_000))));
    let texts = array_from_datums(ColumnType::Text, texts.collect::<Vec<_>>().iter()).unwrap();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&RecordBatch::try_new(schema.arrow(), vec![texts]).unwrap()).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    let cached = || engine.statistics().cached;
    let before = cached();
    let told = Samples::of(&table).distinct(0).unwrap();
    assert_eq!(told, Some(600.0));
    assert_eq!(cached(), before, "the column stays on disk");
}
