//! Texts that are meant as intervals, and casts between the two.

use super::functions::{as_interval, as_text};
use super::is_interval;
use crate::checked::cast_texts_beside;
use crate::value::is_text;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable};
use gadus_engine::INTERVAL;

/// An expression in which texts beside intervals are cast to intervals. It is for before type coercion.
pub(crate) fn beside(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match cast_texts_beside(&mut expr, schema, is_interval, &INTERVAL) {
        true => Transformed::yes(expr),
        false => Transformed::no(expr),
    }
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
