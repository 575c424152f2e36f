//! The indexes of a table as the catalog tells them, its primary key's among them.

use super::known::quoted;
use super::oids;
use super::rows::home;
use gadus_engine::{Table, schema_and_name};

/// An index.
#[derive(Debug, Clone)]
pub(super) struct Key {
    /// Its number, as an index and as a constraint.
    pub(super) oid: i64,
    pub(super) name: String,
    /// The places of its columns.
    pub(super) columns: Vec<usize>,
    pub(super) is_primary: bool,
    pub(super) is_unique: bool,
    /// Whether it stands for a constraint.
    pub(super) is_constraint: bool,
    /// The names of its columns, as they are written.
    pub(super) names: Vec<String>,
    /// The statement that would make it.
    pub(super) definition: String,
}

/// The indexes of a table, the primary key's first.
pub(super) fn keys(table: &Table) -> Vec<Key> {
    let schema = table.schema();
    let mut keys = Vec::new();
    if !schema.key.is_empty() {
        keys.push(Key {
            oid: oids::of_key(table.id()),
            name: format!("{}_pkey", schema_and_name(&schema.name).1),
            columns: schema.key.clone(),
            is_primary: true,
            is_unique: true,
            is_constraint: true,
            names: Vec::new(),
            definition: String::new(),
        });
    }
    keys.extend(schema.indexes.iter().map(|index| Key {
        oid: oids::of_index(table.id(), index.id),
        name: schema_and_name(&index.name).1.to_owned(),
        columns: index.columns.iter().filter_map(|id| schema.column_with_id(*id)).collect(),
        is_primary: false,
        is_unique: index.unique,
        // That of a foreign key is an index like others.
        is_constraint: index.constraint && index.unique,
        names: Vec::new(),
        definition: String::new(),
    }));
    for key in &mut keys {
        let name = |place: &usize| quoted(&schema.columns[*place].name);
        key.names = key.columns.iter().map(name).collect();
        let unique = if key.is_unique { "UNIQUE " } else { "" };
        key.definition = format!(
            "CREATE {unique}INDEX {} ON {}.{} USING btree ({})",
            quoted(&key.name),
            quoted(home(&schema.name)),
            quoted(schema_and_name(&schema.name).1),
            key.names.join(", ")
        );
    }
    keys
}

impl Key {
    /// What it says as a constraint.
    pub(super) fn constraint(&self) -> String {
        let what = if self.is_primary { "PRIMARY KEY" } else { "UNIQUE" };
        format!("{what} ({})", self.names.join(", "))
    }
}
