//! Arrays that are made of values, or of other arrays.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::writer::{ArrayWriter, NULL, too_many_elements};
use super::{
    DIMENSIONS_MAX, other_depth, other_lower_bound, refused, refused_with, too_many_dimensions,
};
use arrow::array::{Array, ArrayRef, AsArray, ListArray};
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;
use std::sync::Arc;

/// Makes an array of each row's values.
pub(super) fn of_values(arrays: &[ArrayRef], rows: usize, result: &DataType) -> Result<ArrayRef> {
    let sources = arrays.iter().collect::<Vec<_>>();
    let mut writer = ArrayWriter::new(leaf_of(result), 1, &sources);
    let dimensions = Dimensions::one(arrays.len());
    for row in 0..rows {
        writer.push(&dimensions, (1..=arrays.len()).map(|source| (source, row)))?;
    }
    writer.finish()
}

/// Makes an array of each row's arrays, which become its parts.
pub(super) fn of_arrays(arrays: &[ArrayRef], rows: usize, result: &DataType) -> Result<ArrayRef> {
    let columns = arrays.iter().map(ArrayColumn::of).collect::<Result<Vec<_>>>()?;
    let sources = columns.iter().map(ArrayColumn::leaves).collect::<Vec<_>>();
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &sources);
    for row in 0..rows {
        let mut common: Option<Dimensions> = None;
        let mut has_empty = false;
        for column in &columns {
            let part = match column.is_null(row) {
                true => Dimensions::NONE,
                false => column.dimensions(row)?,
            };
            if part.is_empty() {
                has_empty = true;
            } else if *common.get_or_insert(part) != part {
                return Err(other_parts());
            }
        }
        let Some(part) = common else {
            writer.push(&Dimensions::NONE, [])?;
            continue;
        };
        if has_empty {
            return Err(other_parts());
        }
        let whole = within(columns.len(), &part)?;
        let elements = columns.iter().enumerate();
        let elements = elements.flat_map(|(source, column)| {
            column.range(row).map(move |position| (source + 1, position))
        });
        writer.push(&whole, elements)?;
    }
    writer.finish()
}

fn other_parts() -> DataFusionError {
    let message = "multidimensional arrays must have array expressions with matching dimensions";
    refused("2202E", message)
}

/// Returns the dimensions of an array of so many parts.
pub(super) fn within(count: usize, part: &Dimensions) -> Result<Dimensions> {
    if part.count() >= DIMENSIONS_MAX {
        return Err(too_many_dimensions(part.count() + 1));
    }
    let lengths = std::iter::once(&count).chain(part.lengths()).copied().collect::<Vec<_>>();
    Ok(Dimensions::of(&lengths))
}

/// Puts arrays into a type of another number of dimensions.
pub(super) fn adapted(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("one array") };
    let column = ArrayColumn::of(array)?;
    let depth = depth_of(result);
    let mut writer = ArrayWriter::new(leaf_of(result), depth, &[column.leaves()]);
    for row in 0..column.len() {
        if column.is_null(row) {
            writer.push_null();
            continue;
        }
        let dimensions = column.dimensions(row)?;
        if !dimensions.is_empty() {
            return Err(other_depth(dimensions.count(), depth));
        }
        writer.push(&dimensions, [])?;
    }
    writer.finish()
}

/// Puts arrays into a type that says more about their elements.
pub(super) fn relabeled(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("one array") };
    let (DataType::List(field), Some(list)) = (result, array.as_list_opt::<i32>()) else {
        return Ok(array.clone());
    };
    let values = relabeled(&[list.values().clone()], field.data_type())?;
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls)?))
}

/// Makes arrays of one value: `array_fill`.
pub(super) fn filled(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let (value, lengths, bounds) = match arrays {
        [value, lengths] => (value, lengths, None),
        [value, lengths, bounds] => (value, lengths, Some(ArrayColumn::of(bounds)?)),
        _ => return internal_err!("array_fill of {} arguments", arrays.len()),
    };
    let lengths = ArrayColumn::of(lengths)?;
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[value]);
    for row in 0..value.len() {
        let is_null = lengths.is_null(row) || bounds.as_ref().is_some_and(|one| one.is_null(row));
        if is_null {
            let message = "dimension array or low bound array cannot be null";
            return Err(refused("22004", message));
        }
        let given = integers(&lengths, row, "Dimension array must be one dimensional.")?;
        if given.len() > DIMENSIONS_MAX {
            return Err(too_many_dimensions(given.len()));
        }
        if let Some(bounds) = &bounds {
            let lower = integers(bounds, row, "Dimension array must be one dimensional.")?;
            if lower.len() != given.len() {
                let detail = "Low bound array has different size than dimensions array.";
                return Err(wrong_subscripts(Some(detail)));
            }
            if lower.iter().any(|bound| *bound != 1) && !given.contains(&0) {
                return Err(other_lower_bound());
            }
        }
        let given = given.into_iter().map(usize::try_from).collect::<std::result::Result<_, _>>();
        let given: Vec<usize> = given.map_err(|_| too_many_elements())?;
        let dimensions = Dimensions::of(&given);
        let count = given.iter().try_fold(1_usize, |all, length| all.checked_mul(*length));
        if count.is_none_or(|count| count > super::writer::ELEMENTS_MAX) {
            return Err(too_many_elements());
        }
        writer.push(&dimensions, std::iter::repeat_n((1, row), dimensions.elements()))?;
    }
    writer.finish()
}

/// Returns the elements of an array of integers.
fn integers(column: &ArrayColumn, row: usize, detail: &str) -> Result<Vec<i32>> {
    if column.dimensions(row)?.count() > 1 {
        return Err(wrong_subscripts(Some(detail)));
    }
    let values = column.leaves().as_primitive::<Int32Type>();
    let value = |position: usize| match values.is_valid(position) {
        true => Ok(values.value(position)),
        false => Err(refused("22004", "dimension values cannot be null")),
    };
    column.range(row).map(value).collect()
}

/// Returns the error of other subscripts than the array has dimensions.
pub(super) fn wrong_subscripts(detail: Option<&str>) -> DataFusionError {
    refused_with("2202E", "wrong number of array subscripts", detail)
}

/// Returns the pick of a position in the first source; NULL for none.
pub(super) fn pick(position: Option<usize>) -> (usize, usize) {
    position.map_or(NULL, |position| (1, position))
}
