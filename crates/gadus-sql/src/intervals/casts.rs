//! Texts that are meant as intervals, and casts between the two.

use super::functions::{as_interval, as_text};
use super::is_interval;
use crate::checked::peers;
use crate::value::is_text;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};
use gadus_engine::INTERVAL;

/// An expression in which texts beside intervals are cast to intervals. It is for before type coercion.
pub(crate) fn beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // What has no type yet is somebody else's business.
    let is = |value: &Expr, kind: fn(&DataType) -> bool| {
        value.get_type(schema).is_ok_and(|data_type| kind(&data_type))
    };
    let mut changed = false;
    for values in peers(&mut expr) {
        if !values.iter().any(|value| is(value, is_interval)) {
            continue;
        }
        for value in values.into_iter().filter(|value| is(value, is_text)) {
            *value = cast(std::mem::take(value), INTERVAL);
            changed = true;
        }
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// A cast between texts and intervals, or of durations to these, as a function: Arrow's own reads and writes other forms.
/// It is for behind type coercion, which says what is cast.
pub(crate) fn called(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let or_null = matches!(expr, Expr::TryCast(_));
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let (from, to) = (inner.get_type(schema)?, field.data_type());
    if (is_text(&from) || matches!(from, DataType::Duration(_))) && *to == INTERVAL {
        let value = std::mem::take(&mut **inner);
        return Ok(Transformed::yes(as_interval(value, or_null)));
    }
    if is_interval(&from) && is_text(to) {
        // The cast stays, from one kind of texts to another.
        **inner = as_text(std::mem::take(&mut **inner));
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}
