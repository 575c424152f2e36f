//! Arrays put together: `array_append`, `array_prepend`, `array_cat`, and `||`.

use super::column::{ArrayColumn, Dimensions, depth_of, leaf_of};
use super::construct::within;
use super::refused_with;
use super::writer::ArrayWriter;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{Result, internal_err};

/// Adds a value at the end of arrays, or before their first elements.
pub(super) fn appended(arrays: &[ArrayRef], is_last: bool, result: &DataType) -> Result<ArrayRef> {
    let (array, value) = match (arrays, is_last) {
        ([array, value], true) | ([value, array], false) => (array, value),
        _ => return internal_err!("an array and a value"),
    };
    let column = ArrayColumn::of(array)?;
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &[column.leaves(), value]);
    for row in 0..column.len() {
        let range = match column.is_null(row) {
            true => 0..0,
            false if column.dimensions(row)?.count() > 1 => {
                let message = "argument must be empty or one-dimensional array";
                return Err(super::refused("22000", message));
            }
            false => column.range(row),
        };
        let dimensions = Dimensions::one(range.len() + 1);
        let elements = range.map(|position| (1, position));
        match is_last {
            true => writer.push(&dimensions, elements.chain([(2, row)]))?,
            false => writer.push(&dimensions, std::iter::once((2, row)).chain(elements))?,
        }
    }
    writer.finish()
}

/// Puts arrays together: of as many dimensions, or one as a part of the other.
pub(super) fn concatenated(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [left, right] = arrays else { return internal_err!("two arrays") };
    let (left, right) = (ArrayColumn::of(left)?, ArrayColumn::of(right)?);
    let sources = [left.leaves(), right.leaves()];
    let mut writer = ArrayWriter::new(leaf_of(result), depth_of(result), &sources);
    for row in 0..left.len() {
        let dimensions = match (left.is_null(row), right.is_null(row)) {
            (true, true) => {
                writer.push_null();
                continue;
            }
            (true, false) => right.dimensions(row)?,
            (false, true) => left.dimensions(row)?,
            (false, false) => together(&left.dimensions(row)?, &right.dimensions(row)?)?,
        };
        let range = |column: &ArrayColumn| match column.is_null(row) {
            true => 0..0,
            false => column.range(row),
        };
        let elements = range(&left).map(|position| (1, position));
        writer.push(&dimensions, elements.chain(range(&right).map(|position| (2, position))))?;
    }
    writer.finish()
}

/// Returns the dimensions of two arrays that are put together.
fn together(left: &Dimensions, right: &Dimensions) -> Result<Dimensions> {
    let incompatible = |detail: &str| {
        refused_with("2202E", "cannot concatenate incompatible arrays", Some(detail))
    };
    if left.is_empty() {
        return Ok(*right);
    }
    if right.is_empty() {
        return Ok(*left);
    }
    let (first, second) = (left.lengths(), right.lengths());
    match (left.count(), right.count()) {
        (one, other) if one == other => match first[1..] == second[1..] {
            true => within(first[0] + second[0], &Dimensions::of(&first[1..])),
            false => Err(incompatible(
                "Arrays with differing element dimensions are not compatible for concatenation.",
            )),
        },
        (one, other) if one + 1 == other || other + 1 == one => {
            let (part, whole) = if one < other { (left, right) } else { (right, left) };
            match whole.lengths()[1..] == *part.lengths() {
                true => within(whole.lengths()[0] + 1, part),
                false => Err(incompatible(
                    "Arrays with differing dimensions are not compatible for concatenation.",
                )),
            }
        }
        (one, other) => Err(incompatible(&format!(
            "Arrays of {one} and {other} dimensions are not compatible for concatenation."
        ))),
    }
}
