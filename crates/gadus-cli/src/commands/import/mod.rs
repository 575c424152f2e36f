//! `gadus import`: the tables of an SQLite file, as they are at one moment, in one transaction.
//!
//! - What Gadus has nothing of is left out, and told: views, triggers, CHECK, indexes over expressions.
//! - No value is changed: see [`types`].

mod source;
mod transfer;
mod types;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus::{Connection, Database, Options};
use serde_json::json;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use source::{SourceForeignKey, SourceTable, quoted};
use types::Target;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus import shop.sqlite shop.gadus
  gadus import shop.sqlite shop.gadus --table orders --table customers

All tables come in one transaction, with primary keys, UNIQUE, indexes and foreign keys; others may read and write
the database meanwhile. A column gets the type that all of its values have. What is left out is told.")]
pub(crate) struct Import {
    /// The SQLite file
    source: PathBuf,
    /// The database; made where there is none
    target: PathBuf,
    /// Take this table, and no others that are not named so
    #[arg(long = "table", value_name = "NAME")]
    tables: Vec<String>,
    /// Replace tables of the same names
    #[arg(long)]
    replace: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// One import.
struct Importing<'a> {
    source: rusqlite::Connection,
    connection: &'a Connection,
    notices: Vec<String>,
}

pub(crate) fn run(command: &Import) -> Result<(), Failure> {
    let source = source::open(&command.source)?;
    let mut notices = Vec::new();
    let there = source::tables(&source, &mut notices)?;
    if let Some(missing) = command.tables.iter().find(|name| !there.contains(name)) {
        let place = command.source.display();
        return Err(Failure::message(format!("{place} has no table {missing}")));
    }
    let wanted = |name: &String| command.tables.is_empty() || command.tables.contains(name);
    let names = there.into_iter().filter(wanted).collect::<Vec<_>>();
    let tables = names.iter().map(|name| source::table(&source, name));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    let database = Database::open(&command.target, Options::new())?;
    let connection = database.connect();
    let interrupt = Interrupt::watch(connection.cancel_handle(), false)?;
    let mut importing = Importing { source, connection: &connection, notices };
    connection.execute("BEGIN", &[])?;
    let imported = importing.import(&tables, command.replace, &interrupt);
    // After a failure the first error is the one to tell, whatever becomes of the rollback.
    let ended = connection.execute(if imported.is_ok() { "COMMIT" } else { "ROLLBACK" }, &[]);
    let rows = imported?;
    ended?;
    let notices = importing.notices;
    tell(command, &tables, &rows, &notices)
}

fn tell(
    command: &Import,
    tables: &[SourceTable],
    rows: &[u64],
    notices: &[String],
) -> Result<(), Failure> {
    let mut output = io::stdout();
    if command.json {
        let each = tables.iter().zip(rows);
        let each = each.map(|(table, rows)| json!({ "table": table.name, "rows": rows }));
        let each = each.collect::<Vec<_>>();
        writeln!(output, "{}", json!({ "tables": each, "notices": notices }))?;
        return Ok(());
    }
    for notice in notices {
        writeln!(io::stderr(), "notice: {notice}")?;
    }
    for (table, rows) in tables.iter().zip(rows) {
        writeln!(output, "{}: {rows} rows", table.name)?;
    }
    let all = rows.iter().sum::<u64>();
    writeln!(output, "{}: {all} rows in {} tables", command.target.display(), tables.len())?;
    Ok(())
}

impl Importing<'_> {
    fn import(
        &mut self,
        tables: &[SourceTable],
        replace: bool,
        interrupt: &Interrupt,
    ) -> Result<Vec<u64>, Failure> {
        let mut progress =
            Progress::new("importing", tables.iter().map(|table| table.rows).sum::<u64>());
        let mut counts = Vec::new();
        for table in tables {
            interrupt.check()?;
            let types = types::types(&self.source, table)?;
            if replace {
                self.run(&format!("DROP TABLE IF EXISTS {} CASCADE", quoted(&table.name)))?;
            }
            let create = self.create_table(table, &types);
            self.run(&create)?;
            let appender = self.connection.appender(&table.name)?;
            let from = (table, types.as_slice());
            let mut advance = |rows| progress.advance(rows);
            let rows = transfer::transfer(&self.source, from, appender, interrupt, &mut advance)?;
            self.go_on_counting(table)?;
            counts.push(rows);
        }
        for table in tables {
            self.create_indexes(table)?;
        }
        let names = tables.iter().map(|table| table.name.to_lowercase()).collect::<BTreeSet<_>>();
        for table in tables {
            for key in &table.foreign_keys {
                self.refer(table, key, &names);
            }
        }
        Ok(counts)
    }

    fn run(&self, sql: &str) -> Result<(), Failure> {
        self.connection.execute(sql, &[]).map(|_| ()).map_err(|error| {
            let mut failure = error.to_string();
            if error.kind() == gadus::ErrorKind::AlreadyExists && sql.starts_with("CREATE TABLE") {
                failure.push_str("; --replace replaces it");
            }
            Failure::message(failure)
        })
    }

    fn create_table(&mut self, table: &SourceTable, types: &[(Target, bool)]) -> String {
        let mut lines = Vec::new();
        for (place, (column, (target, _))) in table.columns.iter().zip(types).enumerate() {
            let mut line = format!("{} {}", quoted(&column.name), target.name());
            if column.is_generated {
                self.notice(
                    table,
                    &format!("generated column {} is a column of its values", column.name),
                );
            }
            if is_numbered(table, place) {
                line.push_str(" GENERATED BY DEFAULT AS IDENTITY");
            } else if let Some(default) = &column.default {
                match is_plain(default) {
                    true => line = format!("{line} DEFAULT {default}"),
                    false => self.notice(
                        table,
                        &format!("DEFAULT {default} of {} is left out", column.name),
                    ),
                }
            }
            if column.not_null {
                line.push_str(" NOT NULL");
            }
            lines.push(line);
        }
        let names = |places: &[usize]| {
            let names = places.iter().map(|place| quoted(&table.columns[*place].name));
            names.collect::<Vec<_>>().join(", ")
        };
        // SQLite has keys with NULL.
        match table.key.iter().find(|place| types[**place].1) {
            Some(place) => {
                let column = &table.columns[*place].name;
                self.notice(table, &format!("the primary key is left out: {column} has NULL"));
            }
            None if table.key.is_empty() => {}
            None => lines.push(format!("PRIMARY KEY ({})", names(&table.key))),
        }
        format!("CREATE TABLE {} (\n    {}\n)", quoted(&table.name), lines.join(",\n    "))
    }

    /// The next number of an INTEGER PRIMARY KEY is behind those that are there.
    fn go_on_counting(&self, table: &SourceTable) -> Result<(), Failure> {
        let Some(place) = (0..table.columns.len()).find(|place| is_numbered(table, *place)) else {
            return Ok(());
        };
        let (name, column) = (quoted(&table.name), &table.columns[place].name);
        let sequence = format!(
            "pg_get_serial_sequence('{}', '{}')",
            name.replace('\'', "''"),
            column.replace('\'', "''")
        );
        let column = quoted(column);
        let text = format!(
            "SELECT setval({sequence}, max({column})) FROM {name} HAVING max({column}) > 0"
        );
        let mut rows = self.connection.query(&text, &[])?;
        rows.next().transpose()?;
        Ok(())
    }

    fn create_indexes(&mut self, table: &SourceTable) -> Result<(), Failure> {
        for index in &table.indexes {
            let Some(columns) = &index.columns else {
                let what = "is over expressions, over some rows, or by another order of texts: it is left out";
                self.notice(table, &format!("index {} {what}", index.name));
                continue;
            };
            let columns =
                columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", ");
            let (unique, on) = (if index.unique { "UNIQUE " } else { "" }, quoted(&table.name));
            let text = match index.is_constraint {
                true => format!("ALTER TABLE {on} ADD UNIQUE ({columns})"),
                false => {
                    format!("CREATE {unique}INDEX {} ON {on} ({columns})", quoted(&index.name))
                }
            };
            if let Err(error) = self.run(&text) {
                self.notice(table, &format!("index {}: {error}; it is left out", index.name));
            }
        }
        Ok(())
    }

    fn refer(&mut self, table: &SourceTable, key: &SourceForeignKey, names: &BTreeSet<String>) {
        let list =
            |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let what = format!("the foreign key ({}) to {}", list(&key.columns), key.table);
        if !names.contains(&key.table.to_lowercase()) {
            self.notice(table, &format!("{what} is left out: that is not imported"));
            return;
        }
        let referenced = match key.referenced.is_empty() {
            true => String::new(),
            false => format!(" ({})", list(&key.referenced)),
        };
        let text = format!(
            "ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {}{referenced} ON UPDATE {} ON DELETE {}",
            quoted(&table.name),
            list(&key.columns),
            quoted(&key.table),
            key.on_update,
            key.on_delete
        );
        if let Err(error) = self.run(&text) {
            self.notice(table, &format!("{what} is left out: {error}"));
        }
    }

    fn notice(&mut self, table: &SourceTable, what: &str) {
        self.notices.push(format!("table {}: {what}", table.name));
    }
}

/// Whether a column is the number that SQLite gives its rows.
fn is_numbered(table: &SourceTable, place: usize) -> bool {
    let is_integer = table.columns[place].declared.eq_ignore_ascii_case("integer");
    table.has_rowid && table.key == [place] && is_integer
}

/// Whether a DEFAULT means the same here.
fn is_plain(default: &str) -> bool {
    let is_text = |text: &str| {
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        inner.is_some_and(|inner| !inner.replace("''", "").contains('\''))
    };
    let words = ["null", "true", "false", "current_timestamp", "current_date"];
    default.parse::<f64>().is_ok_and(f64::is_finite)
        || is_text(default)
        || words.contains(&default.to_lowercase().as_str())
}
