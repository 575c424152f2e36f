//! Casts to fewer decimal places, which round.
//!
//! - DataFusion cuts what is behind the point where a number becomes an integer. PostgreSQL rounds: decimals away from
//!   zero where they are half way, doubles to the even one.
//! - It also compares what is cast by casting what it is compared with, as if nothing were lost: `d::INT = 5` would not
//!   find 4.6. It does not look through a function.

use crate::error::to_datafusion;
use crate::one_value::of_one_value;
use arrow::array::{ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;

/// A number with so many decimal places at most, as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Rounded {
    places: i8,
    signature: Signature,
}

/// A cast that rounds what is cast to fewer decimal places.
pub(super) fn rounding(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let Some(places) = places_kept(&inner.get_type(schema)?, field.data_type()) else {
        return Ok(Transformed::no(expr));
    };
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Arc::new(ScalarUDF::from(Rounded { places, signature }));
    let number = std::mem::take(&mut **inner);
    **inner = Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![number]));
    Ok(Transformed::yes(expr))
}

/// The decimal places that a cast keeps, where they may be fewer than there were.
fn places_kept(from: &DataType, to: &DataType) -> Option<i8> {
    let kept = match to {
        integer if integer.is_integer() => 0,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
        _ => return None,
    };
    let is_cut = match from {
        DataType::Float32 | DataType::Float64 => to.is_integer(),
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale > kept,
        _ => false,
    };
    is_cut.then_some(kept)
}

/// The numbers of an array as they are before they become a type with fewer decimal places.
pub(crate) fn rounded_for(array: &ArrayRef, to: &DataType) -> gadus_engine::Result<ArrayRef> {
    places_kept(array.data_type(), to)
        .map_or_else(|| Ok(array.clone()), |places| rounded(array, places))
}

fn rounded(array: &ArrayRef, places: i8) -> gadus_engine::Result<ArrayRef> {
    match array.data_type() {
        DataType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>();
            Ok(Arc::new(numbers.unary::<_, Float32Type>(f32::round_ties_even)))
        }
        DataType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            Ok(Arc::new(numbers.unary::<_, Float64Type>(f64::round_ties_even)))
        }
        other => {
            let options = CastOptions { safe: false, ..CastOptions::default() };
            Ok(cast_with_options(array, &rounded_type(other, places), &options)?)
        }
    }
}

/// What rounding gives: decimals with a digit more before the point, as 9.9 becomes 10.
fn rounded_type(from: &DataType, places: i8) -> DataType {
    let digits = |precision: u8, scale: i8, most: u8| {
        let cut = scale.saturating_sub(places).unsigned_abs();
        precision.saturating_sub(cut).saturating_add(1).max(places.unsigned_abs()).clamp(1, most)
    };
    match *from {
        DataType::Decimal128(precision, scale) if scale > places => {
            DataType::Decimal128(digits(precision, scale, 38), places)
        }
        DataType::Decimal256(precision, scale) if scale > places => {
            DataType::Decimal256(digits(precision, scale, 76), places)
        }
        ref other => other.clone(),
    }
}

impl ScalarUDFImpl for Rounded {
    fn name(&self) -> &'static str {
        "rounded"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(rounded_type(arguments.first().unwrap_or(&DataType::Null), self.places))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |array| rounded(array, self.places).map_err(to_datafusion))
    }
}
