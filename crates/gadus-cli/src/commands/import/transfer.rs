//! Rows of SQLite become batches of Arrow data.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Float64Builder, Int64Builder, RecordBatch,
    StringBuilder,
};
use gadus::Appender;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::source::{SourceTable, quoted, told};
use super::types::Target;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Rows, and bytes of their texts, that are handed on together.
const BATCH_ROWS: usize = 16_384;
const BATCH_BYTES: usize = 32 << 20;

/// The values of one column as they come.
enum Column {
    Booleans(BooleanBuilder),
    Integers(Int64Builder),
    Numbers(Float64Builder),
    Texts(StringBuilder),
    Bytes(BinaryBuilder),
}

impl Column {
    fn new(target: Target) -> Self {
        match target {
            Target::Boolean => Self::Booleans(BooleanBuilder::new()),
            Target::BigInt => Self::Integers(Int64Builder::new()),
            Target::Double | Target::Decimal(..) => Self::Numbers(Float64Builder::new()),
            Target::Text | Target::Date | Target::Timestamp | Target::Json => {
                Self::Texts(StringBuilder::new())
            }
            Target::Bytes => Self::Bytes(BinaryBuilder::new()),
        }
    }

    /// Adds a value; returns its bytes, or none where it is no text of UTF-8.
    fn push(&mut self, value: ValueRef<'_>) -> Option<usize> {
        match (self, value) {
            (Self::Booleans(all), ValueRef::Integer(value)) => all.append_value(value != 0),
            (Self::Booleans(all), _) => all.append_null(),
            (Self::Integers(all), ValueRef::Integer(value)) => all.append_value(value),
            (Self::Integers(all), _) => all.append_null(),
            (Self::Numbers(all), ValueRef::Real(value)) => all.append_value(value),
            (Self::Numbers(all), _) => all.append_null(),
            (Self::Texts(all), ValueRef::Text(value)) => {
                all.append_value(std::str::from_utf8(value).ok()?);
                return Some(value.len());
            }
            (Self::Texts(all), _) => all.append_null(),
            (Self::Bytes(all), ValueRef::Blob(value)) => {
                all.append_value(value);
                return Some(value.len());
            }
            (Self::Bytes(all), _) => all.append_null(),
        }
        Some(0)
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            Self::Booleans(all) => Arc::new(all.finish()),
            Self::Integers(all) => Arc::new(all.finish()),
            Self::Numbers(all) => Arc::new(all.finish()),
            Self::Texts(all) => Arc::new(all.finish()),
            Self::Bytes(all) => Arc::new(all.finish()),
        }
    }
}

/// Appends all rows of a table; `progress` is told of rows.
pub(super) fn transfer(
    source: &Connection,
    (table, types): (&SourceTable, &[(Target, bool)]),
    mut appender: Appender,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, Failure> {
    let both = table.columns.iter().zip(types);
    let items = both.map(|(column, (target, _))| target.asked(&column.name)).collect::<Vec<_>>();
    let text = format!("SELECT {} FROM {}", items.join(", "), quoted(&table.name));
    let mut statement = source.prepare(&text).map_err(told)?;
    let mut rows = statement.query([]).map_err(told)?;
    let mut columns = types.iter().map(|(target, _)| Column::new(*target)).collect::<Vec<_>>();
    let (mut waiting, mut bytes, mut number) = (0, 0, 0_u64);
    loop {
        let row = rows.next().map_err(told)?;
        let is_full = waiting >= BATCH_ROWS || bytes >= BATCH_BYTES;
        if waiting > 0 && (is_full || row.is_none()) {
            interrupt.check()?;
            let arrays = columns.iter_mut().map(Column::take);
            let names = table.columns.iter().map(|column| column.name.as_str());
            appender.append(RecordBatch::try_from_iter_with_nullable(
                names.zip(arrays).map(|(name, array)| (name, array, true)),
            )?)?;
            progress(waiting as u64);
            (waiting, bytes) = (0, 0);
        }
        let Some(row) = row else { return Ok(appender.finish()?) };
        number += 1;
        waiting += 1;
        for (place, column) in columns.iter_mut().enumerate() {
            let pushed = column.push(row.get_ref(place).map_err(told)?);
            bytes += pushed.ok_or_else(|| {
                let (table, column) = (&table.name, &table.columns[place].name);
                Failure::message(format!(
                    "row {number} of table {table}: column {column} has a text that is not UTF-8"
                ))
            })?;
        }
    }
}
