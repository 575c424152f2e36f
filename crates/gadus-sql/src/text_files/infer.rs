//! What the columns of files are, by their first records.
//!
//! - All files of a table have the columns of the first: of CSV by their places, of JSON by their names.

use super::blocks::Block;
use super::form::{Records, TextForm};
use crate::error::input;
use arrow::csv::reader::Format;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::json::reader::infer_json_schema;
use gadus_engine::{Error, Result};
use std::io::Cursor;

/// Records that are looked at.
pub(super) const RECORDS_MAX: usize = 1000;

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
