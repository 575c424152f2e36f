//! `generate_series` as arrays: the elements of a row's series.
//!
//! - Series that are alone in FROM and whose bounds are written out are tables, whose rows are made as they are read.

use super::refused;
use crate::error::to_datafusion;
use crate::executor::check_cancelled;
use crate::numerics::{NUMERIC, NumericColumn, WrittenNumerics, of_numeric};
use crate::times;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::{DataFusionError, Result, internal_err};
use gadus_numeric::Numeric;
use std::sync::Arc;

/// Elements at most of the series of one batch of rows: 128 MiB of integers.
const ELEMENTS_MAX: usize = 1 << 24;

/// Elements between looks at cancellation.
const ELEMENTS_BETWEEN_LOOKS: usize = 4_096;

/// Returns the series of each row, of integers, numerics or timestamps.
pub(super) fn series(arrays: &[ArrayRef], result: &DataType) -> Result<ArrayRef> {
    let [first, last, rest @ ..] = arrays else { return internal_err!("two bounds") };
    let DataType::List(field) = result else { return internal_err!("{result} as a series") };
    let leaf = field.data_type();
    let (mut parts, mut lengths, mut total) = (Vec::new(), Vec::with_capacity(first.len()), 0);
    for row in 0..first.len() {
        let bounds = [Some(first), Some(last), rest.first()];
        let bounds = bounds.into_iter().flatten().map(|array| array.slice(row, 1));
        let bounds = bounds.collect::<Vec<_>>();
        if bounds.iter().any(|bound| bound.is_null(0)) {
            lengths.push(0);
            continue;
        }
        let part = one(&bounds, leaf, ELEMENTS_MAX - total)?;
        total += part.len();
        lengths.push(part.len());
        parts.push(part);
    }
    let parts = parts.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>();
    let elements = match parts.is_empty() {
        true => new_empty_array(leaf),
        false => concat(&parts)?,
    };
    let field = Arc::new(Field::new_list_field(leaf.clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, elements, None)?))
}

/// Returns the elements of one series, at most so many.
fn one(bounds: &[ArrayRef], leaf: &DataType, most: usize) -> Result<ArrayRef> {
    match leaf {
        DataType::Int32 | DataType::Int64 => of_integers(bounds, leaf, most),
        DataType::Timestamp(..) => {
            let [first, last, step] = bounds else { return internal_err!("three bounds") };
            let rows = times::series(first, last, step).map_err(to_datafusion)?;
            match rows {
                Some(rows) if rows.len() <= most => Ok(cast(&rows, leaf)?),
                _ => Err(too_many()),
            }
        }
        leaf if *leaf == NUMERIC => of_numerics(bounds, most),
        other => internal_err!("a series of {other}"),
    }
}

fn of_integers(bounds: &[ArrayRef], leaf: &DataType, most: usize) -> Result<ArrayRef> {
    let bounds = bounds.iter().map(|bound| cast(bound, &DataType::Int64));
    let bounds = bounds.collect::<std::result::Result<Vec<_>, _>>()?;
    let bound = |place: usize| {
        bounds.get(place).map_or(1, |bound| bound.as_primitive::<Int64Type>().value(0))
    };
    let (first, last, step) = (bound(0), bound(1), bound(2));
    if step == 0 {
        return Err(refused("22023", "step size cannot equal zero"));
    }
    let (mut elements, mut next) = (Vec::new(), Some(first));
    while let Some(element) =
        next.filter(|next| if step > 0 { *next <= last } else { *next >= last })
    {
        grow(elements.len(), most)?;
        elements.push(element);
        // The series ends where its type does.
        next = element.checked_add(step);
    }
    let elements = Int64Array::from(elements);
    Ok(cast(&elements, leaf)?)
}

fn of_numerics(bounds: &[ArrayRef], most: usize) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(3);
    for (bound, name) in bounds.iter().zip(["start value", "stop value", "step size"]) {
        let Some(value) = NumericColumn::of(bound)?.get(0)? else {
            return internal_err!("a bound");
        };
        if value.is_nan() {
            return Err(refused("22023", format!("{name} cannot be NaN")));
        }
        if value.is_infinite() {
            return Err(refused("22023", format!("{name} cannot be infinity")));
        }
        values.push(value);
    }
    let step = values.get(2).cloned().unwrap_or_else(|| Numeric::from(1_i64));
    let zero = Numeric::from(0_i64);
    if step == zero {
        return Err(refused("22023", "step size cannot equal zero"));
    }
    let [first, last, ..] = values.as_slice() else { return internal_err!("two bounds") };
    let (mut written, mut count, mut next) = (WrittenNumerics::default(), 0, first.clone());
    while if step > zero { next <= *last } else { next >= *last } {
        grow(count, most)?;
        written.push(Some(&next));
        count += 1;
        next = next.add(&step).map_err(of_numeric)?;
    }
    Ok(written.finish())
}

/// Looks at cancellation and the number of elements.
fn grow(elements: usize, most: usize) -> Result<()> {
    if elements >= most {
        return Err(too_many());
    }
    match elements % ELEMENTS_BETWEEN_LOOKS {
        0 => check_cancelled(),
        _ => Ok(()),
    }
}

fn too_many() -> DataFusionError {
    let message = format!(
        "generate_series of more than {ELEMENTS_MAX} rows here is not supported; call it alone in FROM, with literals"
    );
    refused("0A000", message)
}
