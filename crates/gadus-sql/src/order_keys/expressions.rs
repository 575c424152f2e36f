//! Expressions that compare.

use super::{Key, relations};
use crate::checked::peers;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{
    AggregateFunction, InSubquery, ScalarFunction, SetComparison, Sort, WindowFunction,
};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, Subquery, when};
use std::sync::Arc;

/// The expression with keys where it compares, without its operands.
pub(super) fn by_keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_changed = match &mut expr {
        Expr::BinaryExpr(_) | Expr::Between(_) | Expr::InList(_) | Expr::Case(_) => {
            // Behind what a CASE compares is what it gives.
            let compared = peers(&mut expr).into_iter().next().unwrap_or_default();
            compare(compared, schema)?
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. })
        | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            compare_with_rows(expr, subquery, schema)?
        }
        Expr::ScalarFunction(call) => match choice(call, schema)? {
            Some(choice) => return Ok(Transformed::yes(choice)),
            None => false,
        },
        Expr::AggregateFunction(call) => aggregate(call, schema)?,
        Expr::WindowFunction(call) => window(call, schema)?,
        _ => false,
    };
    Ok(if is_changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn replace(expr: &mut Expr, by: impl FnOnce(Expr) -> Expr) {
    *expr = by(std::mem::take(expr));
}

/// What the first has that has one.
fn key_of_any<'a>(
    values: impl IntoIterator<Item = &'a Expr>,
    schema: &DFSchema,
) -> Result<Option<Key>> {
    for value in values {
        if let Some(key) = Key::of(value, schema)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn compare(values: Vec<&mut Expr>, schema: &DFSchema) -> Result<bool> {
    let Some(key) = key_of_any(values.iter().map(|value| &**value), schema)? else {
        return Ok(false);
    };
    values.into_iter().for_each(|value| replace(value, |value| key.key(value)));
    Ok(true)
}

fn compare_with_rows(expr: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<bool> {
    let Some(key) = Key::of(expr, schema)? else { return Ok(false) };
    let rows = LogicalPlanBuilder::new_from_arc(subquery.subquery.clone());
    let columns = rows.schema().columns().into_iter().map(|column| key.key(Expr::Column(column)));
    let columns = columns.collect::<Vec<_>>();
    subquery.subquery = Arc::new(rows.project(columns)?.build()?);
    replace(expr, |expr| key.key(expr));
    Ok(true)
}

/// `greatest`, `least` and `nullif` by keys.
fn choice(call: &mut ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let name = call.func.name();
    if !matches!(name, "greatest" | "least" | "nullif") {
        return Ok(None);
    }
    let Some(key) = key_of_any(&call.args, schema)? else { return Ok(None) };
    if name == "nullif"
        && let [value, other] = call.args.as_slice()
    {
        let differs = key.key(value.clone()).eq(key.key(other.clone())).is_not_true();
        return Ok(Some(when(differs, value.clone()).end()?));
    }
    call.args.iter_mut().for_each(|value| replace(value, |value| key.ordered(value)));
    Ok(Some(key.value(Expr::ScalarFunction(call.clone()))))
}

fn aggregate(call: &mut AggregateFunction, schema: &DFSchema) -> Result<bool> {
    let name = call.func.name().to_owned();
    let params = &mut call.params;
    let distinct = params.distinct && distinct_by_keys(&name, &mut params.args, schema)?;
    Ok(order(&mut params.order_by, schema)? || distinct)
}

/// A window in the order of keys.
pub(super) fn windows_by_keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_changed = match &mut expr {
        Expr::WindowFunction(call) => order(&mut call.params.order_by, schema)?,
        _ => false,
    };
    Ok(if is_changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn window(call: &mut WindowFunction, schema: &DFSchema) -> Result<bool> {
    let name = call.fun.name().to_owned();
    let params = &mut call.params;
    let mut is_changed = params.distinct && distinct_by_keys(&name, &mut params.args, schema)?;
    for value in &mut params.partition_by {
        is_changed |= compare(vec![value], schema)?;
    }
    Ok(is_changed)
}

/// Counts keys, where distinct values are counted.
fn distinct_by_keys(name: &str, args: &mut [Expr], schema: &DFSchema) -> Result<bool> {
    if key_of_any(&*args, schema)?.is_none() || relations::EXTREMA.contains(&name) {
        return Ok(false);
    }
    if name != "count" {
        return plan_err!("{name}(DISTINCT …) of intervals is not supported; GROUP BY them first");
    }
    for value in args {
        compare(vec![value], schema)?;
    }
    Ok(true)
}

/// Orders by keys.
pub(super) fn order(by: &mut [Sort], schema: &DFSchema) -> Result<bool> {
    let mut is_changed = false;
    for sort in by {
        is_changed |= compare(vec![&mut sort.expr], schema)?;
    }
    Ok(is_changed)
}
