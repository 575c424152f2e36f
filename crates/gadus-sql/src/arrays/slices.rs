//! Elements and slices of arrays.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::writer::ArrayWriter;
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Int32Type};
use datafusion::common::{Result, internal_err};

/// Bounds of a slice that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Subscript {
    /// True for `[1:…]`.
    pub(crate) has_lower: bool,
    /// True for `[…:2]`.
    pub(crate) has_upper: bool,
}

/// Bounds of a slice in one dimension; `None` if they are left out.
pub(super) type Bounds = (Option<i32>, Option<i32>);

/// Returns the element that each row's subscripts name; NULL if there is none.
pub(super) fn elements(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array, subscripts @ ..] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let subscripts = integers(subscripts);
    let position = |row: usize| {
        if column.is_null(row) || subscripts.iter().any(|one| one.is_null(row)) {
            return Ok(None);
        }
        let dimensions = column.dimensions(row)?;
        let given = subscripts.iter().map(|one| one.value(row));
        let place = element_place(&dimensions, given);
        Ok(place.and_then(|place| u64::try_from(column.range(row).start + place).ok()))
    };
    let positions = (0..column.len()).map(position).collect::<Result<UInt64Array>>()?;
    let values = take(column.leaves(), &positions, None)?;
    match values.data_type() == result {
        true => Ok(values),
        false => internal_err!("elements of type {}", values.data_type()),
    }
}

pub(super) fn integers(arrays: &[ArrayRef]) -> Vec<&Int32Array> {
    arrays.iter().map(|array| array.as_primitive::<Int32Type>()).collect()
}

/// Returns the position of an element among all of its array, if it is there.
pub(super) fn element_place(
    dimensions: &Dimensions,
    subscripts: impl ExactSizeIterator<Item = i32>,
) -> Option<usize> {
    if subscripts.len() != dimensions.count() || dimensions.is_empty() {
        return None;
    }
    let mut place = 0;
    for (subscript, length) in subscripts.zip(dimensions.lengths()) {
        let index = usize::try_from(subscript).ok()?.checked_sub(1)?;
        if index >= *length {
            return None;
        }
        place = place * length + index;
    }
    Some(place)
}

/// Reads the bounds of each row's slice.
pub(super) struct SliceBounds<'a> {
    items: &'a [Subscript],
    given: Vec<&'a Int32Array>,
}

impl<'a> SliceBounds<'a> {
    pub(super) fn new(items: &'a [Subscript], arrays: &'a [ArrayRef]) -> Self {
        Self { items, given: integers(arrays) }
    }

    /// Returns the bounds of a row; `None` if one of them is NULL.
    pub(super) fn of_row(&self, row: usize) -> Option<Vec<Bounds>> {
        let mut given = self.given.iter();
        let mut next = |is_given: bool| match is_given {
            true => given.next().filter(|one| one.is_valid(row)).map(|one| Some(one.value(row))),
            false => Some(None),
        };
        self.items.iter().map(|item| Some((next(item.has_lower)?, next(item.has_upper)?))).collect()
    }
}

/// Positions of a slice among the elements of its array: the first one and the number in each dimension.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) starts: Vec<usize>,
    pub(super) lengths: Vec<usize>,
}

impl Window {
    /// Returns the positions of the elements within an array of these dimensions, in their order.
    pub(super) fn positions(&self, dimensions: &Dimensions) -> Vec<usize> {
        let mut positions = vec![0];
        let all = self.starts.iter().zip(&self.lengths).zip(dimensions.lengths());
        for ((start, count), length) in all {
            let inner = |outer: usize| (*start..start + count).map(move |at| outer * length + at);
            positions = positions.into_iter().flat_map(inner).collect();
        }
        positions
    }
}

/// Returns the part of an array that is within bounds; `None` if it has no elements.
fn window(dimensions: &Dimensions, bounds: &[Bounds]) -> Option<Window> {
    if dimensions.is_empty() || dimensions.count() < bounds.len() {
        return None;
    }
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    for (place, length) in dimensions.lengths().iter().enumerate() {
        let (lower, upper) = bounds.get(place).copied().unwrap_or_default();
        let last = i64::try_from(*length).ok()?;
        let lower = lower.map_or(1, i64::from).max(1);
        let upper = upper.map_or(last, i64::from).min(last);
        starts.push(usize::try_from(lower - 1).ok()?);
        lengths.push(usize::try_from(upper - lower + 1).ok().filter(|count| *count > 0)?);
    }
    Some(Window { starts, lengths })
}

/// Returns a slice of each row's array.
pub(super) fn slices(
    arrays: &[ArrayRef],
    items: &[Subscript],
    result: &DataType,
) -> Result<ArrayRef> {
    let [array, bounds @ ..] = arrays else { return internal_err!("an array") };
    let (column, bounds) = (ArrayColumn::of(array)?, SliceBounds::new(items, bounds));
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves()]);
    for row in 0..column.len() {
        let given = bounds.of_row(row).filter(|_| !column.is_null(row));
        let Some(given) = given else {
            writer.push_null();
            continue;
        };
        let dimensions = column.dimensions(row)?;
        let Some(window) = window(&dimensions, &given) else {
            writer.push(&Dimensions::NONE, [])?;
            continue;
        };
        let start = column.range(row).start;
        let positions = window.positions(&dimensions).into_iter();
        writer.push(&Dimensions::of(&window.lengths), positions.map(|at| (1, start + at)))?;
    }
    writer.finish()
}
