//! Values as text that is safe to show.

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use gadus::is_numeric_text;

use super::{POINT_FORMAT, POINT_WITH_ZONE_FORMAT};

/// How NULL looks where it must differ from an empty text.
const NULL: &str = "NULL";

/// The rows of a batch, each a list of cells.
pub(super) fn rows(
    batch: &RecordBatch,
) -> Result<impl Iterator<Item = Result<Vec<String>, ArrowError>>, ArrowError> {
    let options = FormatOptions::new()
        .with_display_error(false)
        .with_null(NULL)
        .with_timestamp_format(Some(POINT_FORMAT))
        .with_timestamp_tz_format(Some(POINT_WITH_ZONE_FORMAT));
    let formatters = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
        .collect::<Result<Vec<_>, ArrowError>>()?;
    Ok((0..batch.num_rows()).map(move |row| {
        let cell = |formatter: &ArrayFormatter<'_>| {
            formatter.value(row).try_to_string().map(|text| shown(&text))
        };
        formatters.iter().map(cell).collect()
    }))
}

/// The names of the columns.
pub(super) fn header(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| shown(field.name())).collect()
}

/// Which columns hold numbers, and so stand to the right.
pub(super) fn numeric(schema: &Schema) -> Vec<bool> {
    let is_number = |field: &Field| field.data_type().is_numeric() || is_numeric_text(field);
    schema.fields().iter().map(|field| is_number(field)).collect()
}

/// The text with control characters escaped: a value must neither break a line nor steer a terminal.
pub(super) fn shown(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}
