//! Elements of arrays by their values: `array_position`, `array_remove`, `array_replace`, `@>`, `&&`, `width_bucket`.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::dimensions::to_integer;
use super::keys::comparable;
use super::refused;
use super::writer::ArrayWriter;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int32Builder, ListBuilder};
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::common::{Result, internal_err};
use std::collections::HashSet;
use std::sync::Arc;

/// Returns the positions of elements that are equal to a value, within the first dimension.
fn found(
    (column, value): (&ArrayColumn, &ArrayRef),
    row: usize,
    rows: &[arrow::row::Rows; 2],
) -> Result<Vec<usize>> {
    if column.dimensions(row)?.count() > 1 {
        let message = "searching for elements in multidimensional arrays is not supported";
        return Err(refused("0A000", message));
    }
    debug_assert!(row < value.len());
    let [elements, values] = rows;
    let range = column.range(row);
    let start = range.start;
    let is_equal = |position: &usize| elements.row(*position) == values.row(row);
    Ok(range.filter(is_equal).map(|position| position - start).collect())
}

pub(super) fn position(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let (array, value, first) = match arrays {
        [array, value] => (array, value, None),
        [array, value, first] => (array, value, Some(first.as_primitive::<Int32Type>())),
        _ => return internal_err!("array_position of {} arguments", arrays.len()),
    };
    let column = ArrayColumn::of(array)?;
    let rows = comparable([column.leaves(), value])?;
    let place = |row: usize| {
        if column.is_null(row) {
            return Ok(None);
        }
        let found = found((&column, value), row, &rows)?;
        let first = match first {
            Some(first) if first.is_null(row) => {
                return Err(refused("22004", "initial position must not be null"));
            }
            Some(first) => first.value(row),
            None => 1,
        };
        let mut places = found.into_iter().map(|place| to_integer(place + 1));
        Ok(places.find(|place| *place >= first))
    };
    Ok(Arc::new((0..column.len()).map(place).collect::<Result<Int32Array>>()?))
}

pub(super) fn positions(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array, value] = arrays else { return internal_err!("an array and a value") };
    let column = ArrayColumn::of(array)?;
    let rows = comparable([column.leaves(), value])?;
    let field = Field::new_list_field(DataType::Int32, true);
    let mut lists = ListBuilder::new(Int32Builder::new()).with_field(field);
    for row in 0..column.len() {
        if column.is_null(row) {
            lists.append_null();
            continue;
        }
        let found = found((&column, value), row, &rows)?;
        lists.append_value(found.into_iter().map(|place| Some(to_integer(place + 1))));
    }
    Ok(Arc::new(lists.finish()))
}

pub(super) fn removed(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array, value] = arrays else { return internal_err!("an array and a value") };
    let column = ArrayColumn::of(array)?;
    let [elements, values] = comparable([column.leaves(), value])?;
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves()]);
    for row in 0..column.len() {
        if column.is_null(row) {
            writer.push_null();
            continue;
        }
        if column.dimensions(row)?.count() > 1 {
            let message = "removing elements from multidimensional arrays is not supported";
            return Err(refused("0A000", message));
        }
        let kept = column.range(row).filter(|at| elements.row(*at) != values.row(row));
        let kept = kept.collect::<Vec<_>>();
        writer.push(&Dimensions::one(kept.len()), kept.into_iter().map(|at| (1, at)))?;
    }
    writer.finish()
}

pub(super) fn replaced(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [array, from, to] = arrays else { return internal_err!("an array and two values") };
    let column = ArrayColumn::of(array)?;
    let [elements, values] = comparable([column.leaves(), from])?;
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves(), to]);
    for row in 0..column.len() {
        if column.is_null(row) {
            writer.push_null();
            continue;
        }
        let element = |at: usize| match elements.row(at) == values.row(row) {
            true => (2, row),
            false => (1, at),
        };
        writer.push(&column.dimensions(row)?, column.range(row).map(element))?;
    }
    writer.finish()
}

/// Returns true for each pair of arrays whose elements are in such a relation; NULL elements are equal to none.
fn related(
    arrays: &[ArrayRef],
    holds: impl Fn(&HashSet<&[u8]>, &mut dyn Iterator<Item = Option<&[u8]>>) -> bool,
) -> Result<ArrayRef> {
    let [left, right] = arrays else { return internal_err!("two arrays") };
    let (left, right) = (ArrayColumn::of(left)?, ArrayColumn::of(right)?);
    let [ours, theirs] = comparable([left.leaves(), right.leaves()])?;
    let is_related = |row: usize| {
        if left.is_null(row) || right.is_null(row) {
            return None;
        }
        let known = left.range(row).filter(|at| left.leaves().is_valid(*at));
        let known = known.map(|at| ours.row(at).data()).collect::<HashSet<_>>();
        let mut others =
            right.range(row).map(|at| right.leaves().is_valid(at).then(|| theirs.row(at).data()));
        Some(holds(&known, &mut others))
    };
    Ok(Arc::new((0..left.len()).map(is_related).collect::<BooleanArray>()))
}

pub(super) fn contains(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    related(arrays, |known, mut others| {
        (&mut others).all(|other| other.is_some_and(|other| known.contains(other)))
    })
}

pub(super) fn overlaps(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    related(arrays, |known, mut others| {
        (&mut others).any(|other| other.is_some_and(|other| known.contains(other)))
    })
}

/// Returns the number of thresholds that are not greater than a value.
pub(super) fn buckets(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [value, thresholds] = arrays else { return internal_err!("a value and an array") };
    let column = ArrayColumn::of(thresholds)?;
    let [elements, values] = comparable([column.leaves(), value])?;
    let bucket = |row: usize| {
        if column.is_null(row) || value.is_null(row) {
            return Ok(None);
        }
        if column.dimensions(row)?.count() > 1 {
            return Err(refused("2202E", "thresholds must be one-dimensional array"));
        }
        let range = column.range(row);
        if range.clone().any(|at| column.leaves().is_null(at)) {
            return Err(refused("22004", "thresholds array must not contain NULLs"));
        }
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match values.row(row) < elements.row(middle) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        Ok(Some(to_integer(low - range.start)))
    };
    Ok(Arc::new((0..column.len()).map(bucket).collect::<Result<Int32Array>>()?))
}
