//! Numerics in columns of tables: texts, each as PostgreSQL writes the value.

use super::casts::{converted_from, converted_to};
use super::of_numeric;
use super::values::Column;
use crate::error::from_datafusion;
use arrow::array::{Array, ArrayRef, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result as PlannerResult;
use gadus_engine::{NumericDigits, Result};
use gadus_numeric::TypeModifier;
use std::sync::Arc;

/// Returns numbers or texts as values of a column that keeps these digits, or all.
///
/// # Errors
/// PostgreSQL's: 22P02 for texts that are no numbers, 22003 for values that do not fit.
pub(crate) fn assigned(array: &ArrayRef, digits: Option<NumericDigits>) -> Result<ArrayRef> {
    texts(array, digits).map_err(from_datafusion)
}

fn texts(array: &ArrayRef, digits: Option<NumericDigits>) -> PlannerResult<ArrayRef> {
    let modifier = match digits {
        Some(NumericDigits { precision, scale }) => {
            Some(TypeModifier::new(precision.into(), Some(scale.into())).map_err(of_numeric)?)
        }
        None => None,
    };
    let values = Column::of(&converted_to(array)?)?;
    let mut texts = StringViewBuilder::with_capacity(array.len());
    for row in 0..array.len() {
        let value = match (values.get(row)?, modifier) {
            (Some(value), Some(modifier)) => Some(modifier.apply(&value).map_err(of_numeric)?),
            (value, _) => value,
        };
        texts.append_option(value.map(|value| value.to_string()));
    }
    Ok(Arc::new(texts.finish()))
}

/// Returns the floating-point numbers that are nearest to numbers.
///
/// # Errors
/// 22003 for values beyond the type.
pub(crate) fn nearest(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    converted_from(array, wanted).map_err(from_datafusion)
}
