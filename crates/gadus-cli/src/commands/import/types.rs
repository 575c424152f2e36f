//! Which type a column gets: the one that its values have, as far as its declaration does not say more.
//!
//! - SQLite's columns hold values of any type. What they hold is looked at, so that no value is changed: numbers and texts
//!   mixed are texts, anything with byte strings is bytes.

use rusqlite::Connection;

use super::source::{SourceColumn, SourceTable, each, quoted};
use crate::failure::Failure;

/// A type, and how values are asked for that become it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Boolean,
    BigInt,
    Double,
    Decimal(u8, u8),
    Text,
    Date,
    Timestamp,
    Json,
    Bytes,
}

impl Target {
    /// The type's name.
    pub(super) fn name(self) -> String {
        match self {
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::BigInt => "BIGINT".to_owned(),
            Self::Double => "DOUBLE PRECISION".to_owned(),
            Self::Decimal(precision, scale) => format!("DECIMAL({precision}, {scale})"),
            Self::Text => "TEXT".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::Timestamp => "TIMESTAMP".to_owned(),
            Self::Json => "JSON".to_owned(),
            Self::Bytes => "BYTEA".to_owned(),
        }
    }

    /// The expression that gives a column's values.
    pub(super) fn asked(self, column: &str) -> String {
        let column = quoted(column);
        match self {
            Self::Boolean | Self::BigInt => column,
            Self::Double | Self::Decimal(..) => format!("CAST({column} AS REAL)"),
            Self::Text | Self::Date | Self::Timestamp | Self::Json => {
                format!("CAST({column} AS TEXT)")
            }
            Self::Bytes => format!("CAST({column} AS BLOB)"),
        }
    }
}

/// What the values of a column are.
#[derive(Debug, Default)]
struct Found {
    integers: i64,
    reals: i64,
    texts: i64,
    bytes: i64,
    nulls: i64,
    /// Integers that are neither 0 nor 1.
    no_booleans: i64,
    no_dates: i64,
    no_timestamps: i64,
    no_json: i64,
    no_decimals: i64,
}

/// The types of a table's columns, and whether they hold NULL.
pub(super) fn types(
    source: &Connection,
    table: &SourceTable,
) -> Result<Vec<(Target, bool)>, Failure> {
    let mut types = Vec::with_capacity(table.columns.len());
    for column in &table.columns {
        let decimal = decimal(&column.declared);
        let found = look(source, table, column, decimal)?;
        types.push((target(&column.declared, &found, decimal), found.nulls > 0));
    }
    Ok(types)
}

fn look(
    source: &Connection,
    table: &SourceTable,
    column: &SourceColumn,
    decimal: Option<(u8, u8)>,
) -> Result<Found, Failure> {
    let name = quoted(&column.name);
    let (precision, scale) = decimal.unwrap_or((1, 0));
    let limit = 10_f64.powi(i32::from(precision) - i32::from(scale));
    let is_text = format!("typeof({name}) = 'text'");
    let shape = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9][ T][0-9][0-9]:[0-9][0-9]:[0-9][0-9]";
    // What SQLite reads, and Gadus as well: no offsets from UTC.
    let timestamp = format!(
        "({name} GLOB {shape}' OR {name} GLOB {shape}.[0-9]*') AND {name} NOT GLOB '*[+Zz]*' AND datetime({name}) IS NOT NULL"
    );
    let items = [
        format!("typeof({name}) = 'integer'"),
        format!("typeof({name}) = 'real'"),
        is_text.clone(),
        format!("typeof({name}) = 'blob'"),
        format!("{name} IS NULL"),
        format!("typeof({name}) = 'integer' AND {name} NOT IN (0, 1)"),
        format!("{is_text} AND date({name}) IS NOT {name}"),
        format!("{is_text} AND NOT ({timestamp})"),
        format!("{is_text} AND NOT json_valid({name})"),
        format!(
            "typeof({name}) IN ('integer', 'real') AND (round({name}, {scale}) <> {name} OR abs({name}) >= {limit:e})"
        ),
    ];
    let items = items.map(|item| format!("coalesce(sum({item}), 0)")).join(", ");
    let mut found = Found::default();
    each(source, &format!("SELECT {items} FROM {}", quoted(&table.name)), &[], |row| {
        found = Found {
            integers: row.get(0)?,
            reals: row.get(1)?,
            texts: row.get(2)?,
            bytes: row.get(3)?,
            nulls: row.get(4)?,
            no_booleans: row.get(5)?,
            no_dates: row.get(6)?,
            no_timestamps: row.get(7)?,
            no_json: row.get(8)?,
            no_decimals: row.get(9)?,
        };
        Ok(())
    })?;
    Ok(found)
}

fn target(declared: &str, found: &Found, decimal: Option<(u8, u8)>) -> Target {
    let declared = declared.to_ascii_uppercase();
    let says = |word: &str| declared.contains(word);
    let numbers = found.integers + found.reals;
    match (numbers, found.texts, found.bytes) {
        (0, 0, 0) => by_name(&declared),
        (_, 0, 0) => match decimal {
            Some((precision, scale)) if found.no_decimals == 0 => Target::Decimal(precision, scale),
            _ if found.reals > 0 => Target::Double,
            _ if says("BOOL") && found.no_booleans == 0 => Target::Boolean,
            // 3 in a column of doubles is 3.0.
            _ if ["REAL", "FLOA", "DOUB"].iter().any(|word| says(word)) => Target::Double,
            _ => Target::BigInt,
        },
        (0, _, 0) if (says("DATE") || says("TIME")) && found.no_timestamps == 0 => {
            Target::Timestamp
        }
        (0, _, 0) if says("DATE") && found.no_dates == 0 => Target::Date,
        (0, _, 0) if says("JSON") && found.no_json == 0 => Target::Json,
        (_, _, 0) => Target::Text,
        _ => Target::Bytes,
    }
}

/// The type of a column without values: SQLite's affinities, and what else names say.
fn by_name(declared: &str) -> Target {
    let says = |word: &str| declared.contains(word);
    match () {
        () if says("INT") => Target::BigInt,
        () if says("CHAR") || says("CLOB") || says("TEXT") => Target::Text,
        () if says("BLOB") => Target::Bytes,
        () if says("REAL") || says("FLOA") || says("DOUB") => Target::Double,
        () if says("BOOL") => Target::Boolean,
        () if says("TIME") => Target::Timestamp,
        () if says("DATE") => Target::Date,
        () if says("JSON") => Target::Json,
        () => match decimal(declared) {
            Some((precision, scale)) => Target::Decimal(precision, scale),
            None if says("NUM") || says("DEC") => Target::Double,
            None => Target::Text,
        },
    }
}

/// The digits of DECIMAL(10, 2), that a double tells apart.
fn decimal(declared: &str) -> Option<(u8, u8)> {
    let declared = declared.to_ascii_uppercase();
    let digits =
        ["DECIMAL", "NUMERIC"].iter().find_map(|word| declared.trim().strip_prefix(word))?;
    let digits = digits.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (precision, scale) = digits.split_once(',').unwrap_or((digits, "0"));
    let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    ((1..=15).contains(&precision) && scale <= precision).then_some((precision, scale))
}
