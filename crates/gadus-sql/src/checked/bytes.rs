//! Bytes written as text, `'\x0102'`, where bytes are wanted.
//!
//! - PostgreSQL and its drivers write them so; DataFusion would take the four letters and digits for the
//!   bytes. They are made bytes behind type coercion, which says where bytes are wanted.

use crate::byte_strings::read_bytes;
use crate::error::to_datafusion;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Cast;

/// A cast of a literal that is written as bytes, with the bytes in its place.
pub(super) fn written(mut expr: Expr) -> Result<Transformed<Expr>> {
    if let Expr::Cast(Cast { expr: inner, field }) = &mut expr
        && is_bytes(field.data_type())
        && let Expr::Literal(value, _) = &mut **inner
        && let Some(text) = value.try_as_str().flatten()
    {
        let bytes = read_bytes(text).map_err(to_datafusion)?;
        *value = ScalarValue::Binary(Some(bytes));
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}

fn is_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}
