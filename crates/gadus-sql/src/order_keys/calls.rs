//! Aggregates and windows that give one of the values that they are of.
//!
//! - The least and greatest values are those of the values in a form that is ordered by their keys.
//! - What gives a value as it is, as `first_value` does, loses what its field says. Labels are told to be such above it: else
//!   they would be compared as texts.

use super::Key;
use super::relations::{columns_of, named};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{AggregateFunction, Cast};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Window};
use gadus_engine::{ColumnType, Enum};
use std::sync::Arc;

/// Calls that give the least or the greatest value.
pub(super) const EXTREMA: [&str; 2] = ["min", "max"];

/// Calls that give a value as it is.
const PASSING: [&str; 7] =
    ["first_value", "last_value", "nth_value", "any_value", "lag", "lead", "mode"];

/// What is done with a call, and with what it gives.
#[derive(Clone, Copy)]
enum Given {
    Extremum(Key),
    Label(&'static Enum),
}

/// The relation with such calls by keys; none where it has none. It is for before type coercion, so that what they give is
/// known to what stands beside it.
pub(crate) fn given_by_keys(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let (input, calls) = match plan {
        LogicalPlan::Aggregate(Aggregate { input, aggr_expr, .. }) => (input, aggr_expr),
        LogicalPlan::Window(Window { input, window_expr, .. }) => (input, window_expr),
        _ => return Ok(None),
    };
    let schema = plan.schema();
    let first = schema.fields().len() - calls.len();
    let mut given = vec![None; first];
    for (place, call) in calls.iter().enumerate() {
        let is_told = Enum::of_field(schema.field(first + place)).is_some();
        given.push(given_by(call, is_told, input.schema())?);
    }
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut changed = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        changed.push(match given[first + place] {
            Some(Given::Extremum(key)) => {
                ordered(call.clone(), key)?.alias(schema.field(first + place).name())
            }
            _ => call.clone(),
        });
    }
    let calling = match plan {
        LogicalPlan::Aggregate(Aggregate { input, group_expr, .. }) => {
            LogicalPlan::Aggregate(Aggregate::try_new(input.clone(), group_expr.clone(), changed)?)
        }
        _ => LogicalPlan::Window(Window::try_new(changed, input.clone())?),
    };
    let columns = columns_of(&calling);
    let value = |place: usize| {
        let column = columns[place].clone();
        Ok(match given[place] {
            Some(Given::Extremum(key)) => key.value(column),
            Some(Given::Label(of)) => {
                let field = Arc::new(ColumnType::Enum(of).field("", true));
                Expr::Cast(Cast::new_from_field(Box::new(column), field))
            }
            None => column,
        })
    };
    named(calling, schema, value).map(Some)
}

fn given_by(call: &Expr, is_told: bool, schema: &DFSchema) -> Result<Option<Given>> {
    let (name, args) = match call {
        Expr::Alias(alias) => return given_by(&alias.expr, is_told, schema),
        Expr::AggregateFunction(AggregateFunction { func, params }) => (func.name(), &params.args),
        Expr::WindowFunction(call) => (call.fun.name(), &call.params.args),
        _ => return Ok(None),
    };
    let Some(value) = args.first() else { return Ok(None) };
    let is_extremum = EXTREMA.contains(&name);
    if !is_extremum && !PASSING.contains(&name) {
        return Ok(None);
    }
    // What has no type yet is somebody else's business.
    Ok(match Key::of(value, schema).ok().flatten() {
        Some(key) if is_extremum => Some(Given::Extremum(key)),
        Some(Key::Place(of)) if !is_told => Some(Given::Label(of)),
        _ => None,
    })
}

/// The same call of values whose order is that of their keys.
fn ordered(call: Expr, key: Key) -> Result<Expr> {
    let call = call.transform_down(|mut expr| {
        let args = match &mut expr {
            Expr::AggregateFunction(AggregateFunction { params, .. }) => &mut params.args,
            Expr::WindowFunction(call) => &mut call.params.args,
            _ => return Ok(Transformed::no(expr)),
        };
        args.iter_mut().for_each(|value| *value = key.ordered(std::mem::take(value)));
        Ok(Transformed::new(expr, true, TreeNodeRecursion::Jump))
    });
    Ok(call?.data)
}
