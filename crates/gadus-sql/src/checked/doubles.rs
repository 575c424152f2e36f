//! Decimals beside doubles become doubles, as in PostgreSQL.
//!
//! - Where one of two values that are compared is a double and the other a decimal, as `1.5` is,
//!   DataFusion makes decimals of both: it then compares digits that the double does not have, and fails at
//!   NaN and at large values. They are made doubles before.

use super::rewrite::peers;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

/// An expression in which decimals beside doubles are doubles. It is for before type coercion.
pub(super) fn beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut changed = false;
    for values in peers(&mut expr) {
        changed |= become_doubles(values, schema)?;
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Makes doubles of decimals where there is a double among values that come to one type; returns whether
/// it did.
fn become_doubles(mut values: Vec<&mut Expr>, schema: &DFSchema) -> Result<bool> {
    // What has no type yet is somebody else's business.
    let types = values.iter().map(|value| value.get_type(schema)).collect::<Result<Vec<_>>>();
    let types = types.unwrap_or_default();
    if !types.iter().any(|one| matches!(one, DataType::Float32 | DataType::Float64)) {
        return Ok(false);
    }
    let mut changed = false;
    for (value, data_type) in values.iter_mut().zip(types) {
        if matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..)) {
            **value = as_double(std::mem::take(*value))?;
            changed = true;
        }
    }
    Ok(changed)
}

fn as_double(expr: Expr) -> Result<Expr> {
    Ok(match expr {
        Expr::Literal(value, metadata) => {
            Expr::Literal(value.cast_to(&DataType::Float64)?, metadata)
        }
        expr => cast(expr, DataType::Float64),
    })
}
