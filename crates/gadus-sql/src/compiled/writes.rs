//! Where the writes of a compiled statement go.

use gadus_engine::{Autocommit, Datum, Engine, Result, RowChange, TableSchema, Transaction};
use std::sync::Arc;

/// One statement's access to what it changes.
#[derive(Debug)]
pub(crate) enum Writes<'a> {
    /// A commit of its own.
    Alone(&'a Engine, Autocommit<'a>),
    /// The transaction that is open.
    Joining(&'a mut Transaction),
}

impl Writes<'_> {
    /// Inserts whole rows.
    pub(super) fn insert(self, schema: &TableSchema, rows: Vec<Arc<[Datum]>>) -> Result<u64> {
        match self {
            Self::Alone(engine, how) => engine.insert_rows(schema, rows, how),
            Self::Joining(transaction) => transaction.insert_referring(schema, rows),
        }
    }

    /// Changes the row with a key, if there is one; returns how many were changed.
    pub(super) fn change_row(
        self,
        schema: &TableSchema,
        key: &[Datum],
        decide: impl FnMut(&[Datum]) -> Result<RowChange>,
    ) -> Result<u64> {
        match self {
            Self::Alone(engine, how) => engine.change_row(schema, key, how, decide),
            Self::Joining(transaction) => transaction.change_row(schema, key, decide),
        }
    }
}
