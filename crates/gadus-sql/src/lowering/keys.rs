//! Keys of values that are equal or ordered otherwise than Arrow compares them.

use super::Typed;
use crate::numerics::{self, NUMERIC};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;

/// Returns true for a type whose values are compared by keys.
pub(super) fn has_key(data_type: &DataType) -> bool {
    *data_type == NUMERIC
}

/// Returns the expression that stands for a value in comparisons, orders and groups.
pub(super) fn key(value: Typed) -> Expr {
    match has_key(&value.data_type) {
        true => numerics::key_of(value.expr),
        false => value.expr,
    }
}
