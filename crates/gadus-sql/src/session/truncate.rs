//! TRUNCATE.

use super::Outcome;
use super::modify::target;
use super::sequences::restart_owned;
use datafusion::sql::sqlparser::ast::{CascadeOption, Truncate, TruncateIdentityOption};
use gadus_engine::{Error, ErrorKind, Result, Snapshot, TableSchema, Transaction};
use std::sync::Arc;

pub(super) fn truncate(transaction: &mut Transaction, truncate: &Truncate) -> Result<Outcome> {
    let snapshot = transaction.snapshot();
    let named = truncate.table_names.iter().map(|named| target(&snapshot, &named.name));
    let named = named.collect::<Result<Vec<_>>>()?;
    let cascade = truncate.cascade == Some(CascadeOption::Cascade);
    for schema in to_truncate(&snapshot, named, cascade)? {
        transaction.empty_table(&schema)?;
        if truncate.identity == Some(TruncateIdentityOption::Restart) {
            restart_owned(transaction, &schema)?;
        }
    }
    Ok(Outcome::Done("TRUNCATE TABLE"))
}

/// The tables to empty: those that it names, and where it cascades all that refer to them.
///
/// # Errors
/// Where others refer to them.
fn to_truncate(
    snapshot: &Snapshot,
    named: Vec<Arc<TableSchema>>,
    cascade: bool,
) -> Result<Vec<Arc<TableSchema>>> {
    let mut tables = named;
    let mut next = 0;
    while let Some(schema) = tables.get(next).cloned() {
        next += 1;
        for other in &schema.referenced_by {
            let Some(other) = snapshot.table_by_id(*other) else { continue };
            if tables.iter().any(|known| known.id == other.id()) {
                continue;
            }
            if !cascade {
                let message = format!(
                    "cannot truncate a table referenced in a foreign key constraint: table \"{}\" \
                     references \"{}\"; truncate it at the same time, or use TRUNCATE … CASCADE",
                    other.schema().name,
                    schema.name
                );
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            tables.push(other.schema().clone());
        }
    }
    Ok(tables)
}
