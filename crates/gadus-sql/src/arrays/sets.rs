//! Arrays whose elements are rows of a set: `unnest`, `generate_subscripts`, `generate_series`, WITH ORDINALITY.

use super::column::ArrayColumn;
use super::dimensions::to_integer;
use super::refused;
use super::writer::{ELEMENTS_MAX, too_many_elements, with_leaves};
use crate::executor::check_cancelled;
use arrow::array::{Array, ArrayRef, AsArray, Int32Builder, Int64Builder, ListArray, ListBuilder};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int32Type, Int64Type};
use datafusion::common::{Result, internal_err};
use std::sync::Arc;

/// Integers of a series after which a cancellation is noticed.
const CHECKED_EACH: usize = 1 << 16;

/// Puts the elements of arrays in one dimension.
pub(super) fn flattened(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let range = column.whole_range();
    let leaves = column.leaves().slice(range.start, range.len());
    if column.depth() == 1 {
        return with_leaves(&column, leaves);
    }
    let lengths = (0..column.len()).map(|row| column.range(row).len());
    let field = Arc::new(Field::new_list_field(leaves.data_type().clone(), true));
    let nulls = array.nulls().cloned();
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), leaves, nulls)?))
}

/// Returns the subscripts of a dimension of arrays, in reverse if a third argument says so.
pub(super) fn subscripts(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array, which, reverse @ ..] = arrays else { return internal_err!("an array") };
    let (column, which) = (ArrayColumn::of(array)?, which.as_primitive::<Int32Type>());
    let reverse = reverse.first().map(|array| array.as_boolean());
    let field = Field::new_list_field(DataType::Int32, true);
    let mut lists = ListBuilder::new(Int32Builder::new()).with_field(field);
    for row in 0..column.len() {
        let is_null = column.is_null(row) || which.is_null(row);
        if is_null || reverse.is_some_and(|reverse| reverse.is_null(row)) {
            lists.append_null();
            continue;
        }
        let place = usize::try_from(which.value(row)).ok().and_then(|place| place.checked_sub(1));
        let dimensions = column.dimensions(row)?;
        let length = place.and_then(|place| dimensions.lengths().get(place)).copied();
        let length = to_integer(length.unwrap_or(0));
        match reverse.is_some_and(|reverse| reverse.value(row)) {
            true => lists.append_value((1..=length).rev().map(Some)),
            false => lists.append_value((1..=length).map(Some)),
        }
    }
    Ok(Arc::new(lists.finish()))
}

/// Returns the numbers, from 1, of the rows that the longest of several lists gives.
pub(super) fn ordinals(arrays: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let columns = arrays.iter().map(ArrayColumn::of).collect::<Result<Vec<_>>>()?;
    let field = Field::new_list_field(DataType::Int64, true);
    let mut lists = ListBuilder::new(Int64Builder::new()).with_field(field);
    for row in 0..rows {
        let lengths = columns.iter().filter(|column| !column.is_null(row));
        let longest = lengths.map(|column| column.range(row).len()).max().unwrap_or(0);
        let last = i64::try_from(longest).unwrap_or(i64::MAX);
        lists.append_value((1..=last).map(Some));
    }
    Ok(Arc::new(lists.finish()))
}

/// Returns the integers of series, as 32 or 64 bits; NULL for a series with a NULL among its bounds.
pub(super) fn series(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [first, last, step @ ..] = arrays else { return internal_err!("two bounds") };
    let (first, last) = (first.as_primitive::<Int64Type>(), last.as_primitive::<Int64Type>());
    let step = step.first().map(|step| step.as_primitive::<Int64Type>());
    let field = Field::new_list_field(DataType::Int64, true);
    let mut lists = ListBuilder::new(Int64Builder::new()).with_field(field);
    let mut count = 0_usize;
    for row in 0..first.len() {
        let is_null = first.is_null(row) || last.is_null(row);
        if is_null || step.is_some_and(|step| step.is_null(row)) {
            lists.append_null();
            continue;
        }
        let step = step.map_or(1, |step| step.value(row));
        if step == 0 {
            return Err(refused("22023", "step size cannot equal zero".to_owned()));
        }
        let (mut next, last) = (Some(first.value(row)), last.value(row));
        while let Some(value) = next.filter(|next| (step > 0) == (*next <= last) || *next == last) {
            lists.values().append_value(value);
            next = value.checked_add(step);
            count += 1;
            if count > ELEMENTS_MAX {
                return Err(too_many_elements());
            }
            if count.is_multiple_of(CHECKED_EACH) {
                check_cancelled()?;
            }
        }
        lists.append(true);
    }
    let lists = lists.finish();
    let DataType::List(field) = result else { return internal_err!("a list of integers") };
    let (_, offsets, values, nulls) = lists.into_parts();
    let values = arrow::compute::cast(&values, field.data_type())?;
    Ok(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls)?))
}
