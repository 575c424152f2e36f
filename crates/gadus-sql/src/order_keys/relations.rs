//! Relations that compare: sorts, joins, groups and windows.

use super::{Key, expressions, functions};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::expr_fn::min;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder, Sort,
    when,
};
use std::sync::Arc;

/// The relation with keys where it compares, without its inputs; none where it does not.
pub(super) fn by_keys(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(sort) => sorted(sort),
        LogicalPlan::Join(join) => joined(join),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            grouped(input, &columns_of(input), &[], plan.schema())
        }
        LogicalPlan::Distinct(Distinct::On(first)) => first_of_each(first),
        LogicalPlan::Aggregate(Aggregate { input, group_expr, aggr_expr, schema, .. }) => {
            grouped(input, group_expr, aggr_expr, schema)
        }
        LogicalPlan::Filter(filter) => beside_rows_around(filter),
        _ => Ok(None),
    }
}

fn sorted(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let mut by = sort.expr.clone();
    let is_changed = expressions::order(&mut by, sort.input.schema(), Key::of)?;
    Ok(is_changed.then(|| LogicalPlan::Sort(Sort { expr: by, ..sort.clone() })))
}

fn joined(join: &Join) -> Result<Option<LogicalPlan>> {
    let (mut on, mut is_changed) = (join.on.clone(), false);
    for (left, right) in &mut on {
        if let Some(key) = Key::of_equality(left, join.left.schema())? {
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
    let columns = columns_of(&filter.input);
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
        Some(by) => expressions::order(by, schema, Key::of)?,
        None => false,
    };
    for value in &mut first.on_expr {
        if let Some(key) = Key::of_equality(value, schema)? {
            *value = key.key(std::mem::take(value));
            is_changed = true;
        }
    }
    Ok(is_changed.then_some(LogicalPlan::Distinct(Distinct::On(first))))
}

/// Groups by keys, where a group's value is the least of its values.
fn grouped(
    input: &Arc<LogicalPlan>,
    groups: &[Expr],
    aggregates: &[Expr],
    schema: &DFSchema,
) -> Result<Option<LogicalPlan>> {
    let of = |value: &Expr| Key::of_equality(value, input.schema());
    let distinct = grouping_set_to_exprlist(groups)?;
    let keys = distinct.iter().map(|value| of(value)).collect::<Result<Vec<_>>>()?;
    if keys.iter().all(Option::is_none) {
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
    let (mut calls, mut least) = (aggregates.to_vec(), vec![None; schema.fields().len()]);
    for (place, (key, value)) in keys.iter().zip(&distinct).enumerate() {
        if let Some(key) = key {
            let added = calls.len() - aggregates.len();
            least[place] = Some((*key, schema.fields().len() + added));
            let name = format!("gadus.least{place}");
            calls.push(min(key.ordered(Expr::clone(value))).alias(name));
        }
    }
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(input.clone(), by, calls)?);
    let columns = columns_of(&grouped);
    named(grouped, schema, |place| match least[place] {
        // A group over all of them has none.
        Some((key, least)) => {
            let value = key.value(columns[least].clone());
            when(columns[place].clone().is_not_null(), value).end()
        }
        None => Ok(columns[place].clone()),
    })
    .map(Some)
}

/// A plan's columns.
pub(super) fn columns_of(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}

/// What gives the values, a column each, under the names of a schema.
pub(super) fn named(
    plan: LogicalPlan,
    schema: &DFSchema,
    value: impl Fn(usize) -> Result<Expr>,
) -> Result<LogicalPlan> {
    let named = schema.iter().enumerate().map(|(place, (qualifier, field))| {
        Ok(value(place)?.alias_qualified(qualifier.cloned(), field.name()))
    });
    LogicalPlanBuilder::from(plan).project(named.collect::<Result<Vec<_>>>()?)?.build()
}
