//! Arrays whose elements are rows of a set: `unnest`, `generate_subscripts`, WITH ORDINALITY.

use super::column::ArrayColumn;
use super::dimensions::to_integer;
use super::writer::with_leaves;
use arrow::array::{Array, ArrayRef, AsArray, Int32Builder, Int64Builder, ListArray, ListBuilder};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::common::{Result, internal_err};
use std::sync::Arc;

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
