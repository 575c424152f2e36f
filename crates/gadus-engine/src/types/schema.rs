//! The shape of a table: columns, key, defaults.
//!
//! - A schema never changes in place; its version number rises with each change of the table.
//!
//! Byte table (version 1): id u32, version u32, name text, column count u32, then for each column:
//! name text, type code u8, precision u8, scale u8, nullable u8, default kind u8 (0 none, 1 SQL
//! text), default text; key length u32, key column indexes u32 each.

use super::{ColumnType, Datum};
use crate::error::{Error, ErrorKind, Result};
use arrow::datatypes::{Field, Schema, SchemaRef};
use gadus_base::{ByteReader, ByteWriter, DecodeError, TableId};
use std::sync::Arc;

/// Most columns of a table.
pub(crate) const COLUMNS_MAX: usize = 1_600;
/// Longest name of a table or column, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;
/// Longest text of a default expression, in bytes.
const DEFAULT_BYTES_MAX: usize = 64 << 10;

/// A table's columns and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// The table's id; 0 until it is created.
    pub id: TableId,
    /// Rises with each change of the table's shape.
    pub version: u32,
    /// The table's name.
    pub name: String,
    /// The columns in order.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes of the primary key's columns in key order; empty without a key.
    pub key: Vec<usize>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// The column's name.
    pub name: String,
    /// The type of its values.
    pub column_type: ColumnType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// What an INSERT that does not name the column stores; NULL without one.
    pub default: Option<DefaultValue>,
}

/// The text of a DEFAULT expression, as SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultValue(pub String);

impl TableSchema {
    /// A schema for a new table; checks names, limits and key.
    pub fn new(name: &str, columns: Vec<ColumnDefinition>, key: Vec<usize>) -> Result<Self> {
        let mut schema = Self { id: TableId(0), version: 1, name: name.to_owned(), columns, key };
        schema.check()?;
        for &column in &schema.key {
            schema.columns[column].nullable = false;
        }
        Ok(schema)
    }

    /// The Arrow schema in which the table's rows leave the engine.
    #[must_use]
    pub fn arrow(&self) -> SchemaRef {
        let field = |column: &ColumnDefinition| {
            Field::new(&column.name, column.column_type.arrow(), column.nullable)
        };
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    /// The index of the column with this exact name.
    #[must_use]
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Input, message));
        check_name("table", &self.name)?;
        if self.columns.is_empty() || self.columns.len() > COLUMNS_MAX {
            return wrong(format!(
                "table \"{}\" has {} columns; 1 to {COLUMNS_MAX} are possible",
                self.name,
                self.columns.len()
            ));
        }
        for (index, column) in self.columns.iter().enumerate() {
            check_name("column", &column.name)?;
            if self.columns[..index].iter().any(|other| other.name == column.name) {
                return wrong(format!(
                    "column \"{}\" of table \"{}\" is named twice",
                    column.name, self.name
                ));
            }
        }
        for (index, &column) in self.key.iter().enumerate() {
            if column >= self.columns.len() || self.key[..index].contains(&column) {
                return wrong(format!("the primary key of table \"{}\" is wrong", self.name));
            }
        }
        Ok(())
    }

    /// Whether the columns can hold these values, one each.
    pub(crate) fn admits(&self, row: &[Datum]) -> bool {
        row.len() == self.columns.len()
            && self.columns.iter().zip(row).all(|(column, value)| column.column_type.admits(value))
    }

    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        to.u32(self.id.0);
        to.u32(self.version);
        to.text(&self.name);
        to.u32(u32::try_from(self.columns.len()).expect("checked against COLUMNS_MAX"));
        for column in &self.columns {
            to.text(&column.name);
            let (code, precision, scale) = column.column_type.to_code();
            to.u8(code);
            to.u8(precision);
            to.u8(scale);
            to.u8(u8::from(column.nullable));
            to.u8(u8::from(column.default.is_some()));
            if let Some(DefaultValue(text)) = &column.default {
                to.text(text);
            }
        }
        to.u32(u32::try_from(self.key.len()).expect("a key has at most COLUMNS_MAX columns"));
        for &column in &self.key {
            to.u32(u32::try_from(column).expect("checked against COLUMNS_MAX"));
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let id = TableId(from.u32()?);
        let version = from.u32()?;
        let name = from.text(NAME_BYTES_MAX)?.to_owned();
        let count = from.count(9)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(decode_column(from)?);
        }
        let offset = from.offset();
        let key_count = from.count(4)?;
        let mut key = Vec::with_capacity(key_count);
        for _ in 0..key_count {
            key.push(from.u32()? as usize);
        }
        let schema = Self { id, version, name, columns, key };
        match schema.check() {
            Ok(()) => Ok(schema),
            Err(_) => Err(DecodeError { offset, expected: "a valid table schema" }),
        }
    }
}

fn decode_column(from: &mut ByteReader<'_>) -> Result<ColumnDefinition, DecodeError> {
    let name = from.text(NAME_BYTES_MAX)?.to_owned();
    let offset = from.offset();
    let (code, precision, scale) = (from.u8()?, from.u8()?, from.u8()?);
    let column_type = ColumnType::from_code(code, precision, scale)
        .ok_or(DecodeError { offset, expected: "a column type" })?;
    let nullable = from.u8()? != 0;
    let default = match from.u8()? {
        0 => None,
        _ => Some(DefaultValue(from.text(DEFAULT_BYTES_MAX)?.to_owned())),
    };
    Ok(ColumnDefinition { name, column_type, nullable, default })
}

fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains('\0') {
        return Err(Error::new(
            ErrorKind::Input,
            format!("a {what} name has 1 to {NAME_BYTES_MAX} bytes without NUL: \"{name}\""),
        ));
    }
    Ok(())
}
