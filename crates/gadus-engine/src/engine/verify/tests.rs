//! What disagrees in a table is found: rows, keys, columns, sketches.

use super::super::test_tables::{LOADED_ROWS as ROWS, loaded};
use super::table::TableCheck;
use super::{Course, Problem};
use crate::keys::{KeyCode, KeyEntry, PRIMARY, write_run};
use crate::segment::{ColumnEntry, ColumnPlace, EncodedSegment, Lineage, SegmentVersion};
use crate::version::{Change, TableVersion};
use crate::{Datum, Engine, ForeignKey, Options, ReferentialAction, TableSchema};
use gadus_base::{CommitNumber, RowId, SegmentId};
use std::sync::Arc;

const LATER: CommitNumber = CommitNumber(1_000);

/// A table with loaded rows, whose keys are a run, and two inserted ones, whose keys are not.
fn sample() -> Engine {
    let engine = Engine::in_memory(Options::default()).unwrap();
    let mut transaction = engine.begin().unwrap();
    let schema = loaded(&mut transaction, true);
    let row = |id: i64| [Datum::Integer(id), Datum::Null].into();
    transaction.insert(&schema, vec![row(-1), row(-2)]).unwrap();
    transaction.commit().unwrap();
    engine
}

/// What the check of the sample finds after a change that no engine makes; and the rows read.
fn found(change: impl FnOnce(&Engine, &mut TableVersion)) -> (Vec<Problem>, u64) {
    let engine = sample();
    let table = engine.snapshot().unwrap().table("t").unwrap();
    let mut version = TableVersion::clone(table.version());
    change(&engine, &mut version);
    let progress = &mut |_, _| {};
    let blobs = &engine.inner().blobs;
    let mut course = Course { blobs, problems: Vec::new(), read: 0, total: 0, progress };
    let rows_read = TableCheck::new(&version, &mut course).run();
    let problems = course.problems;
    assert!(problems.iter().all(|problem| problem.table.as_deref() == Some("t")));
    (problems, rows_read)
}

fn messages(change: impl FnOnce(&Engine, &mut TableVersion)) -> Vec<String> {
    found(change).0.into_iter().map(|problem| problem.message).collect()
}

/// The entries of the sample's one run.
fn entries(engine: &Engine, version: &TableVersion) -> Vec<KeyEntry> {
    version.keys.primary().unwrap().entries.runs()[0].read_all(&engine.inner().blobs).unwrap()
}

fn entry(hash: u64, row: u64) -> KeyEntry {
    KeyEntry { code: KeyCode { order: 0, hash }, row }
}

fn with_run(engine: &Engine, version: &mut TableVersion, entries: &[KeyEntry]) {
    let run = Arc::new(write_run(entries, &engine.inner().blobs).unwrap());
    version.keys.get_mut(PRIMARY).unwrap().entries.replace_runs(vec![run], CommitNumber(0));
}

#[test]
fn a_sound_table_is_read_whole() {
    assert_eq!(found(|_, _| {}), (Vec::new(), ROWS.cast_unsigned() + 2));
}

#[test]
fn rows_that_are_counted_wrong_are_told() {
    let told = messages(|_, version| version.live_rows += 1);
    assert_eq!(told, ["has 8194 rows, but counts 8195"]);
}

#[test]
fn a_row_without_its_key_is_told() {
    let told = messages(|engine, version| {
        let mut entries = entries(engine, version);
        entries.retain(|entry| entry.row & 0xFFFF != 77);
        with_run(engine, version, &entries);
    });
    assert_eq!(told, ["row 77 is 0 times in the key index, not once"]);
}

#[test]
fn a_key_that_is_there_twice_is_told() {
    let told = messages(|engine, version| {
        let mut entries = entries(engine, version);
        entries.insert(100, entries[100]);
        with_run(engine, version, &entries);
    });
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("is 2 times in the key index, not once"), "{told:?}");
}

#[test]
fn entries_of_rows_that_are_gone_are_no_problem() {
    let told = messages(|engine, version| {
        let mut entries = entries(engine, version);
        entries.push(entry(u64::MAX >> 16, 99 << 16));
        entries.insert(0, entry(0, 7));
        entries.sort_unstable();
        with_run(engine, version, &entries);
    });
    assert_eq!(told, [] as [String; 0]);
}

#[test]
fn two_rows_with_one_key_are_told() {
    let told = messages(|_, version| {
        let first = RowId { segment: SegmentId(99), position: 0 };
        let row: Arc<[Datum]> = [Datum::Integer(4), Datum::Null].into();
        let table = version.schema.id;
        version
            .apply(&Change::AppendRows { table, first, rows: vec![row] }, LATER, Lineage::Head)
            .unwrap();
    });
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("row 0 has the key of row "), "{told:?}");
}

/// Changes what the footer of the loaded segment says of its columns.
fn with_footer(
    engine: &Engine,
    version: &mut TableVersion,
    change: impl FnOnce(&mut [ColumnEntry]),
) {
    let segment = version.segments.values().find(|segment| segment.encoded.is_some());
    let mut segment = SegmentVersion::clone(segment.unwrap());
    let base = segment.encoded.take().unwrap();
    let mut footer = base.footer(&version.schema, &engine.inner().blobs).unwrap().clone();
    change(&mut footer.columns);
    let image = base.image(segment.id);
    let extents = base.extents().to_vec();
    let base = EncodedSegment::written(base.rows(), image.footer, extents, footer);
    segment.encoded = Some(Arc::new(base));
    version.segments.insert(segment.id, Arc::new(segment));
}

#[test]
fn a_sketch_that_lies_is_told() {
    let (problems, rows_read) = found(|engine, version| {
        with_footer(engine, version, |columns| {
            columns[0].sketch.nulls = 3;
            columns[1].sketch.range = Some((Datum::Integer(1), Datum::Integer(ROWS - 4)));
        });
    });
    let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert!(
        told[0].contains("column \"id\"") && told[0].contains("0 NULLs, but its sketch says 3")
    );
    assert!(told[1].contains("column \"x\"") && told[1].contains("has 4 values outside"));
    assert_eq!((told.len(), rows_read), (2, ROWS.cast_unsigned() + 2));
}

#[test]
fn every_column_that_cannot_be_read_is_told_and_keys_are_not_missed() {
    let (problems, rows_read) = found(|engine, version| {
        with_footer(engine, version, |columns| {
            for column in columns {
                let ColumnPlace::Blob(blob) = &mut column.place else { continue };
                blob.checksum ^= 1;
            }
        });
    });
    let columns: Vec<_> = problems.iter().map(|problem| problem.column.as_deref()).collect();
    assert_eq!(columns, [Some("id"), Some("x")]);
    assert!(problems.iter().all(|problem| problem.segment.is_some() && problem.offset.is_some()));
    assert_eq!(rows_read, 2, "those behind the base of the other segment");
}

#[test]
fn an_index_of_other_keys_misses_every_row() {
    let told = messages(|engine, version| {
        let other =
            entries(engine, version).into_iter().map(|there| entry(there.code.hash ^ 1, there.row));
        let mut other: Vec<_> = other.collect();
        other.sort_unstable();
        with_run(engine, version, &other);
    });
    assert_eq!(told.len(), usize::try_from(ROWS).unwrap());
}

#[test]
fn rows_that_refer_to_nothing_are_found() {
    let engine = sample();
    let mut transaction = engine.begin().unwrap();
    let schema = transaction.snapshot().table("t").unwrap().schema().clone();
    transaction.insert(&schema, vec![[Datum::Integer(-3), Datum::Integer(9_999)].into()]).unwrap();
    transaction.commit().unwrap();
    let mut transaction = engine.begin().unwrap();
    let mut after = TableSchema::clone(&schema);
    after.add_index("by", &[1], (false, true));
    let columns = |place: usize| vec![schema.columns[place].id];
    after.foreign_keys.push(ForeignKey {
        name: "own".to_owned(),
        columns: columns(1),
        table: schema.id,
        referenced: columns(0),
        on_delete: ReferentialAction::NoAction,
        on_update: ReferentialAction::NoAction,
    });
    // Whoever adds one sees to what is there: here nobody does.
    transaction.alter_table(&after, &[]).unwrap();
    transaction.commit().unwrap();
    let problems = engine.verify(&mut |_, _| ()).unwrap().problems;
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.table.as_deref(), Some("t"));
    let message =
        "of foreign key \"own\": not in table \"t\" are 1 of its values, the first (9999)";
    assert_eq!(problem.message, message);
}
