//! Relations that compare: sorts, joins, groups and windows.

use super::{Key, expressions, functions};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::expr_fn::min;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Sort,
    Window, when,
};
use std::sync::Arc;

/// Aggregates that give the least or the greatest value.
pub(super) const EXTREMA: [&str; 2] = ["min", "max"];

/// The relation with keys where it compares, without its inputs; none where it does not.
pub(super) fn by_keys(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(sort) => sorted(sort),
        LogicalPlan::Join(join) => joined(join),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let columns = input.schema().columns().into_iter().map(Expr::Column);
            grouped(input, &columns.collect::<Vec<_>>(), &[], plan.schema())
        }
        LogicalPlan::Distinct(Distinct::On(first)) => first_of_each(first),
        LogicalPlan::Aggregate(Aggregate { input, group_expr, aggr_expr, schema, .. }) => {
            grouped(input, group_expr, aggr_expr, schema)
        }
        LogicalPlan::Window(window) => over_windows(window),
        LogicalPlan::Filter(filter) => beside_rows_around(filter),
        _ => Ok(None),
    }
}

fn sorted(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let mut by = sort.expr.clone();
    let is_changed = expressions::order(&mut by, sort.input.schema())?;
    Ok(is_changed.then(|| LogicalPlan::Sort(Sort { expr: by, ..sort.clone() })))
}

fn joined(join: &Join) -> Result<Option<LogicalPlan>> {
    let (mut on, mut is_changed) = (join.on.clone(), false);
    for (left, right) in &mut on {
        if let Some(key) = Key::of(left, join.left.schema())? {
            *left = key.key(std::mem::take(left));
            *right = key.key(std::mem::take(right));
            is_changed = true;
        }
    }
    Ok(is_changed.then(|| LogicalPlan::Join(Join { on, ..join.clone() })))
}

/// A filter that depends on the row around, with the keys of its own rows as columns: DataFusion joins what is equal where a
/// column is, not a call.
fn beside_rows_around(filter: &Filter) -> Result<Option<LogicalPlan>> {
    let mut keys = Vec::new();
    if !filter.predicate.contains_outer() {
        return Ok(None);
    }
    let predicate = filter.predicate.clone().transform_down(|expr| {
        if !functions::is_key(&expr) || expr.contains_outer() {
            return Ok(Transformed::no(expr));
        }
        let place = keys.iter().position(|key| *key == expr).unwrap_or_else(|| {
            keys.push(expr);
            keys.len() - 1
        });
        let key = Expr::Column(Column::new_unqualified(name_of_key(place)));
        Ok(Transformed::new(key, true, TreeNodeRecursion::Jump))
    })?;
    if keys.is_empty() {
        return Ok(None);
    }
    let columns = filter.input.schema().columns().into_iter().map(Expr::Column);
    let columns = columns.collect::<Vec<_>>();
    let keys = keys.into_iter().enumerate().map(|(place, key)| key.alias(name_of_key(place)));
    let with_keys = columns.iter().cloned().chain(keys).collect::<Vec<_>>();
    let rows = LogicalPlanBuilder::new_from_arc(filter.input.clone()).project(with_keys)?;
    rows.filter(predicate.data)?.project(columns)?.build().map(Some)
}

fn name_of_key(place: usize) -> String {
    format!("gadus.key{place}")
}

fn first_of_each(first: &DistinctOn) -> Result<Option<LogicalPlan>> {
    let schema = first.input.schema();
    let mut first = first.clone();
    let mut is_changed = match &mut first.sort_expr {
        Some(by) => expressions::order(by, schema)?,
        None => false,
    };
    for value in &mut first.on_expr {
        if let Some(key) = Key::of(value, schema)? {
            *value = key.key(std::mem::take(value));
            is_changed = true;
        }
    }
    Ok(is_changed.then_some(LogicalPlan::Distinct(Distinct::On(first))))
}

/// Groups by keys, where a group's value is the least of its values; and what is least and greatest of each group.
fn grouped(
    input: &Arc<LogicalPlan>,
    groups: &[Expr],
    aggregates: &[Expr],
    schema: &DFSchema,
) -> Result<Option<LogicalPlan>> {
    let of = |value: &Expr| Key::of(value, input.schema());
    let distinct = grouping_set_to_exprlist(groups)?;
    let keys = distinct.iter().map(|value| of(value)).collect::<Result<Vec<_>>>()?;
    let extrema = aggregates.iter().map(|call| key_of_extremum(call, input.schema()));
    let extrema = extrema.collect::<Result<Vec<_>>>()?;
    if keys.iter().chain(&extrema).all(Option::is_none) {
        return Ok(None);
    }
    let by_key = |value: Expr| match of(&value)? {
        Some(key) => Ok(Transformed::yes(key.key(value))),
        None => Ok(Transformed::no(value)),
    };
    let by = groups.iter().cloned().map(|value| match value {
        sets @ Expr::GroupingSet(_) => sets.map_children(by_key),
        value => by_key(value),
    });
    let by = by.map(|by| by.map(|by| by.data)).collect::<Result<Vec<_>>>()?;
    let first_aggregate = schema.fields().len() - aggregates.len();
    let mut calls = Vec::new();
    for (place, (call, key)) in aggregates.iter().zip(&extrema).enumerate() {
        let name = schema.field(first_aggregate + place).name();
        calls.push(match key {
            Some(key) => ordered_extremum(call.clone(), *key)?.alias(name),
            None => call.clone(),
        });
    }
    let mut least = vec![None; keys.len()];
    for (place, (key, value)) in keys.iter().zip(&distinct).enumerate() {
        if let Some(key) = key {
            least[place] = Some(first_aggregate + calls.len());
            let name = format!("gadus.least{place}");
            calls.push(min(key.ordered(Expr::clone(value))).alias(name));
        }
    }
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(input.clone(), by, calls)?);
    let column = |place: usize| Expr::Column(Column::from(grouped.schema().qualified_field(place)));
    let value = |place: usize| -> Result<Expr> {
        if let Some((key, least)) =
            keys.get(place).copied().flatten().zip(least.get(place).copied().flatten())
        {
            // A group over all of them has none.
            return when(column(place).is_not_null(), key.value(column(least))).end();
        }
        let extremum = place.checked_sub(first_aggregate).and_then(|place| extrema[place]);
        Ok(extremum.map_or_else(|| column(place), |key| key.value(column(place))))
    };
    named(grouped.clone(), schema, value).map(Some)
}

fn over_windows(window: &Window) -> Result<Option<LogicalPlan>> {
    let schema = window.input.schema();
    let extrema = window.window_expr.iter().map(|call| key_of_extremum(call, schema));
    let extrema = extrema.collect::<Result<Vec<_>>>()?;
    if extrema.iter().all(Option::is_none) {
        return Ok(None);
    }
    let first = schema.fields().len();
    let mut calls = Vec::new();
    for (place, (call, key)) in window.window_expr.iter().zip(&extrema).enumerate() {
        calls.push(match key {
            Some(key) => {
                let name = window.schema.field(first + place).name();
                ordered_extremum(call.clone(), *key)?.alias(name)
            }
            None => call.clone(),
        });
    }
    let windows = LogicalPlan::Window(Window::try_new(calls, window.input.clone())?);
    let column = |place: usize| Expr::Column(Column::from(windows.schema().qualified_field(place)));
    let value = |place: usize| {
        let extremum = place.checked_sub(first).and_then(|place| extrema[place]);
        Ok(extremum.map_or_else(|| column(place), |key| key.value(column(place))))
    };
    named(windows.clone(), &window.schema, value).map(Some)
}

/// What gives the values, a column each, under the names of a schema.
fn named(
    plan: LogicalPlan,
    schema: &DFSchema,
    value: impl Fn(usize) -> Result<Expr>,
) -> Result<LogicalPlan> {
    let named = schema.iter().enumerate().map(|(place, (qualifier, field))| {
        Ok(value(place)?.alias_qualified(qualifier.cloned(), field.name()))
    });
    LogicalPlanBuilder::from(plan).project(named.collect::<Result<Vec<_>>>()?)?.build()
}

/// What the least or greatest values are compared by, if it is something else than they are.
fn key_of_extremum(call: &Expr, schema: &DFSchema) -> Result<Option<Key>> {
    let (name, args) = match call {
        Expr::Alias(alias) => return key_of_extremum(&alias.expr, schema),
        Expr::AggregateFunction(AggregateFunction { func, params }) => (func.name(), &params.args),
        Expr::WindowFunction(call) => (call.fun.name(), &call.params.args),
        _ => return Ok(None),
    };
    match args.as_slice() {
        [value] if EXTREMA.contains(&name) => Key::of(value, schema),
        _ => Ok(None),
    }
}

/// The same of values whose order is that of their keys.
fn ordered_extremum(call: Expr, key: Key) -> Result<Expr> {
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
