//! What tables there are, and the statements that make them.
//!
//! - As of the newest commit: a transaction's own tables are not yet there.

use crate::database::Database;
use gadus_base::TableId;
use gadus_engine::{
    ColumnDefinition, ColumnType, ForeignKey, Identity, IndexDefinition, Result, Sequence,
    Snapshot, TableSchema, ViewSchema, is_temporary, schema_and_name,
};
use gadus_sql::{found_name, quoted_name as quoted, sequence_options, written_name};
use std::collections::HashSet;
use std::fmt::Write;

impl Database {
    /// The names of all tables, sorted.
    ///
    /// # Errors
    /// When what other processes have committed cannot be read.
    pub fn tables(&self) -> Result<Vec<String>> {
        let tables = self.engine().snapshot()?.tables();
        let names = tables.iter().map(|table| table.schema().name.as_str());
        let shown = names.filter(|name| !gadus_sql::is_hidden(name) && !is_temporary(name));
        let mut names = shown.map(written_name).collect::<Vec<_>>();
        names.sort_unstable();
        Ok(names)
    }

    /// The names of all views, sorted.
    ///
    /// # Errors
    /// When what other processes have committed cannot be read.
    pub fn views(&self) -> Result<Vec<String>> {
        let snapshot = self.engine().snapshot()?;
        let names = snapshot.views().map(|view| view.name.as_str());
        let mut names =
            names.filter(|name| !is_temporary(name)).map(written_name).collect::<Vec<_>>();
        names.sort_unstable();
        Ok(names)
    }

    /// The names of all sequences that belong to no column, sorted.
    ///
    /// # Errors
    /// When what other processes have committed cannot be read.
    pub fn sequences(&self) -> Result<Vec<String>> {
        let snapshot = self.engine().snapshot()?;
        let free = free_sequences(&snapshot);
        let mut names = free.map(|sequence| written_name(&sequence.name)).collect::<Vec<_>>();
        names.sort_unstable();
        Ok(names)
    }

    /// The statements that make all types, sequences, tables, indexes, functions, views and comments again, without semicolons, in an order in which
    /// they can be run: what tables refer to comes before them, or as a constraint behind them.
    ///
    /// # Errors
    /// When what other processes have committed cannot be read.
    pub fn schema_statements(&self) -> Result<Vec<String>> {
        let snapshot = self.engine().snapshot()?;
        let schemas = snapshot.schemas().map(|name| format!("CREATE SCHEMA {}", quoted(name)));
        let mut statements = schemas.collect::<Vec<_>>();
        statements.extend(gadus_sql::type_statements(&snapshot));
        let mut sequences = free_sequences(&snapshot).collect::<Vec<_>>();
        sequences.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        statements.extend(sequences.into_iter().map(create_sequence));
        let mut tables = snapshot.tables();
        tables.retain(|table| {
            let name = &table.schema().name;
            !gadus_sql::is_hidden(name) && !is_temporary(name)
        });
        tables.sort_unstable_by(|one, other| one.schema().name.cmp(&other.schema().name));
        let needs = |id: TableId| {
            let schema = snapshot.table_by_id(id).map(|table| table.schema().clone());
            let keys = schema.map(|schema| schema.foreign_keys.clone()).unwrap_or_default();
            keys.into_iter().map(|key| key.table).filter(|other| *other != id).collect::<Vec<_>>()
        };
        let mut made = HashSet::new();
        let mut behind = Vec::new();
        for id in in_order(tables.iter().map(gadus_engine::Table::id).collect(), needs) {
            let Some(table) = snapshot.table_by_id(id) else { continue };
            made.insert(id);
            let schema = table.schema();
            let is_now = |key: &ForeignKey| made.contains(&key.table);
            statements.push(create_statement(&snapshot, schema, is_now));
            statements.extend(index_statements(schema));
            for key in schema.foreign_keys.iter().filter(|key| !is_now(key)) {
                let (table, constraint) =
                    (quoted(&schema.name), constraint(&snapshot, schema, key));
                behind.push(format!("ALTER TABLE {table} ADD {constraint}"));
            }
        }
        statements.append(&mut behind);
        statements.extend(gadus_sql::functions(&snapshot).map(|(_, text)| text.to_string()));
        let mut views = snapshot.views().collect::<Vec<_>>();
        views.retain(|view| !is_temporary(&view.name));
        views.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let uses = |id: TableId| {
            let view = views.iter().find(|view| view.id == id);
            view.map(|view| view.uses.iter().map(|used| used.id).collect()).unwrap_or_default()
        };
        for id in in_order(views.iter().map(|view| view.id).collect(), uses) {
            let view = views.iter().find(|view| view.id == id);
            statements.extend(view.map(|view| create_view(&snapshot, view)));
        }
        statements.extend(gadus_sql::comment_statements(&snapshot));
        Ok(statements)
    }

    /// The CREATE statement of a table, a view or a sequence, without a semicolon.
    ///
    /// # Errors
    /// `NotFound` when there is none of this exact name.
    pub fn create_statement(&self, table: &str) -> Result<String> {
        let snapshot = self.engine().snapshot()?;
        let table = &*found_name(&snapshot, table);
        if let Some(view) = snapshot.find_view(table) {
            return Ok(create_view(&snapshot, &view));
        }
        if let Some(sequence) = snapshot.find_sequence(table) {
            return Ok(create_sequence(sequence));
        }
        Ok(create_statement(&snapshot, snapshot.table(table)?.schema(), |_| true))
    }

    /// The CREATE INDEX statements of a table, without semicolons; constraints are in the table's own statement.
    ///
    /// # Errors
    /// `NotFound` when there is no table of this exact name.
    pub fn index_statements(&self, table: &str) -> Result<Vec<String>> {
        let snapshot = self.engine().snapshot()?;
        Ok(index_statements(snapshot.table(&found_name(&snapshot, table))?.schema()).collect())
    }
}

/// The same, each behind those that it needs; one of those that need each other goes first.
fn in_order(mut ids: Vec<TableId>, needs: impl Fn(TableId) -> Vec<TableId>) -> Vec<TableId> {
    let mut ordered = Vec::with_capacity(ids.len());
    while !ids.is_empty() {
        let is_free = |id: &TableId| !needs(*id).iter().any(|other| ids.contains(other));
        let place = ids.iter().position(is_free).unwrap_or(0);
        ordered.push(ids.remove(place));
    }
    ordered
}

fn create_view(snapshot: &Snapshot, view: &ViewSchema) -> String {
    let columns = view.columns.iter().map(|column| quoted(&column.name));
    let columns = columns.collect::<Vec<_>>().join(", ");
    let query = gadus_sql::view_definition(snapshot, view);
    format!("CREATE VIEW {} ({columns}) AS {query}", quoted(&view.name))
}

fn index_statements(schema: &TableSchema) -> impl Iterator<Item = String> {
    let others = schema.indexes.iter().filter(|index| !index.constraint);
    others.map(|index: &IndexDefinition| {
        let unique = if index.unique { "UNIQUE " } else { "" };
        let (name, on) = (quoted(schema_and_name(&index.name).1), quoted(&schema.name));
        format!("CREATE {unique}INDEX {name} ON {on} ({})", columns_of(index, schema))
    })
}

fn constraint(snapshot: &Snapshot, schema: &TableSchema, key: &ForeignKey) -> String {
    let text = gadus_sql::foreign_key_definition(snapshot, schema, key);
    format!("CONSTRAINT {} {text}", quoted(&key.name))
}

/// Those that belong to no column.
fn free_sequences(snapshot: &Snapshot) -> impl Iterator<Item = &Sequence> {
    let all = snapshot.sequences().map(|sequence| &**sequence);
    all.filter(|sequence| sequence.owner.is_none() && !is_temporary(&sequence.name))
}

fn create_sequence(sequence: &Sequence) -> String {
    let shape = &sequence.shape;
    let of = match shape.column_type {
        ColumnType::Int64 => String::new(),
        other => format!(" AS {other}"),
    };
    format!("CREATE SEQUENCE {}{of}{}", quoted(&sequence.name), sequence_options(shape))
}

/// With those foreign keys that it is to have from the beginning.
fn create_statement(
    snapshot: &Snapshot,
    schema: &TableSchema,
    has: impl Fn(&ForeignKey) -> bool,
) -> String {
    let line = |column| column_line(column, sequence_of(snapshot, schema, column));
    let mut lines = schema.columns.iter().map(line).collect::<Vec<_>>();
    if !schema.key.is_empty() {
        let key = schema.key.iter().map(|&column| quoted(&schema.columns[column].name));
        lines.push(format!("    PRIMARY KEY ({})", key.collect::<Vec<_>>().join(", ")));
    }
    for index in schema.indexes.iter().filter(|index| index.constraint && index.unique) {
        let (name, columns) = (quoted(schema_and_name(&index.name).1), columns_of(index, schema));
        lines.push(format!("    CONSTRAINT {name} UNIQUE ({columns})"));
    }
    for check in &schema.checks {
        let (name, condition) = (quoted(&check.name), &check.condition);
        lines.push(format!("    CONSTRAINT {name} CHECK ({condition})"));
    }
    for key in schema.foreign_keys.iter().filter(|key| has(key)) {
        lines.push(format!("    {}", constraint(snapshot, schema, key)));
    }
    format!("CREATE TABLE {} (\n{}\n)", quoted(&schema.name), lines.join(",\n"))
}

/// The names of an index's columns.
fn columns_of(index: &IndexDefinition, schema: &TableSchema) -> String {
    let places = index.columns.iter().filter_map(|id| schema.column_with_id(*id));
    let names = places.map(|place| quoted(&schema.columns[place].name));
    names.collect::<Vec<_>>().join(", ")
}

/// The sequence that belongs to a column.
fn sequence_of<'a>(
    snapshot: &'a Snapshot,
    schema: &TableSchema,
    column: &ColumnDefinition,
) -> Option<&'a Sequence> {
    let owner = Some((schema.id, column.id));
    let mut owned = snapshot.owned_sequences(schema.id);
    owned.find(|sequence| sequence.owner == owner).map(|sequence| &**sequence)
}

fn column_line(column: &ColumnDefinition, sequence: Option<&Sequence>) -> String {
    let (name, of) = (quoted(&column.name), column.column_type);
    if let (Some(identity), Some(sequence)) = (column.identity, sequence) {
        let kind = match identity {
            Identity::Always => "ALWAYS",
            Identity::ByDefault => "BY DEFAULT",
        };
        let options = match sequence_options(&sequence.shape) {
            options if options.is_empty() => options,
            options => format!(" ({})", options.trim_start()),
        };
        return format!("    {name} {of} GENERATED {kind} AS IDENTITY{options}");
    }
    let is_plain = |sequence: &Sequence| {
        sequence.shape.column_type == of && sequence_options(&sequence.shape).is_empty()
    };
    if sequence.is_some_and(is_plain) && column.default.is_some() && !column.nullable {
        let serial = match of {
            ColumnType::Int16 => "SMALLSERIAL",
            ColumnType::Int32 => "SERIAL",
            _ => "BIGSERIAL",
        };
        return format!("    {name} {serial}");
    }
    let mut line = format!("    {name} {of}");
    if let Some(generated) = &column.generated {
        let _ = write!(line, " GENERATED ALWAYS AS ({}) STORED", generated.expression);
    }
    if !column.nullable {
        line.push_str(" NOT NULL");
    }
    if let Some(default) = &column.default {
        // Writing to a String cannot fail.
        let _ = write!(line, " DEFAULT {}", default.0);
    }
    line
}
