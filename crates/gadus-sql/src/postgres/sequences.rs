//! Sequences in the catalog.

use super::build::Rows;
use super::known::quoted;
use super::rows::home;
use super::{oids, types};
use crate::provider::CATALOG;
use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use gadus_engine::{ColumnType, Sequence, Snapshot, schema_and_name};
use std::sync::Arc;

/// A sequence as a table of one row, as PostgreSQL has it.
pub(crate) fn as_table(sequence: &Sequence) -> gadus_engine::Result<RecordBatch> {
    let number = |value| Arc::new(Int64Array::from(vec![value])) as ArrayRef;
    Ok(RecordBatch::try_from_iter([
        ("last_value", number(sequence.position.last)),
        ("log_cnt", number(0)),
        ("is_called", Arc::new(BooleanArray::from(vec![sequence.position.is_given])) as ArrayRef),
    ])?)
}

/// `pg_sequence`.
pub(super) fn sequences(snapshot: &Snapshot) -> Rows {
    let row = |sequence: &Arc<Sequence>| {
        let shape = &sequence.shape;
        vec![
            ("seqrelid", oids::of_table(sequence.id).into()),
            ("seqtypid", types::of_column(shape.column_type).oid.into()),
            ("seqstart", shape.start.into()),
            ("seqincrement", shape.increment.into()),
            ("seqmax", shape.greatest.into()),
            ("seqmin", shape.least.into()),
            ("seqcache", 1.into()),
            ("seqcycle", shape.cycles.into()),
        ]
    };
    oids::sequences(snapshot).map(row).collect()
}

/// `pg_sequences`.
pub(super) fn shown(snapshot: &Snapshot) -> Rows {
    let row = |sequence: &Arc<Sequence>| {
        let (shape, position) = (&sequence.shape, sequence.position);
        let mut row = vec![
            ("schemaname", home(&sequence.name).into()),
            ("sequencename", schema_and_name(&sequence.name).1.into()),
            ("sequenceowner", CATALOG.into()),
            ("data_type", type_name(shape.column_type).into()),
            ("start_value", shape.start.into()),
            ("min_value", shape.least.into()),
            ("max_value", shape.greatest.into()),
            ("increment_by", shape.increment.into()),
            ("cycle", shape.cycles.into()),
            ("cache_size", 1.into()),
        ];
        if position.is_given {
            row.push(("last_value", position.last.into()));
        }
        row
    };
    oids::sequences(snapshot).map(row).collect()
}

/// `pg_depend`: what a sequence goes with. That is all that is told there.
pub(super) fn owners(snapshot: &Snapshot) -> Rows {
    let row = |sequence: &Arc<Sequence>| {
        let (table, column) = sequence.owner?;
        let held = snapshot.table_by_id(table)?;
        let place = held.schema().column_with_id(column)?;
        let kind = if held.schema().columns[place].identity.is_some() { "i" } else { "a" };
        Some(vec![
            ("classid", oids::CLASSES.into()),
            ("objid", oids::of_table(sequence.id).into()),
            ("objsubid", 0.into()),
            ("refclassid", oids::CLASSES.into()),
            ("refobjid", oids::of_table(table).into()),
            ("refobjsubid", i64::try_from(place + 1).unwrap_or(i64::MAX).into()),
            ("deptype", kind.into()),
        ])
    };
    oids::sequences(snapshot).filter_map(row).collect()
}

/// `pg_get_serial_sequence`: the sequence that goes with a column.
pub(super) fn of_column(snapshot: &Snapshot, table: &str, column: &str) -> Option<String> {
    let table = crate::sequences::exact_name(table)?;
    let table = snapshot.find_table(&table)?;
    let place = table.schema().column_index(column)?;
    let id = table.schema().columns[place].id;
    let owned = snapshot.owned_sequences(table.id());
    let mut named = owned.filter(|sequence| sequence.owner == Some((table.id(), id)));
    named.next().map(|sequence| {
        let name = schema_and_name(&sequence.name).1;
        format!("{}.{}", quoted(home(&sequence.name)), quoted(name))
    })
}

fn type_name(column_type: ColumnType) -> &'static str {
    match column_type {
        ColumnType::Int16 => "smallint",
        ColumnType::Int32 => "integer",
        _ => "bigint",
    }
}
