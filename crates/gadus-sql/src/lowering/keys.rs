//! Keys of values that are equal or ordered otherwise than Arrow compares them.

use super::Typed;
use crate::arrays::{self, is_array, leaf_of};
use crate::checked::least;
use crate::json::{self, JSONB};
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::DataType;
use datafusion::functions_aggregate::expr_fn::first_value;
use datafusion::logical_expr::{Expr, lit};
use gadus_engine::INTERVAL;

/// Returns true for a type whose values may be equal and look different.
pub(super) fn has_key(data_type: &DataType) -> bool {
    let leaf = leaf_of(data_type);
    *leaf == NUMERIC
        || *data_type == JSONB
        || (is_array(data_type) && (leaf.is_floating() || *leaf == INTERVAL))
}

/// Returns true for a type whose values are grouped by keys: of floating-point numbers zero has a sign that is shown.
pub(super) fn is_grouped_by_key(data_type: &DataType) -> bool {
    has_key(data_type) || data_type.is_floating()
}

/// Returns the expression that stands for a value in comparisons, orders and groups.
pub(super) fn key(value: Typed) -> Expr {
    match &value.data_type {
        array if is_array(array) => arrays::key_of(value.expr),
        numeric if *numeric == NUMERIC => numerics::key_of(value.expr),
        document if *document == JSONB => json::key_of(value.expr),
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

/// Returns the aggregate that stands for values that are equal: the one with the fewest digits, or any.
pub(super) fn representative(value: Expr, data_type: &DataType) -> Expr {
    match is_array(data_type) {
        true => first_value(value, Vec::new()),
        false => least().call(vec![value]),
    }
}
