//! Numbers of things in the catalog: the same in each session for as long as the thing is there.

use gadus_base::TableId;
use gadus_engine::{Snapshot, Table};

/// Numbers below are PostgreSQL's own.
const FIRST: i64 = 16_384;

pub(super) const CATALOG_SCHEMA: i64 = 11;
pub(super) const MAIN_SCHEMA: i64 = 2_200;
pub(super) const INFORMATION_SCHEMA: i64 = 13_000;
pub(super) const DATABASE: i64 = 5;
pub(super) const OWNER: i64 = 10;
/// Users are numbered as they are sorted: only names are for keeping.
pub(super) const FIRST_USER: i64 = 14_000;
pub(super) const HEAP: i64 = 2;
pub(super) const BTREE: i64 = 403;

/// The number of a table.
pub(super) fn of_table(id: TableId) -> i64 {
    FIRST + i64::from(id.0) * 2
}

/// The number of its primary key, as an index and as a constraint.
pub(super) fn of_key(id: TableId) -> i64 {
    of_table(id) + 1
}

/// The tables that statements can name.
pub(super) fn tables(snapshot: &Snapshot) -> Vec<Table> {
    let mut tables = snapshot.tables();
    tables.retain(|table| !crate::session::is_hidden(&table.schema().name));
    tables
}

/// The name of a table's primary key.
pub(super) fn key_name(table: &Table) -> String {
    format!("{}_pkey", table.schema().name)
}
