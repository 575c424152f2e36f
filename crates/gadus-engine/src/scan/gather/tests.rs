//! Memory of batches that are gathered from several segments.

use super::*;
use crate::engine::Engine;
use crate::{ColumnDefinition, ColumnType, Datum, Options, TableSchema, array_from_datums};

const ROWS: usize = 10_000;

/// A column of different texts, in this many segments.
fn texts(segments: usize) -> (Engine, Table) {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let column = ColumnDefinition::new("t", ColumnType::Text);
    let schema = TableSchema::new("t", vec![column], Vec::new()).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.create_table(&schema).unwrap();
    for segment in 0..segments {
        let text = |row| Datum::text(&format!("a text of segment {segment}, row {row}"));
        let texts = (0..ROWS).map(text).collect::<Vec<_>>();
        let array = array_from_datums(ColumnType::Text, texts.iter()).unwrap();
        let mut bulk = transaction.bulk(&schema).unwrap();
        bulk.push(&RecordBatch::try_new(schema.arrow(), vec![array]).unwrap()).unwrap();
        transaction.finish_bulk(bulk).unwrap();
    }
    transaction.commit().unwrap();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    (engine, table)
}

/// Single rows and short runs of segments are copied; long runs stay where they are.
#[test]
fn few_rows_of_each_segment_do_not_hold_all_of_its_texts() {
    let (_engine, table) = texts(3);
    let segments = table.version().segments.iter().map(|(_, segment)| segment).collect::<Vec<_>>();
    assert_eq!(segments.len(), 3);
    let schema = table.schema().arrow();
    let read = |positions: &[u32]| {
        let pieces = segments.iter().map(|segment| (&***segment, positions));
        let batch = batch_of(&table, pieces, &schema, &[0]).unwrap();
        (batch.num_rows(), batch.get_array_memory_size())
    };
    for (rows, held_max) in [(1, 1_000), (5, 2_000)] {
        let positions = (7_000..7_000 + rows).collect::<Vec<_>>();
        let (count, held) = read(&positions);
        assert_eq!(count, 3 * rows as usize);
        assert!(held < held_max, "{held} bytes for {count} rows");
    }
    let (count, held) = read(&(0..5_000).collect::<Vec<_>>());
    assert!(count == 15_000 && held > 15_000 * 16, "{held}");
}
