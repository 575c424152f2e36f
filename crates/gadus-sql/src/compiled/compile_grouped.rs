//! Queries with aggregates or groups, compiled from their parse tree.

use super::Target;
use super::aggregate::{AggregateQuery, Output};
use super::compile::{column, filter, is_comparable};
use super::compile_order::{named_item, order};
use crate::session::folded;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Query,
    Select, SelectItem,
};
use gadus_engine::{Aggregate, TableSchema};

/// Whether a SELECT has groups.
pub(super) fn is_grouped(select: &Select) -> bool {
    let ungrouped = matches!(&select.group_by,
        GroupByExpr::Expressions(expressions, modifiers) if expressions.is_empty() && modifiers.is_empty());
    !ungrouped || select.distinct.is_some()
}

/// SELECT columns and aggregates FROM table WHERE conjunction GROUP BY columns ORDER BY outputs.
pub(super) fn grouped(query: &Query, select: &Select, target: Target) -> Option<AggregateQuery> {
    let (items, schema) = (&select.projection, &target.schema);
    let by = groups(select, schema)?;
    let names = by.as_deref().unwrap_or_default();
    if !names.iter().all(|&column| is_comparable(column, schema)) {
        return None;
    }
    let output = |item: &SelectItem| output(item, names, schema);
    let outputs = items.iter().map(output).collect::<Option<Vec<_>>>()?;
    // What is counted or summed is no column.
    let is_sorted = |item: &usize| {
        let named = expression(&items[*item]).and_then(|(expr, _)| column(expr, schema));
        let is_of_digits = outputs[*item].is_numeric();
        !is_of_digits
            && named.is_none_or(|column| !schema.columns[column].column_type.has_own_order())
    };
    let order = order(query, |expr| named_item(expr, items).filter(is_sorted))?;
    let filter = filter(select.selection.as_ref(), schema)?;
    Some(AggregateQuery { target, by, outputs, filter, order })
}

/// The columns that name a group; inside, none where all rows are one group.
#[allow(clippy::option_option)] // outside, none where only DataFusion knows
fn groups(select: &Select, schema: &TableSchema) -> Option<Option<Vec<usize>>> {
    let GroupByExpr::Expressions(expressions, modifiers) = &select.group_by else { return None };
    if !modifiers.is_empty() {
        return None;
    }
    let items = &select.projection;
    let item_column =
        |item: &SelectItem| expression(item).and_then(|(expr, _)| column(expr, schema));
    let mut by: Vec<usize> = match (&select.distinct, expressions.as_slice()) {
        (None, []) => return Some(None),
        (None, expressions) => {
            let named = |expr: &Expr| {
                // A column of the table goes before an alias.
                let item = || named_item(expr, items).and_then(|item| item_column(&items[item]));
                column(expr, schema).or_else(item)
            };
            expressions.iter().map(named).collect::<Option<_>>()?
        }
        (Some(Distinct::Distinct), []) => items.iter().map(item_column).collect::<Option<_>>()?,
        _ => return None,
    };
    let mut known = Vec::new();
    by.retain(|column| {
        let is_new = !known.contains(column);
        known.push(*column);
        is_new
    });
    Some(Some(by))
}

fn output(item: &SelectItem, by: &[usize], schema: &TableSchema) -> Option<Output> {
    let (expr, alias) = expression(item)?;
    if let Some(column) = column(expr, schema) {
        let heading = alias.unwrap_or_else(|| schema.columns[column].name.clone());
        return Output::name(column, heading, by, schema);
    }
    let Expr::Function(function) = expr else { return None };
    let (name, argument) = plain_call(function)?;
    let column = match argument {
        FunctionArgExpr::Wildcard => None,
        FunctionArgExpr::Expr(expr) => match column(expr, schema) {
            Some(column) => Some(column),
            None => return None,
        },
        FunctionArgExpr::QualifiedWildcard(_) => return None,
        #[allow(unreachable_patterns)] // variants of other versions of the parser
        _ => return None,
    };
    let aggregate = match (name.as_str(), column) {
        ("count", None) => Aggregate::CountRows,
        ("count", Some(column)) => Aggregate::Count(column),
        ("sum" | "avg", Some(column)) => Aggregate::Sum(column),
        ("min" | "max", Some(column)) if schema.columns[column].column_type.has_own_order() => {
            return None;
        }
        ("min", Some(column)) => Aggregate::Min(column),
        ("max", Some(column)) => Aggregate::Max(column),
        _ => return None,
    };
    // The same heading as `session::query` gives.
    let heading = alias.unwrap_or_else(|| expr.to_string());
    Output::aggregate(aggregate, name == "avg", heading, schema)
}

fn expression(item: &SelectItem) -> Option<(&Expr, Option<String>)> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some((expr, None)),
        SelectItem::ExprWithAlias { expr, alias } => Some((expr, Some(folded(alias)))),
        _ => None,
    }
}

/// The lower-case name and the one argument of an unadorned call.
fn plain_call(function: &Function) -> Option<(String, &FunctionArgExpr)> {
    let plain = function.filter.is_none()
        && function.over.is_none()
        && function.null_treatment.is_none()
        && function.within_group.is_empty()
        && matches!(function.parameters, FunctionArguments::None);
    let FunctionArguments::List(list) = &function.args else { return None };
    if !plain || list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
        return None;
    }
    let [FunctionArg::Unnamed(argument)] = list.args.as_slice() else { return None };
    let [part] = function.name.0.as_slice() else { return None };
    Some((folded(part.as_ident()?), argument))
}
