//! Assignments to elements and slices of arrays, as of `UPDATE t SET a[1] = 5`.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::construct::{pick, wrong_subscripts};
use super::slices::{Bounds, SliceBounds, Subscript, Window, element_place, integers};
use super::writer::{ArrayWriter, ELEMENTS_MAX, too_many_elements};
use super::{other_lower_bound, refused, refused_with};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};
use datafusion::error::DataFusionError;

/// Puts a value in an element of each row's array.
pub(super) fn elements(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array, value, subscripts @ ..] = arrays else { return internal_err!("an array") };
    let (column, subscripts) = (ArrayColumn::of(array)?, integers(subscripts));
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves(), value]);
    for row in 0..column.len() {
        if subscripts.iter().any(|one| one.is_null(row)) {
            return Err(null_subscript());
        }
        let dimensions = dimensions_of(&column, row)?;
        let given = subscripts.iter().map(|one| one.value(row)).collect::<Vec<_>>();
        if dimensions.is_empty() {
            if given.iter().any(|subscript| *subscript != 1) {
                return Err(other_lower_bound());
            }
            writer.push(&Dimensions::of(&vec![1; given.len()]), [(2, row)])?;
            continue;
        }
        if dimensions.count() != given.len() {
            return Err(wrong_subscripts(None));
        }
        let start = column.range(row).start;
        let count = dimensions.elements();
        let (whole, place) = match (element_place(&dimensions, given.iter().copied()), &*given) {
            (Some(place), _) => (dimensions, place),
            (None, [after]) => {
                match usize::try_from(*after).ok().and_then(|at| at.checked_sub(1)) {
                    Some(place) if place >= ELEMENTS_MAX => return Err(too_many_elements()),
                    Some(place) => (Dimensions::one(place + 1), place),
                    None => return Err(other_lower_bound()),
                }
            }
            (None, _) => return Err(refused("2202E", "array subscript out of range")),
        };
        let element = |at: usize| match at == place {
            true => (2, row),
            false => pick((at < count).then_some(start + at)),
        };
        writer.push(&whole, (0..whole.elements()).map(element))?;
    }
    writer.finish()
}

/// Puts elements of another array in a slice of each row's array.
pub(super) fn slices(
    arrays: &[ArrayRef],
    items: &[Subscript],
    result: &DataType,
) -> Result<ArrayRef> {
    let [array, source, bounds @ ..] = arrays else { return internal_err!("two arrays") };
    let (column, source) = (ArrayColumn::of(array)?, ArrayColumn::of(source)?);
    let bounds = SliceBounds::new(items, bounds);
    let sources = [column.leaves(), source.leaves()];
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &sources);
    for row in 0..column.len() {
        let given = bounds.of_row(row).ok_or_else(null_subscript)?;
        let dimensions = dimensions_of(&column, row)?;
        let before = match column.is_null(row) {
            true => 0..0,
            false => column.range(row),
        };
        if source.is_null(row) {
            match column.is_null(row) {
                true => writer.push(&Dimensions::NONE, [])?,
                false => writer.push(&dimensions, before.map(|position| (1, position)))?,
            }
            continue;
        }
        let (whole, window) = match dimensions.is_empty() {
            true => new_window(&given)?,
            false => window(&dimensions, &given)?,
        };
        let assigned = source.range(row);
        let places = window.positions(&whole);
        if assigned.len() < places.len() {
            return Err(refused("2202E", "source array too small"));
        }
        let mut picks = (0..whole.elements())
            .map(|at| pick((at < before.len()).then_some(before.start + at)))
            .collect::<Vec<_>>();
        for (place, position) in places.into_iter().zip(assigned) {
            if let Some(element) = picks.get_mut(place) {
                *element = (2, position);
            }
        }
        writer.push(&whole, picks)?;
    }
    writer.finish()
}

/// Returns the dimensions of an array; NULL has none.
fn dimensions_of(column: &ArrayColumn, row: usize) -> Result<Dimensions> {
    match column.is_null(row) {
        true => Ok(Dimensions::NONE),
        false => column.dimensions(row),
    }
}

/// Returns the dimensions that a slice gives to an array without elements, all of which it is.
fn new_window(bounds: &[Bounds]) -> Result<(Dimensions, Window)> {
    let mut lengths = Vec::with_capacity(bounds.len());
    for bounds in bounds {
        let (Some(lower), Some(upper)) = *bounds else {
            let detail = "When assigning to a slice of an empty array value, slice boundaries must be fully specified.";
            let message = "array slice subscript must provide both boundaries";
            return Err(refused_with("2202E", message, Some(detail)));
        };
        if lower > upper {
            return Err(reversed());
        }
        if lower != 1 {
            return Err(other_lower_bound());
        }
        lengths.push(usize::try_from(upper).unwrap_or(0));
    }
    let count = lengths.iter().try_fold(1_usize, |all, length| all.checked_mul(*length));
    if count.is_none_or(|count| count > ELEMENTS_MAX) {
        return Err(too_many_elements());
    }
    Ok((Dimensions::of(&lengths), Window { starts: vec![0; lengths.len()], lengths }))
}

/// Returns the dimensions of an array after an assignment to a slice, and where the slice is.
fn window(dimensions: &Dimensions, bounds: &[Bounds]) -> Result<(Dimensions, Window)> {
    if dimensions.count() < bounds.len() {
        return Err(wrong_subscripts(None));
    }
    let can_grow = dimensions.count() == 1;
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    let mut whole = dimensions.lengths().to_vec();
    for (place, length) in whole.iter_mut().enumerate() {
        let last = i64::try_from(*length).unwrap_or(i64::MAX);
        let (lower, upper) = bounds.get(place).copied().unwrap_or_default();
        let lower = lower.map_or(1, i64::from);
        let upper = upper.map_or(last, i64::from);
        if lower > upper {
            return Err(reversed());
        }
        let first = usize::try_from(lower).ok().and_then(|lower| lower.checked_sub(1));
        let end = usize::try_from(upper).unwrap_or(0);
        let start = match first {
            Some(first) if end <= *length => first,
            Some(first) if can_grow && end <= ELEMENTS_MAX => first,
            Some(_) if can_grow => return Err(too_many_elements()),
            None if can_grow => return Err(other_lower_bound()),
            _ => return Err(refused("2202E", "array subscript out of range")),
        };
        *length = (*length).max(end);
        starts.push(start);
        lengths.push(end - start);
    }
    Ok((Dimensions::of(&whole), Window { starts, lengths }))
}

fn reversed() -> DataFusionError {
    refused("2202E", "upper bound cannot be less than lower bound")
}

fn null_subscript() -> DataFusionError {
    refused("22004", "array subscript in assignment must not be null")
}
