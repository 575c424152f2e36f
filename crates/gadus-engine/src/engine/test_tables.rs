//! Tables for the tests of the engine's inside.

use crate::transaction::Transaction;
use crate::{ColumnDefinition, ColumnType, Datum, Result, TableSchema, array_from_datums};
use arrow::array::RecordBatch;
use std::sync::Arc;

/// Enough to be loaded into a segment of their own.
pub(crate) const LOADED_ROWS: i64 = 8_192;

/// A new table "t" of rows that are loaded: `id`, the key, counts them from zero, and the other
/// column, `x`, is the same.
pub(crate) fn loaded(transaction: &mut Transaction, x_is_nullable: bool) -> Arc<TableSchema> {
    let column = |name: &str| ColumnDefinition {
        nullable: name == "x" && x_is_nullable,
        ..ColumnDefinition::new(name, ColumnType::Int64)
    };
    let schema = TableSchema::new("t", vec![column("id"), column("x")], vec![0]).unwrap();
    let schema = transaction.create_table(&schema).unwrap();
    let ids = (0..LOADED_ROWS).map(Datum::Integer).collect::<Vec<_>>();
    let array = array_from_datums(ColumnType::Int64, ids.iter()).unwrap();
    let batch = RecordBatch::try_new(schema.arrow(), vec![array.clone(), array]).unwrap();
    let mut bulk = transaction.bulk(&schema).unwrap();
    bulk.push(&batch).unwrap();
    transaction.finish_bulk(bulk).unwrap();
    schema
}

/// A new table "t" of one column, `id`, its key.
pub(crate) fn of_ids(transaction: &mut Transaction) -> Arc<TableSchema> {
    let id = ColumnDefinition { nullable: false, ..ColumnDefinition::new("id", ColumnType::Int64) };
    let schema = TableSchema::new("t", vec![id], vec![0]).unwrap();
    transaction.create_table(&schema).unwrap()
}

/// Loads `LOADED_ROWS` ids from the first one on, as a segment.
pub(crate) fn load_ids(
    transaction: &mut Transaction,
    schema: &Arc<TableSchema>,
    first: i64,
) -> Result<u64> {
    let ids = (first..first + LOADED_ROWS).map(Datum::Integer).collect::<Vec<_>>();
    let array = array_from_datums(ColumnType::Int64, ids.iter()).unwrap();
    let batch = RecordBatch::try_new(schema.arrow(), vec![array]).unwrap();
    let mut bulk = transaction.bulk(schema)?;
    bulk.push(&batch)?;
    transaction.finish_bulk(bulk)
}
