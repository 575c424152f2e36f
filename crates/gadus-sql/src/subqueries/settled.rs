//! Rows that are the same each time they are asked for: those around a subquery are asked for twice.
//!
//! - A limit takes the first rows of an order, of which several may be the first. Here it goes on by all columns, so that
//!   rows which tie are alike.
//! - Others cannot be settled: what is random, windows over rows that tie, sums of fractions in the order in which threads
//!   come to them.

use super::{is_subquery, is_volatile};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprSchemable, JoinType, Limit, LogicalPlan, Projection, Sort,
    SortExpr,
};
use std::sync::Arc;

/// What our own windows number rows by, which goes on by all columns.
pub(super) const PLACE: &str = "gadus.place";

/// Whether rows whose limits are settled are the same the next time, in these columns.
pub(super) fn is_settled(plan: &LogicalPlan, columns: &[Column]) -> Result<bool> {
    for column in columns {
        let place = plan.schema().index_of_column(column)?;
        if plan.schema().field(place).data_type().is_floating() && is_sum(plan, place)? {
            return Ok(false);
        }
    }
    let mut is_settled = !is_volatile(plan)?;
    plan.apply_with_subqueries(|plan| {
        is_settled &= match plan {
            LogicalPlan::Window(window) => window.window_expr.iter().all(is_own),
            LogicalPlan::Distinct(Distinct::On(_)) => false,
            _ => true,
        };
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(is_settled)
}

/// Whether a column may be made of a sum of fractions, which depends on their order.
fn is_sum(plan: &LogicalPlan, place: usize) -> Result<bool> {
    let of_expr = |expr: &Expr, input: &LogicalPlan| {
        for column in expr.column_refs() {
            if is_sum(input, input.schema().index_of_column(column)?)? {
                return Ok(true);
            }
        }
        expr.exists(|expr| Ok(is_subquery(expr)))
    };
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::Values(_) | LogicalPlan::EmptyRelation(_) => {
            Ok(false)
        }
        LogicalPlan::Projection(projection) => of_expr(&projection.expr[place], &projection.input),
        LogicalPlan::Aggregate(Aggregate { input, group_expr, aggr_expr, .. }) => {
            match group_expr.get(place) {
                Some(Expr::GroupingSet(_)) => Ok(true),
                Some(group) => of_expr(group, input),
                None => aggr_expr.get(place - group_expr.len()).map_or(Ok(true), |expr| {
                    Ok(adds_fractions(expr, input)? || of_expr(expr, input)?)
                }),
            }
        }
        LogicalPlan::Join(join) => {
            let left = join.left.schema().fields().len();
            match place.checked_sub(left) {
                _ if matches!(join.join_type, JoinType::RightSemi | JoinType::RightAnti) => {
                    Ok(true)
                }
                Some(place) => is_sum(&join.right, place),
                None => is_sum(&join.left, place),
            }
        }
        LogicalPlan::Union(union) => {
            for input in &union.inputs {
                if is_sum(input, place)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        LogicalPlan::SubqueryAlias(alias) => is_sum(&alias.input, place),
        LogicalPlan::Filter(filter) => is_sum(&filter.input, place),
        LogicalPlan::Sort(sort) => is_sum(&sort.input, place),
        LogicalPlan::Limit(limit) => is_sum(&limit.input, place),
        LogicalPlan::Distinct(Distinct::All(input)) => is_sum(input, place),
        LogicalPlan::Window(window) => {
            let own = window.input.schema().fields().len();
            if place < own { is_sum(&window.input, place) } else { Ok(true) }
        }
        _ => Ok(true),
    }
}

/// Whether an aggregate makes of fractions what depends on their order.
fn adds_fractions(expr: &Expr, input: &LogicalPlan) -> Result<bool> {
    let Expr::AggregateFunction(call) = expr.clone().unalias() else { return Ok(true) };
    if matches!(call.func.name(), "count" | "min" | "max") {
        return Ok(false);
    }
    for argument in &call.params.args {
        if argument.get_type(input.schema())?.is_floating() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_own(window: &Expr) -> bool {
    matches!(window, Expr::Alias(alias) if alias.name.starts_with(PLACE))
}

/// A plan whose limits take the same rows each time.
pub(super) fn settled_limits(plan: LogicalPlan) -> Result<LogicalPlan> {
    let settled = plan.transform_up(|plan| match plan {
        LogicalPlan::Limit(limit) => {
            let input = in_whole_order(Arc::unwrap_or_clone(limit.input))?;
            Ok(Transformed::yes(LogicalPlan::Limit(Limit { input: Arc::new(input), ..limit })))
        }
        plan => Ok(Transformed::no(plan)),
    });
    settled.map(|settled| settled.data)
}

/// Rows in an order of all their columns, behind that which they have.
fn in_whole_order(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Projection(Projection { expr, input, .. }) => {
            let input = in_whole_order(Arc::unwrap_or_clone(input))?;
            Projection::try_new(expr, Arc::new(input)).map(LogicalPlan::Projection)
        }
        LogicalPlan::Sort(Sort { expr, input, fetch }) => {
            let expr = with_all_of(expr, &input);
            Ok(LogicalPlan::Sort(Sort { expr, input, fetch }))
        }
        plan => {
            let expr = with_all_of(Vec::new(), &plan);
            Ok(LogicalPlan::Sort(Sort { expr, input: Arc::new(plan), fetch: None }))
        }
    }
}

/// An order that goes on by all columns.
pub(super) fn with_all_of(mut order: Vec<SortExpr>, plan: &LogicalPlan) -> Vec<SortExpr> {
    for field in plan.schema().iter() {
        let column = Expr::Column(Column::from(field));
        if !order.iter().any(|sort| sort.expr == column) {
            order.push(column.sort(true, true));
        }
    }
    order
}
