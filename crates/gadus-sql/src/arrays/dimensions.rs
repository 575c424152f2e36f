//! Dimensions of arrays: lengths, bounds, numbers of elements.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::refused;
use super::writer::ArrayWriter;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringViewBuilder};
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{Result, internal_err};
use std::fmt::Write;
use std::sync::Arc;

/// Returns an integer for each array; NULL for NULL.
fn of_each(
    array: &ArrayRef,
    number: impl Fn(usize, &Dimensions) -> Option<usize>,
) -> Result<ArrayRef> {
    let column = ArrayColumn::of(array)?;
    let number = |row| match column.is_null(row) {
        true => Ok(None),
        false => Ok(number(row, &column.dimensions(row)?).map(to_integer)),
    };
    let numbers = (0..column.len()).map(number).collect::<Result<Int32Array>>()?;
    Ok(Arc::new(numbers))
}

/// Returns a length as PostgreSQL's `integer`, which holds all.
pub(super) fn to_integer(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// Returns the length of a dimension.
fn length(dimensions: &Dimensions, which: &Int32Array, row: usize) -> Option<usize> {
    let which = which.is_valid(row).then(|| which.value(row))?;
    let place = usize::try_from(which).ok()?.checked_sub(1)?;
    dimensions.lengths().get(place).copied()
}

pub(super) fn lengths(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array, which] = arrays else { return internal_err!("an array and a dimension") };
    let which = which.as_primitive::<Int32Type>();
    of_each(array, |row, dimensions| length(dimensions, which, row))
}

pub(super) fn lower_bounds(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array, which] = arrays else { return internal_err!("an array and a dimension") };
    let which = which.as_primitive::<Int32Type>();
    of_each(array, |row, dimensions| length(dimensions, which, row).map(|_| 1))
}

pub(super) fn cardinalities(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    of_each(array, |_, dimensions| Some(dimensions.elements()))
}

pub(super) fn counts(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    of_each(array, |_, dimensions| Some(dimensions.count()).filter(|count| *count > 0))
}

/// Returns the bounds of arrays: `[1:2][1:3]`.
pub(super) fn texts(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let (mut texts, mut text) = (StringViewBuilder::with_capacity(column.len()), String::new());
    for row in 0..column.len() {
        let dimensions = match column.is_null(row) {
            true => Dimensions::NONE,
            false => column.dimensions(row)?,
        };
        if dimensions.is_empty() {
            texts.append_null();
            continue;
        }
        text.clear();
        for length in dimensions.lengths() {
            // Writing to a String does not fail.
            let _ = write!(text, "[1:{length}]");
        }
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

/// Removes elements at the end of arrays.
pub(super) fn trimmed(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array, count] = arrays else { return internal_err!("an array and a number") };
    let (column, count) = (ArrayColumn::of(array)?, count.as_primitive::<Int32Type>());
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves()]);
    for row in 0..column.len() {
        if column.is_null(row) || count.is_null(row) {
            writer.push_null();
            continue;
        }
        let dimensions = column.dimensions(row)?;
        let length = dimensions.lengths().first().copied().unwrap_or(0);
        let left = usize::try_from(count.value(row)).ok().and_then(|cut| length.checked_sub(cut));
        let Some(left) = left else {
            let message = format!("number of elements to trim must be between 0 and {length}");
            return Err(refused("2202E", message));
        };
        let mut lengths = dimensions.lengths().to_vec();
        if let Some(first) = lengths.first_mut() {
            *first = left;
        }
        let kept = if lengths.is_empty() { Dimensions::NONE } else { Dimensions::of(&lengths) };
        let elements = column.range(row).take(kept.elements());
        writer.push(&kept, elements.map(|position| (1, position)))?;
    }
    writer.finish()
}
