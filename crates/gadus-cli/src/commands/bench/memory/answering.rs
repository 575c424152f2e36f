//! The process that asks, and one line of JSON for each query it has asked.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use clap::Args;
use gadus::{ByteCount, Connection, Database, Options};
use gadus_base::clock;
use serde_json::{Value, json};

use super::super::answers::{Answer, Rows, ask_gadus};
use super::super::worker::peak_bytes;
use crate::failure::Failure;
use crate::generate::tpch::queries::{self, Query};
use crate::texts::texts;

/// What is asked.
#[derive(Debug, Clone, Args)]
pub(crate) struct Asking {
    #[arg(long = "sf")]
    pub(super) scale_factor: f64,
    #[arg(long)]
    pub(super) memory_limit: Option<ByteCount>,
    #[arg(long, value_delimiter = ',')]
    pub(super) queries: Vec<u8>,
}

/// A query that was asked.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) number: u8,
    pub(super) seconds: f64,
    pub(super) spilled_bytes: u64,
    /// The most that the process had so far.
    pub(super) resident_peak_bytes: u64,
    /// Or why there is none.
    pub(super) answer: Result<Answer, String>,
}

/// Asks the queries of a list in its order.
pub(crate) fn answer(file: &Path, asking: &Asking) -> Result<(), Failure> {
    let database = Database::open(file, Options::new().create(false))?;
    let connection = database.connect();
    if let Some(limit) = asking.memory_limit {
        let limit = limit.exact();
        connection.execute(&format!("SET gadus.memory_limit = '{limit}'"), &[])?;
    }
    let all = queries::validation(asking.scale_factor).collect::<Vec<_>>();
    for number in &asking.queries {
        let query = all.iter().find(|query| query.number == *number);
        let query = query.ok_or_else(|| Failure::message(format!("no query {number}")))?;
        let asked = ask(&connection, query)?;
        writeln!(io::stdout(), "{}", asked.line())?;
    }
    Ok(())
}

fn ask(connection: &Connection, query: &Query) -> Result<Asked, Failure> {
    let before = spilled(connection)?;
    let started = clock().now();
    let answer = ask_gadus(connection, &query.text)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Asked {
        number: query.number,
        seconds,
        spilled_bytes: spilled(connection)?.saturating_sub(before),
        resident_peak_bytes: peak_bytes()?,
        answer: answer.map_err(|refused| refused.difference.unwrap_or_default()),
    })
}

/// Bytes that plans have written out so far.
fn spilled(connection: &Connection) -> Result<u64, Failure> {
    let rows = texts(connection.query("SELECT spilled_bytes_total FROM gadus.memory", &[])?)?;
    let cell = rows.first().and_then(|row| row.first());
    let bytes = cell.and_then(|cell| cell.parse().ok());
    bytes.ok_or_else(|| Failure::message(format!("gadus.memory has {cell:?} spilled bytes")))
}

impl Asked {
    pub(super) fn line(&self) -> Value {
        let (types, rows, error) = match &self.answer {
            Ok(answer) => {
                let fields = answer.schema.fields().iter();
                let fields =
                    fields.map(|field| [field.name().clone(), field.data_type().to_string()]);
                (fields.collect::<Vec<_>>(), Some(&answer.rows), None)
            }
            Err(error) => (Vec::new(), None, Some(error)),
        };
        json!({
            "number": self.number,
            "seconds": self.seconds,
            "spilled_bytes": self.spilled_bytes,
            "resident_peak_bytes": self.resident_peak_bytes,
            "columns": types,
            "rows": rows,
            "error": error,
        })
    }

    pub(super) fn read(line: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| Failure::message(format!("a worker's line has no {what}: {line}"));
        let mut value: Value = serde_json::from_str(line).map_err(|_| wrong("JSON"))?;
        let number = |name: &str| value[name].as_u64().ok_or_else(|| wrong(name));
        let (own, spilled_bytes) = (number("number")?, number("spilled_bytes")?);
        let resident_peak_bytes = number("resident_peak_bytes")?;
        let seconds = value["seconds"].as_f64().ok_or_else(|| wrong("seconds"))?;
        let answer = match value["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => {
                let columns = serde_json::from_value::<Vec<[String; 2]>>(value["columns"].take());
                let field = |[name, kind]: [String; 2]| {
                    let kind = kind.parse::<DataType>().map_err(|_| wrong("type that is known"))?;
                    Ok::<_, Failure>(Field::new(name, kind, true))
                };
                let fields = columns.map_err(|_| wrong("columns"))?.into_iter().map(field);
                let schema = Arc::new(Schema::new(fields.collect::<Result<Vec<_>, _>>()?));
                let rows = serde_json::from_value::<Rows>(value["rows"].take());
                Ok(Answer { schema, rows: rows.map_err(|_| wrong("rows"))? })
            }
        };
        let number = u8::try_from(own).map_err(|_| wrong("number"))?;
        Ok(Self { number, seconds, spilled_bytes, resident_peak_bytes, answer })
    }
}
