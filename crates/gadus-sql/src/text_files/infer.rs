//! What the columns of files are, by their first records.
//!
//! - All files of a table have the columns of the first: of CSV by their places, of JSON by their names.

use super::blocks::Block;
use super::form::{Records, TextForm};
use crate::error::{input, limit};
use arrow::csv::reader::Format;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::json::reader::infer_json_schema;
use gadus_engine::{Error, Reason, Result};
use std::io::Cursor;

/// Records that are looked at.
pub(super) const RECORDS_MAX: usize = 1000;

/// Columns of a file, and members of an object in it: ten times what a table has, and few enough that the first
/// look at them ends soon. A million took DataFusion ten seconds.
const COLUMNS_MAX: usize = 16_384;

/// The columns of the files, as far as they are known.
#[derive(Default)]
pub(super) struct Columns {
    schema: Option<Schema>,
    records: usize,
}

impl Columns {
    /// Whether enough has been looked at.
    pub(super) fn are_known(&self) -> bool {
        self.records >= RECORDS_MAX
    }

    /// Looks at the first block of a file; where records are left out, not at those with more or fewer values than its
    /// first one.
    pub(super) fn look_at(
        &mut self,
        path: &str,
        form: TextForm,
        block: &Block,
        leaves_out: bool,
    ) -> Result<()> {
        check_width(path, form, &block.bytes)?;
        let left = Some(RECORDS_MAX - self.records.min(RECORDS_MAX));
        let whole = leaves_out.then(|| Records::whole(block).as_wide_as_the_first(form));
        let bytes = Cursor::new(whole.as_ref().unwrap_or(&block.bytes));
        let looked = match form {
            TextForm::Csv { delimiter, header } => {
                let format = Format::default().with_header(header).with_delimiter(delimiter);
                format.infer_schema(bytes, left)
            }
            TextForm::Json => infer_json_schema(bytes, left),
        };
        let (schema, records) = looked
            .map_err(|error| input(format!("{path}: {}", Error::from_arrow(&error).message())))?;
        self.records += records;
        self.schema = Some(match (self.schema.take(), form) {
            (None, _) => schema,
            (Some(known), TextForm::Csv { .. }) => by_place(path, &known, &schema)?,
            (Some(known), TextForm::Json) => {
                Schema::try_merge([known, schema]).map_err(|error| {
                    input(format!("{path}: {}", Error::from_arrow(&error).message()))
                })?
            }
        });
        Ok(())
    }

    pub(super) fn schema(self) -> Schema {
        let schema = self.schema.unwrap_or_else(Schema::empty);
        let known = |field: &Field| match field.data_type() {
            // Nothing but NULL.
            DataType::Null => Field::new(field.name(), DataType::Utf8, true),
            _ => field.clone().with_nullable(true),
        };
        Schema::new(schema.fields().iter().map(|field| known(field)).collect::<Vec<_>>())
    }
}

/// Refuses records with more columns than are read, before any of them is made.
fn check_width(path: &str, form: TextForm, bytes: &[u8]) -> Result<()> {
    let columns = match form {
        TextForm::Csv { delimiter, .. } => first_record_values(bytes, delimiter),
        TextForm::Json => widest_object(bytes),
    };
    check_columns(path, columns)
}

/// Refuses a file with more columns than are read.
pub(crate) fn check_columns(path: &str, columns: usize) -> Result<()> {
    if columns <= COLUMNS_MAX {
        return Ok(());
    }
    let message = format!("{path} has {columns} columns; files may have at most {COLUMNS_MAX}");
    Err(limit(message).because(Reason::TooManyColumns))
}

/// Counts the values of the first record of CSV.
fn first_record_values(bytes: &[u8], delimiter: u8) -> usize {
    let (mut values, mut is_quoted, mut has_begun) = (1, false, false);
    for byte in bytes {
        match *byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted && has_begun => break,
            b'\n' | b'\r' => continue,
            byte if byte == delimiter && !is_quoted => values += 1,
            _ => {}
        }
        has_begun = true;
    }
    values
}

/// Counts the members of the object with most of them, at any depth.
fn widest_object(bytes: &[u8]) -> usize {
    let (mut widest, mut open, mut is_text, mut is_escaped) = (0, Vec::new(), false, false);
    for byte in bytes {
        match *byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' => open.push(0),
            b'}' => drop(open.pop()),
            b':' => {
                if let Some(members) = open.last_mut() {
                    *members += 1;
                    widest = widest.max(*members);
                }
            }
            _ => {}
        }
    }
    widest
}

/// Columns that hold what two files have in them.
fn by_place(path: &str, known: &Schema, other: &Schema) -> Result<Schema> {
    if known.fields().len() != other.fields().len() {
        let (has, wants) = (other.fields().len(), known.fields().len());
        return Err(input(format!(
            "{path} has {has} columns, the files before it {wants}: read them by themselves"
        )));
    }
    let both = |(known, other): (&std::sync::Arc<Field>, &std::sync::Arc<Field>)| {
        let data_type = match (known.data_type(), other.data_type()) {
            (DataType::Null, any) | (any, DataType::Null) => any.clone(),
            (one, other) if one == other => one.clone(),
            (DataType::Int64, DataType::Float64) | (DataType::Float64, DataType::Int64) => {
                DataType::Float64
            }
            _ => DataType::Utf8,
        };
        Field::new(known.name(), data_type, true)
    };
    Ok(Schema::new(known.fields().iter().zip(other.fields()).map(both).collect::<Vec<_>>()))
}
