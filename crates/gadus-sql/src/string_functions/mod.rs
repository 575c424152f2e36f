//! String functions in linear time, or that end when their statement is cancelled.
//!
//! - DataFusion searches a substring in time that is quadratic at worst, and computes edit distances and
//!   patterns of many wildcards without a look at cancellation.
//! - They replace DataFusion's functions of these names, and LIKE with patterns of many wildcards.

mod edit_distance;
mod like;
mod substring;
#[cfg(test)]
mod tests;

pub(crate) use like::LongPatterns;

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};
use std::sync::Arc;

/// Evaluates a function by our own code; `None` if it is another function, or its arguments are no strings.
pub(crate) fn evaluate(name: &str, args: &ScalarFunctionArgs) -> Option<Result<ColumnarValue>> {
    let function: fn(&str, &str) -> Result<i64> = match name {
        "strpos" => |text, sought| Ok(substring::position(text, sought)),
        "levenshtein" => edit_distance::levenshtein,
        _ => return None,
    };
    let [text, other] = &args.args[..] else { return None };
    let is_text = |value: &ColumnarValue| value.data_type().is_string();
    if !is_text(text) || !is_text(other) {
        return None;
    }
    Some(for_each_pair(args, text, other, function))
}

/// Names of the functions that `evaluate` knows.
pub(crate) fn is_own(name: &str) -> bool {
    matches!(name, "strpos" | "levenshtein")
}

fn for_each_pair(
    args: &ScalarFunctionArgs,
    text: &ColumnarValue,
    other: &ColumnarValue,
    function: fn(&str, &str) -> Result<i64>,
) -> Result<ColumnarValue> {
    let is_scalar = |value: &ColumnarValue| matches!(value, ColumnarValue::Scalar(_));
    let is_one = is_scalar(text) && is_scalar(other);
    let rows = if is_one { 1 } else { args.number_rows };
    let (texts, others) = (strings(text, rows)?, strings(other, rows)?);
    let value = |row: usize| match texts.is_null(row) || others.is_null(row) {
        true => Ok(None),
        false => function(texts.value(row), others.value(row)).map(Some),
    };
    let values = (0..rows).map(value).collect::<Result<Vec<_>>>()?;
    let values: ArrayRef = Arc::new(arrow::array::Int64Array::from(values));
    let values = cast(&values, args.return_field.data_type())?;
    Ok(match is_one {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?),
        false => ColumnarValue::Array(values),
    })
}

fn strings(value: &ColumnarValue, rows: usize) -> Result<StringViewArray> {
    let array = cast(&value.to_array(rows)?, &DataType::Utf8View)?;
    Ok(array.as_string_view().clone())
}
