//! Keys of values that are equal or ordered otherwise than Arrow compares them.

use super::Typed;
use crate::json::{self, JSONB};
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, lit};

/// Returns true for a type whose values are compared by keys.
pub(super) fn has_key(data_type: &DataType) -> bool {
    *data_type == NUMERIC || *data_type == JSONB
}

/// Returns the expression that stands for a value in comparisons, orders and groups.
pub(super) fn key(value: Typed) -> Expr {
    match value.data_type {
        of if of == NUMERIC => numerics::key_of(value.expr),
        of if of == JSONB => json::key_of(value.expr),
        _ => value.expr,
    }
}

/// Returns the expression that stands for a value where DataFusion compares bits: zero has no sign.
pub(super) fn bits(value: Typed) -> Expr {
    let zero = match value.data_type {
        DataType::Float32 => lit(0.0_f32),
        DataType::Float64 => lit(0.0_f64),
        _ => return key(value),
    };
    value.expr + zero
}
