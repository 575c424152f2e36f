//! The constraints of tables as the catalog tells them.

use super::build::{Cell, Rows};
use super::keys::keys;
use super::oids;
use super::rows::number;
use gadus_engine::{ForeignKey, ReferentialAction, Snapshot, Table, TableSchema};

/// Those of all tables.
pub(super) fn constraints(snapshot: &Snapshot) -> Rows {
    let mut rows = Vec::new();
    for table in oids::tables(snapshot) {
        let schema = table.schema();
        let of = (&table, oids::of_schema_of(snapshot, &schema.name));
        for key in keys(&table).into_iter().filter(|key| key.is_constraint) {
            let kind = if key.is_primary { "p" } else { "u" };
            let columns = key.columns.iter().map(number).collect();
            rows.push(constraint(of, (key.oid, key.name), (kind, columns)));
        }
        for (place, check) in schema.checks.iter().enumerate() {
            let oid = oids::of_check(table.id(), place);
            let columns = check.columns.iter().filter_map(|id| schema.column_with_id(*id));
            let columns = columns.map(|place| number(&place)).collect();
            let mut row = constraint(of, (oid, check.name.clone()), ("c", columns));
            row.push(("conbin", check.condition.as_str().into()));
            rows.push(row);
        }
        let keys = schema.foreign_keys.iter().enumerate();
        rows.extend(keys.map(|(place, key)| foreign_key(snapshot, &table, (place, key))));
    }
    rows
}

fn foreign_key(
    snapshot: &Snapshot,
    table: &Table,
    (place, key): (usize, &ForeignKey),
) -> Vec<(&'static str, Cell)> {
    let numbers = |schema: &TableSchema, columns: &[u32]| {
        let places = columns.iter().filter_map(|id| schema.column_with_id(*id));
        places.map(|place| number(&place)).collect::<Vec<_>>()
    };
    let action = |action| match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
    };
    let oid = oids::of_foreign_key(table.id(), place);
    let columns = numbers(table.schema(), &key.columns);
    let home = oids::of_schema_of(snapshot, &table.schema().name);
    let mut row = constraint((table, home), (oid, key.name.clone()), ("f", columns));
    let told = ["conindid", "confrelid", "confupdtype", "confdeltype", "confmatchtype"];
    row.retain(|(name, _)| !told.contains(name));
    let other = snapshot.table_by_id(key.table);
    let other = other.as_ref().map_or(table.schema(), Table::schema);
    let index = match other.unique_over(&key.referenced) {
        Some(0) => oids::of_key(key.table),
        Some(index) => oids::of_index(key.table, index),
        None => 0,
    };
    row.extend([
        ("conindid", index.into()),
        ("confrelid", oids::of_table(key.table).into()),
        ("confupdtype", action(key.on_update).into()),
        ("confdeltype", action(key.on_delete).into()),
        ("confmatchtype", "s".into()),
        ("confkey", Cell::Numbers(numbers(other, &key.referenced))),
    ]);
    row
}

fn constraint(
    (table, home): (&Table, i64),
    (oid, name): (i64, String),
    (kind, columns): (&str, Vec<i64>),
) -> Vec<(&'static str, Cell)> {
    let is_key = matches!(kind, "p" | "u");
    let index = if is_key { oid } else { 0 };
    vec![
        ("oid", oid.into()),
        ("conname", name.into()),
        ("connamespace", home.into()),
        ("contype", kind.into()),
        ("condeferrable", false.into()),
        ("condeferred", false.into()),
        ("convalidated", true.into()),
        ("conrelid", oids::of_table(table.id()).into()),
        ("contypid", 0.into()),
        ("conindid", index.into()),
        ("conparentid", 0.into()),
        ("confrelid", 0.into()),
        ("confupdtype", " ".into()),
        ("confdeltype", " ".into()),
        ("confmatchtype", " ".into()),
        ("conislocal", true.into()),
        ("coninhcount", 0.into()),
        ("connoinherit", is_key.into()),
        ("conkey", Cell::Numbers(columns)),
    ]
}
