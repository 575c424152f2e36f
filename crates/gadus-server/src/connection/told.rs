//! What a client was told of a statement's columns: drivers ask once, and read all later rows by it.
//!
//! - Describing a statement infers the type of a parameter from what stands beside it; running it knows the
//!   value's own, which may be wider. Rows then leave in the types that were told.
//! - Where the statement gives other columns by now, since a table was changed, that is an error, after which
//!   drivers prepare it again.

use crate::error::{Failure, SqlState};
use crate::values::fields;
use arrow::array::RecordBatch;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef};
use std::sync::{Mutex, PoisonError};

/// The columns that were told; none for no rows.
#[derive(Default)]
pub(super) struct Told(Mutex<Option<Option<SchemaRef>>>);

impl Told {
    pub(super) fn set(&self, columns: Option<&SchemaRef>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(columns.cloned());
    }

    /// The form in which rows of a schema leave; none where that is their own.
    ///
    /// # Errors
    /// `0A000` where they are other columns.
    pub(super) fn form_of(
        &self,
        rows: Option<&SchemaRef>,
        names: &[String],
    ) -> Result<Option<SchemaRef>, Failure> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (told, rows) = match (told, rows) {
            (None, _) | (Some(None), None) => return Ok(None),
            (Some(Some(told)), Some(rows)) => (told, rows),
            _ => return Err(changed()),
        };
        let (told_fields, row_fields) = (fields(&told, names, &[])?, fields(rows, names, &[])?);
        if told_fields.len() != row_fields.len() {
            return Err(changed());
        }
        let mut is_same = true;
        for (place, (one, other)) in told_fields.iter().zip(&row_fields).enumerate() {
            if one.name != other.name {
                return Err(changed());
            }
            if one.oid != other.oid {
                let types = (told.field(place).data_type(), rows.field(place).data_type());
                if types.0 != types.1 && !leaves_as(types.0, types.1) {
                    return Err(changed());
                }
                is_same = false;
            }
        }
        Ok((!is_same).then_some(told))
    }
}

/// Whether values of the second type may leave as the first: numbers, as what was made of a parameter.
fn leaves_as(told: &DataType, own: &DataType) -> bool {
    told != own && own.is_numeric() && (told.is_numeric() || told.is_string())
}

fn changed() -> Failure {
    let text = "cached plan must not change result type";
    Failure::new(SqlState::FEATURE_NOT_SUPPORTED, text)
        .hint("prepare the statement again: what it reads has been changed")
}

/// Rows in another form.
///
/// # Errors
/// `22003` where a value does not fit.
pub(super) fn formed(batch: &RecordBatch, form: &SchemaRef) -> Result<RecordBatch, Failure> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let both = batch.columns().iter().zip(form.fields());
    let columns = both.map(|(column, field)| match field.data_type() {
        to if leaves_as(to, column.data_type()) => cast_with_options(column, to, &options),
        _ => Ok(column.clone()),
    });
    let columns = columns
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, error.to_string()))?;
    let own = batch.schema();
    let fields = own.fields().iter().zip(&columns).map(|(field, column)| {
        field.as_ref().clone().with_data_type(column.data_type().clone()).with_nullable(true)
    });
    let schema = arrow::datatypes::Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(schema.into(), columns).map_err(|error| gadus::Error::from(error).into())
}
