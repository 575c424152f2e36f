//! Expressions that compare.

use super::Key;
use super::calls::EXTREMA;
use crate::checked::peers;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{
    AggregateFunction, InSubquery, ScalarFunction, SetComparison, Sort, WindowFunction,
};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlanBuilder, Operator, Subquery, when};
use std::sync::Arc;

/// The expression with keys where it compares, without its operands.
pub(super) fn by_keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_changed = match &mut expr {
        Expr::BinaryExpr(_) | Expr::Between(_) | Expr::InList(_) | Expr::Case(_) => {
            // Behind what a CASE compares is what it gives.
            let of = if orders(&expr) { Key::of } else { Key::of_equality };
            let compared = peers(&mut expr).into_iter().next().unwrap_or_default();
            compare(compared, schema, of)?
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. }) => {
            let key = Key::of_equality(expr, schema)?;
            key.map(|key| compare_with_rows(expr, subquery, key)).transpose()?.is_some()
        }
        Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            let key = Key::of(expr, schema)?;
            key.map(|key| compare_with_rows(expr, subquery, key)).transpose()?.is_some()
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

/// Whether an expression asks for more than what is equal.
fn orders(expr: &Expr) -> bool {
    use Operator::{Gt, GtEq, Lt, LtEq};
    match expr {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Lt | LtEq | Gt | GtEq),
        expr => matches!(expr, Expr::Between(_)),
    }
}

/// What an expression's values are compared by, of what is asked about.
pub(super) type KeyOf = fn(&Expr, &DFSchema) -> Result<Option<Key>>;

/// What the first has that has one.
fn key_of_any<'a>(
    values: impl IntoIterator<Item = &'a Expr>,
    schema: &DFSchema,
    of: KeyOf,
) -> Result<Option<Key>> {
    for value in values {
        if let Some(key) = of(value, schema)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn compare(values: Vec<&mut Expr>, schema: &DFSchema, of: KeyOf) -> Result<bool> {
    let Some(key) = key_of_any(values.iter().map(|value| &**value), schema, of)? else {
        return Ok(false);
    };
    values.into_iter().for_each(|value| replace(value, |value| key.key(value)));
    Ok(true)
}

fn compare_with_rows(expr: &mut Expr, subquery: &mut Subquery, key: Key) -> Result<()> {
    let rows = LogicalPlanBuilder::new_from_arc(subquery.subquery.clone());
    let columns = rows.schema().columns().into_iter().map(|column| key.key(Expr::Column(column)));
    let columns = columns.collect::<Vec<_>>();
    subquery.subquery = Arc::new(rows.project(columns)?.build()?);
    replace(expr, |expr| key.key(expr));
    Ok(())
}

/// `greatest`, `least` and `nullif` by keys.
fn choice(call: &mut ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let name = call.func.name();
    if !matches!(name, "greatest" | "least" | "nullif") {
        return Ok(None);
    }
    let of = if name == "nullif" { Key::of_equality } else { Key::of };
    let Some(key) = key_of_any(&call.args, schema, of)? else { return Ok(None) };
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
    Ok(order(&mut params.order_by, schema, Key::of)? || distinct)
}

/// A window in the order of keys. It is for before type coercion, which refuses one in the order of what it cannot add to.
pub(crate) fn windows_by_keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    // What has no type yet is somebody else's business.
    let of: KeyOf = |value, schema| Ok(Key::of(value, schema).ok().flatten());
    let is_changed = match &mut expr {
        Expr::WindowFunction(call) => order(&mut call.params.order_by, schema, of)?,
        _ => false,
    };
    Ok(if is_changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn window(call: &mut WindowFunction, schema: &DFSchema) -> Result<bool> {
    let name = call.fun.name().to_owned();
    let params = &mut call.params;
    let mut is_changed = params.distinct && distinct_by_keys(&name, &mut params.args, schema)?;
    for value in &mut params.partition_by {
        is_changed |= compare(vec![value], schema, Key::of_equality)?;
    }
    Ok(is_changed)
}

/// Counts keys, where distinct values are counted.
fn distinct_by_keys(name: &str, args: &mut [Expr], schema: &DFSchema) -> Result<bool> {
    if key_of_any(&*args, schema, Key::of_equality)?.is_none() || EXTREMA.contains(&name) {
        return Ok(false);
    }
    if name != "count" {
        return plan_err!("{name}(DISTINCT …) of intervals is not supported; GROUP BY them first");
    }
    for value in args {
        compare(vec![value], schema, Key::of_equality)?;
    }
    Ok(true)
}

/// Orders by keys.
pub(super) fn order(by: &mut [Sort], schema: &DFSchema, of: KeyOf) -> Result<bool> {
    let mut is_changed = false;
    for sort in by {
        is_changed |= compare(vec![&mut sort.expr], schema, of)?;
    }
    Ok(is_changed)
}
