//! Results of `array_agg` that an aggregate of Arrow's lists does not give by itself.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::keys::comparable;
use super::refused;
use super::writer::ArrayWriter;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};

/// Sorts the elements of lists, and keeps one of those that are equal.
pub(super) fn distinct(
    arrays: &[ArrayRef],
    (descending, nulls_first): (bool, bool),
    result: &DataType,
) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let column = ArrayColumn::of(array)?;
    let leaves = column.leaves();
    let [elements] = comparable([leaves])?;
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[leaves]);
    for row in 0..column.len() {
        if column.is_null(row) {
            writer.push_null();
            continue;
        }
        let mut order = column.range(row).collect::<Vec<_>>();
        order.sort_by(|left, right| {
            let is_null = (leaves.is_null(*left), leaves.is_null(*right));
            let by_null =
                if nulls_first { is_null.1.cmp(&is_null.0) } else { is_null.0.cmp(&is_null.1) };
            let by_value = elements.row(*left).cmp(&elements.row(*right));
            by_null.then(if descending { by_value.reverse() } else { by_value })
        });
        order.dedup_by(|left, right| elements.row(*left) == elements.row(*right));
        writer.push(&Dimensions::one(order.len()), order.into_iter().map(|at| (1, at)))?;
    }
    writer.finish()
}

/// Checks arrays that were accumulated: all have the same dimensions, and elements.
pub(super) fn checked(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [array] = arrays else { return internal_err!("an array") };
    let Some(lists) = array.as_list_opt::<i32>() else {
        return internal_err!("{} of arrays", array.data_type());
    };
    let parts = ArrayColumn::of(lists.values())?;
    for row in (0..lists.len()).filter(|row| lists.is_valid(*row)) {
        let bound = |row| super::column::offset(lists, row);
        let mut common: Option<Dimensions> = None;
        for part in bound(row)..bound(row + 1) {
            if parts.is_null(part) {
                return Err(refused("22004", "cannot accumulate null arrays"));
            }
            let dimensions = parts.dimensions(part)?;
            if dimensions.is_empty() {
                return Err(refused("2202E", "cannot accumulate empty arrays"));
            }
            if *common.get_or_insert(dimensions) != dimensions {
                let message = "cannot accumulate arrays of different dimensionality";
                return Err(refused("2202E", message));
            }
        }
    }
    Ok(array.clone())
}
