//! `IN (SELECT …)`, and comparisons with all or any rows, where it is no plain condition of a filter, or depends on the row around.
//!
//! - DataFusion makes semi joins of it, and anti joins that know NULLs; of those that depend on rows, and of those
//!   under OR, it refuses some and answers others wrongly. An analyzer rule says them by EXISTS.
//! - A filter does not tell false from unknown. There, IN holds where there is an equal value, and NOT IN where
//!   there is none, no NULL among the values, and the value itself is no NULL or there are no values at all.
//! - NOT is moved inwards to get there, by De Morgan's laws, which hold for three values, too.

use super::apart::Around;
use super::compared;
use super::free::{depends, free};
use super::is_volatile;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result, plan_datafusion_err};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Subquery,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Says IN by EXISTS in filters. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct Memberships {
    /// Sets the names of its columns apart.
    made: AtomicUsize,
}

impl AnalyzerRule for Memberships {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let said = plan.transform_up_with_subqueries(|plan| {
            let LogicalPlan::Filter(Filter { predicate, input, .. }) = &plan else {
                return Ok(Transformed::no(plan));
            };
            if !has_any(predicate)? {
                return Ok(Transformed::no(plan));
            }
            let around = Around { schema: input.schema(), made: &self.made };
            let predicate = said(predicate.clone(), false, true, around)?;
            Filter::try_new(predicate, input.clone())
                .map(|filter| Transformed::yes(LogicalPlan::Filter(filter)))
        })?;
        Ok(said.data)
    }

    fn name(&self) -> &'static str {
        "memberships"
    }
}

/// An expression, or its negation, for which only rows for which it is true matter. A conjunct is true of all that the
/// filter lets pass.
fn said(expr: Expr, is_negated: bool, is_conjunct: bool, around: Around<'_>) -> Result<Expr> {
    if !has_any(&expr)? {
        return Ok(if is_negated { Expr::Not(Box::new(expr)) } else { expr });
    }
    match expr {
        Expr::Not(inner) => said(*inner, !is_negated, is_conjunct, around),
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if matches!(op, Operator::And | Operator::Or) =>
        {
            let is_and = (op == Operator::And) != is_negated;
            let is_conjunct = is_conjunct && is_and;
            let left = said(*left, is_negated, is_conjunct, around)?;
            let right = said(*right, is_negated, is_conjunct, around)?;
            Ok(if is_and { left.and(right) } else { left.or(right) })
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let subquery = around.named_apart(&subquery)?.unwrap_or(subquery);
            let negated = negated != is_negated;
            match by_exists(&expr, &subquery, negated, is_conjunct, around)? {
                Some(said) => Ok(said),
                None => Ok(Expr::InSubquery(InSubquery { expr, subquery, negated })),
            }
        }
        Expr::SetComparison(compared) => {
            match compared::in_filter(&compared, is_negated, around)? {
                Some(said) => Ok(said),
                None if is_negated => Ok(Expr::Not(Box::new(Expr::SetComparison(compared)))),
                None => Ok(Expr::SetComparison(compared)),
            }
        }
        other if is_negated => Ok(Expr::Not(Box::new(other))),
        other => Ok(other),
    }
}

/// The same by EXISTS; none where DataFusion makes a good join of it, or it cannot be said.
fn by_exists(
    value: &Expr,
    among: &Subquery,
    negated: bool,
    is_conjunct: bool,
    around: Around<'_>,
) -> Result<Option<Expr>> {
    let depends = depends(&among.subquery)?;
    // A join that knows NULLs has a key on both sides, which a value that is none of the row, or turns out to be none,
    // does not give it.
    let is_key = !negated || matches!(value, Expr::Column(_));
    if is_conjunct && !depends && is_key || value.contains_outer() || value.is_volatile() {
        return Ok(None);
    }
    if has_any(value)? || is_volatile(&among.subquery)? {
        return Ok(None);
    }
    let only = among.subquery.schema().iter().next();
    let only = only.ok_or_else(|| plan_datafusion_err!("a subquery without columns"))?;
    let own = Expr::Column(Column::from(only));
    let seen = around.seen(value)?;
    let equal = exists_where(among, Some(own.clone().eq(seen)), negated)?;
    if !negated {
        return Ok(Some(equal));
    }
    let mut said = equal;
    if only.1.is_nullable() {
        said = said.and(exists_where(among, Some(own.is_null()), true)?);
    }
    if value.nullable(around.schema)? {
        said = said.and(value.clone().is_not_null().or(exists_where(among, None, true)?));
    }
    Ok(Some(said))
}

/// Whether there are rows that meet a condition, or none.
pub(super) fn exists_where(
    among: &Subquery,
    condition: Option<Expr>,
    negated: bool,
) -> Result<Expr> {
    let mut plan = LogicalPlanBuilder::from(among.subquery.clone());
    if let Some(condition) = condition {
        plan = plan.filter(condition)?;
    }
    let plan = Arc::new(plan.build()?);
    let outer_ref_columns = free(&plan)?;
    let spans = among.spans.clone();
    let subquery = Subquery { subquery: plan, outer_ref_columns, spans };
    Ok(Expr::Exists(Exists { subquery, negated }))
}

fn has_any(expr: &Expr) -> Result<bool> {
    expr.exists(|expr| Ok(matches!(expr, Expr::InSubquery(_) | Expr::SetComparison(_))))
}
