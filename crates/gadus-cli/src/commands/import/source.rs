//! What an SQLite file has: its tables as they are declared, read within one transaction.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::failure::Failure;

/// What a DuckDB file has at its ninth byte.
const DUCKDB: &[u8] = b"DUCK";

/// A table as SQLite has it.
#[derive(Debug)]
pub(super) struct SourceTable {
    pub(super) name: String,
    pub(super) columns: Vec<SourceColumn>,
    /// The places of the primary key's columns, in its order.
    pub(super) key: Vec<usize>,
    pub(super) has_rowid: bool,
    pub(super) indexes: Vec<SourceIndex>,
    pub(super) foreign_keys: Vec<SourceForeignKey>,
    pub(super) rows: u64,
}

/// A column.
#[derive(Debug)]
pub(super) struct SourceColumn {
    pub(super) name: String,
    pub(super) declared: String,
    pub(super) not_null: bool,
    pub(super) default: Option<String>,
    pub(super) is_generated: bool,
}

/// An index beside that of the primary key.
#[derive(Debug)]
pub(super) struct SourceIndex {
    pub(super) name: String,
    pub(super) unique: bool,
    /// Whether it stands for a UNIQUE of the table.
    pub(super) is_constraint: bool,
    /// None where it is over expressions, over some rows only, or by another order of texts.
    pub(super) columns: Option<Vec<String>>,
}

/// A foreign key.
#[derive(Debug)]
pub(super) struct SourceForeignKey {
    pub(super) table: String,
    pub(super) columns: Vec<String>,
    /// Empty where it refers to the primary key.
    pub(super) referenced: Vec<String>,
    pub(super) on_update: String,
    pub(super) on_delete: String,
}

/// Opens a file for reading, as of now.
pub(super) fn open(path: &Path) -> Result<Connection, Failure> {
    let place = path.display();
    let start = std::fs::File::open(path).and_then(|file| {
        let mut start = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, 16), &mut start)?;
        Ok(start)
    });
    let start = start.map_err(|error| Failure::message(format!("{place}: {error}")))?;
    if start.get(8..12) == Some(DUCKDB) {
        return Err(Failure::message(format!(
            "{place} is a DuckDB database. There: EXPORT DATABASE 'folder' (FORMAT parquet); here: CREATE TABLE t AS \
             SELECT * FROM 'folder/t.parquet'"
        )));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags);
    let opened = opened.and_then(|source| {
        source.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema")?;
        Ok(source)
    });
    opened.map_err(|error| Failure::message(format!("{place}: {error}")))
}

/// The names of all tables that hold rows of their own; notices tell of what is left out.
pub(super) fn tables(
    source: &Connection,
    notices: &mut Vec<String>,
) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    let text = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                ORDER BY name";
    each(source, text, &[], |row| {
        let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
        match kind.as_str() {
            "table" => names.push(name),
            "view" => {
                notices.push(format!("view {name} is left out: its query may be another here"))
            }
            "virtual" => notices.push(format!("virtual table {name} is left out")),
            _ => {}
        }
        Ok(())
    })?;
    each(source, "SELECT name FROM sqlite_schema WHERE type = 'trigger'", &[], |row| {
        notices.push(format!("trigger {} is left out", row.get::<_, String>(0)?));
        Ok(())
    })?;
    Ok(names)
}

/// A table by its name.
pub(super) fn table(source: &Connection, name: &str) -> Result<SourceTable, Failure> {
    let (mut columns, mut key) = (Vec::new(), Vec::new());
    let text = "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) WHERE hidden <> 1";
    each(source, text, &[name], |row| {
        let place: u32 = row.get(4)?;
        if place > 0 {
            key.push((place, columns.len()));
        }
        columns.push(SourceColumn {
            name: row.get(0)?,
            declared: row.get(1)?,
            not_null: row.get(2)?,
            default: row.get(3)?,
            is_generated: row.get::<_, i64>(5)? > 1,
        });
        Ok(())
    })?;
    key.sort_unstable();
    let mut has_rowid = true;
    each(source, "SELECT wr FROM pragma_table_list(?1)", &[name], |row| {
        has_rowid = !row.get::<_, bool>(0)?;
        Ok(())
    })?;
    let mut rows = 0;
    each(source, &format!("SELECT count(*) FROM {}", quoted(name)), &[], |row| {
        rows = row.get::<_, i64>(0)?.unsigned_abs();
        Ok(())
    })?;
    Ok(SourceTable {
        name: name.to_owned(),
        columns,
        key: key.into_iter().map(|(_, column)| column).collect(),
        has_rowid,
        indexes: indexes(source, name)?,
        foreign_keys: foreign_keys(source, name)?,
        rows,
    })
}

fn indexes(source: &Connection, table: &str) -> Result<Vec<SourceIndex>, Failure> {
    let mut all = Vec::new();
    let text = "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1) WHERE origin <> 'pk' ORDER BY seq DESC";
    each(source, text, &[table], |row| {
        let origin: String = row.get(2)?;
        let is_partial: bool = row.get(3)?;
        all.push(SourceIndex {
            name: row.get(0)?,
            unique: row.get(1)?,
            is_constraint: origin == "u",
            columns: (!is_partial).then(Vec::new),
        });
        Ok(())
    })?;
    let text = "SELECT name, coll FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno";
    for index in &mut all {
        let mut columns = index.columns.take();
        each(source, text, &[&index.name], |row| {
            let (name, order): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
            let is_plain = order.is_none_or(|order| order.eq_ignore_ascii_case("binary"));
            columns = match (columns.take(), name.filter(|_| is_plain)) {
                (Some(mut columns), Some(name)) => {
                    columns.push(name);
                    Some(columns)
                }
                _ => None,
            };
            Ok(())
        })?;
        index.columns = columns;
    }
    Ok(all)
}

fn foreign_keys(source: &Connection, table: &str) -> Result<Vec<SourceForeignKey>, Failure> {
    let mut all: Vec<(i64, SourceForeignKey)> = Vec::new();
    let text = "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?1) ORDER BY id, seq";
    each(source, text, &[table], |row| {
        let id: i64 = row.get(0)?;
        if all.last().is_none_or(|(last, _)| *last != id) {
            let (columns, referenced) = (Vec::new(), Vec::new());
            let (on_update, on_delete) = (row.get(4)?, row.get(5)?);
            let table = row.get(1)?;
            all.push((id, SourceForeignKey { table, columns, referenced, on_update, on_delete }));
        }
        if let Some((_, key)) = all.last_mut() {
            key.columns.push(row.get(2)?);
            key.referenced.extend(row.get::<_, Option<String>>(3)?);
        }
        Ok(())
    })?;
    Ok(all.into_iter().map(|(_, key)| key).collect())
}

/// Looks at each row of a query.
pub(super) fn each(
    source: &Connection,
    text: &str,
    parameters: &[&str],
    mut look: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), Failure> {
    let mut statement = source.prepare(text).map_err(told)?;
    let mut rows = statement.query(rusqlite::params_from_iter(parameters)).map_err(told)?;
    while let Some(row) = rows.next().map_err(told)? {
        look(row).map_err(told)?;
    }
    Ok(())
}

pub(super) fn told(error: rusqlite::Error) -> Failure {
    Failure::message(format!("the SQLite file: {error}"))
}

/// A name in quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
