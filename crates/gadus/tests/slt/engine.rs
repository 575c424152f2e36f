//! A connection, and its values in the corpus' spelling.

use gadus::{Connection, Database, Error, Options, Outcome, Rows, Value};
use parking_lot::Mutex;
use sqllogictest::{DB, DBOutput, DefaultColumnType};
use std::sync::Arc;

/// Whose results the corpus is asked for: integer division, strict types.
pub(crate) const ENGINE: &str = "postgresql";

/// The types of the columns that the next query is to give, which say how its values are written.
pub(crate) type Wanted = Arc<Mutex<Vec<DefaultColumnType>>>;

/// One connection to a database of its own.
pub(crate) struct Engine {
    connection: Connection,
    wanted: Wanted,
}

impl Engine {
    pub(crate) fn new(wanted: Wanted) -> Result<Self, Error> {
        // Files share the processors already.
        let database = Database::open_in_memory(Options::new().threads(1))?;
        let connection = database.connect();
        // What would never come to its end is a failure.
        connection.execute("SET statement_timeout = '10min'", &[])?;
        Ok(Self { connection, wanted })
    }

    fn rows(&self, rows: Rows) -> Result<DBOutput<DefaultColumnType>, Error> {
        let wanted = self.wanted.lock().clone();
        let columns = rows.schema().fields().len();
        let wanted_of = |column| wanted.get(column).unwrap_or(&DefaultColumnType::Any);
        let mut texts = Vec::new();
        for row in rows {
            let row = row?;
            let cells = (0..columns).map(|column| Ok(text(&row.value(column)?, wanted_of(column))));
            texts.push(cells.collect::<Result<Vec<_>, Error>>()?);
        }
        // How many there are is compared.
        Ok(DBOutput::Rows { types: vec![DefaultColumnType::Any; columns], rows: texts })
    }
}

impl DB for Engine {
    type Error = Error;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Error> {
        match self.connection.run(sql, &[])? {
            Outcome::Rows(rows) => self.rows(rows),
            Outcome::Changed { rows, .. } => Ok(DBOutput::StatementComplete(rows)),
            Outcome::Done(_) => Ok(DBOutput::StatementComplete(0)),
        }
    }

    fn engine_name(&self) -> &str {
        ENGINE
    }
}

/// A value as the corpus writes it: integers without digits behind the point, reals with three, no empty texts,
/// `@` for what cannot be printed.
#[allow(clippy::cast_possible_truncation, reason = "digits behind the point are cut off")]
fn text(value: &Value, wanted: &DefaultColumnType) -> String {
    match (value, wanted) {
        (Value::Null, _) => "NULL".to_owned(),
        (Value::Integer(value), DefaultColumnType::FloatingPoint) => format!("{value}.000"),
        (Value::Integer(value), _) => value.to_string(),
        (Value::Boolean(value), DefaultColumnType::Integer) => u8::from(*value).to_string(),
        (Value::Boolean(value), _) => value.to_string(),
        (Value::Decimal(value, 0), DefaultColumnType::Integer | DefaultColumnType::Any) => {
            value.to_string()
        }
        (Value::Decimal(value, scale), DefaultColumnType::Integer) => {
            (value / 10_i128.pow(u32::try_from(*scale).unwrap())).to_string()
        }
        (Value::Decimal(value, scale), _) => real(*value as f64 / 10_f64.powi(i32::from(*scale))),
        (Value::Float(value), DefaultColumnType::Integer) => (*value as i64).to_string(),
        (Value::Text(value), DefaultColumnType::Integer) => leading_integer(value).to_string(),
        (Value::Float(value), _) => real(*value),
        // Numerics of any number of digits.
        (Value::Text(value), DefaultColumnType::FloatingPoint) if value.parse::<f64>().is_ok() => {
            real(value.parse().unwrap_or_default())
        }
        (Value::Text(value), _) if value.is_empty() => "(empty)".to_owned(),
        (Value::Text(value), _) => printable(value),
        (value, _) => format!("{value:?}"),
    }
}

/// What is read of a text that is asked for as an integer, as C reads it.
fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let digits = text.trim_start_matches(['-', '+']);
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number = digits[..length].parse::<i64>().unwrap_or(0);
    if text.starts_with('-') { -number } else { number }
}

fn real(value: f64) -> String {
    format!("{value:.3}")
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '@' }).collect()
}
