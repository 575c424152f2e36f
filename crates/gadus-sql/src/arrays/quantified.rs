//! Truth values of all elements of an array as one: ANY and ALL.

use super::column::ArrayColumn;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use datafusion::common::{Result, internal_err};
use std::sync::Arc;

pub(super) fn any(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    decided(arrays, true)
}

pub(super) fn all(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    decided(arrays, false)
}

/// Returns `decisive` for arrays with this value as an element; else NULL for those with NULL, and for NULL.
fn decided(arrays: &[ArrayRef], decisive: bool) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let Some(values) = column.leaves().as_boolean_opt() else {
        return internal_err!("truth values of type {}", column.leaves().data_type());
    };
    let of_row = |row: usize| {
        if column.is_null(row) {
            return None;
        }
        let mut answer = Some(!decisive);
        for position in column.range(row) {
            match values.is_valid(position).then(|| values.value(position)) {
                Some(value) if value == decisive => return Some(decisive),
                Some(_) => {}
                None => answer = None,
            }
        }
        answer
    };
    Ok(Arc::new((0..column.len()).map(of_row).collect::<BooleanArray>()))
}
