//! Universally unique identifiers: type, casts and functions.
//!
//! - They are Arrow's binaries of 16 bytes, and nothing else is.
//! - DataFusion knows neither their texts nor that a text beside one is meant as one. Expressions are rewritten before and
//!   behind type coercion.

mod casts;
mod functions;
mod named;

pub(crate) use casts::{beside, called};
pub(crate) use functions::uuid_functions;
pub(crate) use named::{UuidNamed, UuidOperators};

use crate::error::{from_datafusion, input};
use crate::json::as_json;
use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryBuilder, ListArray};
use arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use functions::as_text;
use gadus_engine::{Reason, Result, UUID, type_with_texts, uuid_of_text, uuid_texts};
use std::sync::Arc;

/// Bytes of an identifier.
const BYTES: i32 = 16;

/// Whether values of a type are identifiers.
fn is_uuid(data_type: &DataType) -> bool {
    *data_type == UUID
}

/// The type of a list's elements.
fn element(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(of) => Some(of.data_type()),
        _ => None,
    }
}

/// Identifiers of texts, or texts of identifiers, also within lists, where the other is wanted; none where neither is.
pub(crate) fn converted(array: &ArrayRef, to: &DataType) -> Result<Option<ArrayRef>> {
    if is_uuid(to) && is_text(array.data_type()) {
        return uuids(array, false).map(Some);
    }
    if type_with_texts(array.data_type()).as_ref() == Some(to) {
        return Ok(Some(gadus_engine::with_texts(array)?));
    }
    if is_uuid(array.data_type()) && is_text(to) {
        return Ok(Some(Arc::new(uuid_texts(array.as_fixed_size_binary()))));
    }
    let (Some(lists), DataType::List(field)) = (array.as_list_opt::<i32>(), to) else {
        return Ok(None);
    };
    let Some(values) = converted(lists.values(), field.data_type())? else { return Ok(None) };
    let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
    Ok(Some(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls)?)))
}

/// A plan whose identifiers and intervals, also deep within, are texts, for formats that have no other; and whose lists,
/// structures and maps are JSON where formats have none of them.
pub(crate) fn with_texts(plan: LogicalPlan, has_nested: bool) -> Result<LogicalPlan> {
    with_columns(plan, |field, value| match type_with_texts(field.data_type()) {
        _ if !has_nested && field.data_type().is_nested() => Some(as_json(value())),
        Some(to) => {
            let function = Arc::new(as_text(to));
            Some(Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![value()])))
        }
        None => None,
    })
}

/// A plan with other columns in the places of some.
pub(crate) fn with_columns(
    plan: LogicalPlan,
    instead: impl Fn(&Field, &dyn Fn() -> Expr) -> Option<Expr>,
) -> Result<LogicalPlan> {
    let columns = plan.schema().columns().into_iter().zip(plan.schema().fields());
    let mut is_other = false;
    let columns = columns.map(|(column, field)| {
        let value = || Expr::from(column.clone());
        match instead(field, &value) {
            Some(other) => {
                is_other = true;
                other.alias(field.name())
            }
            None => value(),
        }
    });
    let columns = columns.collect::<Vec<Expr>>();
    if !is_other {
        return Ok(plan);
    }
    let plan = LogicalPlanBuilder::new(plan).project(columns);
    plan.and_then(LogicalPlanBuilder::build).map_err(from_datafusion)
}

/// The identifiers that texts are; what is none is NULL if it may be.
///
/// # Errors
/// `Input` where a text is none.
fn uuids(texts: &ArrayRef, or_null: bool) -> Result<ArrayRef> {
    let texts = arrow::compute::cast(texts, &DataType::Utf8View)?;
    let mut uuids = FixedSizeBinaryBuilder::with_capacity(texts.len(), BYTES);
    for text in texts.as_string_view() {
        match (text, text.and_then(uuid_of_text)) {
            (_, Some(uuid)) => uuids.append_value(uuid)?,
            (Some(text), None) if !or_null => return Err(no_uuid(text)),
            _ => uuids.append_null(),
        }
    }
    Ok(Arc::new(uuids.finish()))
}

fn no_uuid(text: &str) -> gadus_engine::Error {
    let shown = text.chars().take(60).collect::<String>();
    input(format!("invalid input syntax for type uuid: \"{shown}\"")).because(Reason::InvalidText)
}
