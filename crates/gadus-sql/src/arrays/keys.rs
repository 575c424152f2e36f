//! Bytes by which arrays, and their elements, are compared: PostgreSQL's order of arrays.
//!
//! - Elements are compared one after the other; NULL is equal to NULL and after all others. An array that another one
//!   begins with is before it. Arrays of the same elements are ordered by their dimensions.
//! - Elements are in Arrow's row format, whose bytes are ordered and of which none begins with zero.

use super::call::{ArrayFunction, call};
use super::column::ArrayColumn;
use crate::numerics::{self, NUMERIC};
use crate::order_keys;
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::Expr;
use gadus_engine::INTERVAL;
use std::sync::Arc;

/// First byte after the elements: less than that of any element.
const END: u8 = 0;

/// Returns the bytes by which an array is compared.
pub(crate) fn key_of(array: Expr) -> Expr {
    call(ArrayFunction::Key, vec![array], DataType::Binary)
}

/// Returns arrays of values, all of one type, as rows that are compared by their bytes.
pub(super) fn comparable<const N: usize>(arrays: [&ArrayRef; N]) -> Result<[Rows; N]> {
    let keys = arrays.map(comparable_values);
    let mut converter: Option<RowConverter> = None;
    let mut rows = Vec::with_capacity(N);
    for key in keys {
        let key = key?;
        if converter.is_none() {
            let options = SortOptions { descending: false, nulls_first: false };
            let field = SortField::new_with_options(key.data_type().clone(), options);
            converter = Some(RowConverter::new(vec![field])?);
        }
        if let Some(converter) = &converter {
            rows.push(converter.convert_columns(&[key])?);
        }
    }
    match rows.try_into() {
        Ok(rows) => Ok(rows),
        Err(_) => internal_err!("no rows of values"),
    }
}

/// Returns values that are equal, and ordered, as Arrow compares them.
fn comparable_values(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(match values.data_type() {
        // Zero has no sign, and NaN is one value.
        DataType::Float32 => {
            Arc::new(values.as_primitive::<Float32Type>().unary::<_, Float32Type>(|value| {
                if value.is_nan() { f32::NAN } else { value + 0.0 }
            }))
        }
        DataType::Float64 => {
            Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float64Type>(|value| {
                if value.is_nan() { f64::NAN } else { value + 0.0 }
            }))
        }
        numeric if *numeric == NUMERIC => numerics::keys(values)?,
        interval if *interval == INTERVAL => order_keys::lengths(values)?,
        _ => values.clone(),
    })
}

/// Returns the keys of arrays.
pub(super) fn keys(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let range = column.whole_range();
    let [elements] = comparable([&column.leaves().slice(range.start, range.len())])?;
    let (mut keys, mut key) = (BinaryBuilder::new(), Vec::new());
    for row in 0..column.len() {
        if column.is_null(row) {
            keys.append_null();
            continue;
        }
        key.clear();
        for position in column.range(row) {
            key.extend_from_slice(elements.row(position - range.start).as_ref());
        }
        key.push(END);
        let dimensions = match column.dimensions(row) {
            Ok(dimensions) => dimensions.lengths().to_vec(),
            // Files may have arrays whose parts have different lengths.
            Err(_) => column.lengths_of_parts(row),
        };
        key.push(u8::try_from(dimensions.len()).unwrap_or(u8::MAX));
        for length in dimensions.iter().skip(1) {
            key.extend_from_slice(&u32::try_from(*length).unwrap_or(u32::MAX).to_be_bytes());
        }
        keys.append_value(&key);
    }
    Ok(Arc::new(keys.finish()))
}
