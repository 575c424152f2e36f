//! Numerics of any number of digits, which leave as texts of an extension type.

use super::EXTENSION_KEY;
use arrow::array::{Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use std::sync::Arc;

/// Extension type of numerics as texts, with all their digits.
pub const NUMERIC_EXTENSION: &str = "gadus.numeric";

/// Digits that a column of numerics keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NumericDigits {
    /// Digits in all.
    pub precision: u16,
    /// Digits behind the point; if negative, digits before it that are zeros.
    pub scale: i16,
}

impl NumericDigits {
    /// Greatest precision, and greatest distance of the scale from zero, as in PostgreSQL.
    pub const MAX: u16 = 1_000;

    /// Returns the digits of a type; `None` for digits that no type has.
    #[must_use]
    pub fn new(precision: u16, scale: i16) -> Option<Self> {
        let is_valid = (1..=Self::MAX).contains(&precision) && scale.unsigned_abs() <= Self::MAX;
        is_valid.then_some(Self { precision, scale })
    }

    /// Writes optional digits: a precision of zero for none.
    pub(super) fn encode(digits: Option<Self>, to: &mut ByteWriter) {
        let Self { precision, scale } = digits.unwrap_or(Self { precision: 0, scale: 0 });
        to.u16(precision);
        to.u16(scale.cast_unsigned());
    }

    pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<Option<Self>, DecodeError> {
        let offset = from.offset();
        let (precision, scale) = (from.u16()?, from.u16()?.cast_signed());
        match (precision, Self::new(precision, scale)) {
            (0, _) => Ok(None),
            (_, Some(digits)) => Ok(Some(digits)),
            _ => Err(DecodeError { offset, expected: "digits of a numeric" }),
        }
    }
}

/// Returns true for a column of numerics as texts.
#[must_use]
pub fn is_numeric_text(field: &Field) -> bool {
    field.extension_type_name() == Some(NUMERIC_EXTENSION)
}

/// Returns a schema in which numerics are doubles, for readers that know no other numbers.
#[must_use]
pub fn schema_with_doubles(schema: &SchemaRef) -> SchemaRef {
    if !schema.fields().iter().any(|field| is_numeric_text(field)) {
        return schema.clone();
    }
    let double = |field: &Arc<Field>| match is_numeric_text(field) {
        true => {
            let mut metadata = field.metadata().clone();
            metadata.remove(EXTENSION_KEY);
            let double = field.as_ref().clone().with_data_type(DataType::Float64);
            Arc::new(double.with_metadata(metadata))
        }
        false => field.clone(),
    };
    let fields = schema.fields().iter().map(double).collect::<Vec<_>>();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns a batch in which numerics are doubles.
///
/// # Errors
/// Arrow's, of texts that are no numbers.
pub fn with_doubles(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = schema_with_doubles(batch.schema_ref());
    if schema == *batch.schema_ref() {
        return Ok(batch.clone());
    }
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| {
        let is_same = column.data_type() == field.data_type();
        if is_same { Ok(column.clone()) } else { cast(column, field.data_type()) }
    });
    RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, _>>()?)
}
