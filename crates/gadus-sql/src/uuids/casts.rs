//! Texts that are meant as identifiers, and casts between the two.

use super::functions::{as_text, as_uuid};
use super::{element, is_uuid};
use crate::checked::cast_texts_beside;
use crate::lists::Quantified;
use crate::value::is_text;
use arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF, cast};
use gadus_engine::UUID;
use std::sync::Arc;

/// An expression in which texts beside identifiers are cast to identifiers: type coercion refuses them.
pub(crate) fn beside(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // What has no type yet is somebody else's business.
    let is = |value: &Expr, kind: fn(&DataType) -> bool| {
        value.get_type(schema).is_ok_and(|data_type| kind(&data_type))
    };
    let mut changed = false;
    if let Expr::ScalarFunction(ScalarFunction { func, args }) = &mut expr
        && Quantified::is(func)
        && let [value, list] = args.as_mut_slice()
    {
        if is(value, is_uuid) && is(list, |list| element(list).is_some_and(is_text)) {
            *list = cast(std::mem::take(list), list_of_uuids());
            changed = true;
        } else if is(value, is_text) && is(list, |list| element(list).is_some_and(is_uuid)) {
            *value = cast(std::mem::take(value), UUID);
            changed = true;
        }
    }
    changed |= cast_texts_beside(&mut expr, schema, is_uuid, &UUID);
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn list_of_uuids() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(UUID, true)))
}

/// A cast between texts and identifiers as a function. It is for behind type coercion, which says what is cast.
pub(crate) fn called(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let or_null = matches!(expr, Expr::TryCast(_));
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let from = inner.get_type(schema)?;
    let call = |function: ScalarUDF, value: &mut Expr| {
        let function = Arc::new(function);
        Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![std::mem::take(value)]))
    };
    let to = field.data_type();
    let are = |from: &DataType, to: &DataType| is_text(from) && is_uuid(to);
    let elements = element(&from).zip(element(to));
    if are(&from, to) || elements.is_some_and(|(from, to)| are(from, to)) {
        return Ok(Transformed::yes(call(as_uuid(to.clone(), or_null), inner)));
    }
    if is_uuid(&from) && is_text(to) {
        // The cast stays, from one kind of texts to another.
        **inner = call(as_text(DataType::Utf8View), inner);
        return Ok(Transformed::yes(expr));
    }
    Ok(Transformed::no(expr))
}
