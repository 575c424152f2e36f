//! EXISTS and IN as values, `SELECT EXISTS (…), a IN (SELECT …)`, which DataFusion knows as conditions of filters only.
//!
//! - EXISTS is whether a count is more than zero, and counts of subqueries are joined. What stands above the rows, as
//!   what they are projected to, does not matter.
//! - IN is true where there is an equal value; else unknown where there is a NULL among them, or the value is one and
//!   there are any.

use super::apart::Around;
use super::compared;
use super::free::{depends, depends_in, free};
use super::{has_subquery, is_subquery, is_volatile};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result, ScalarValue, plan_datafusion_err};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{merge_schema, split_conjunction};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, FetchType, Filter, LogicalPlan, LogicalPlanBuilder, Operator,
    SkipType, Subquery, lit, when,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Makes scalar subqueries of EXISTS and IN where they are no conditions. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct ConditionsAsValues {
    /// Sets the names of its columns apart.
    made: AtomicUsize,
}

impl AnalyzerRule for ConditionsAsValues {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let made = plan.transform_up_with_subqueries(|plan| {
            let is_filter = matches!(plan, LogicalPlan::Filter(_));
            let is_ours = matches!(
                plan,
                LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Sort(_)
            );
            if !is_filter && !is_ours {
                return Ok(Transformed::no(plan));
            }
            let schema = merge_schema(&plan.inputs());
            let around = Around { schema: &schema, made: &self.made };
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let made = match is_filter {
                    true => within_condition(expr, around)?,
                    false => as_values(expr, around)?,
                };
                Ok(made.update_data(|expr| name.restore(expr)))
            })
        })?;
        Ok(made.data)
    }

    fn name(&self) -> &'static str {
        "conditions_as_values"
    }
}

/// The same condition of a filter, in which only what AND, OR and NOT do not lead to is a value.
fn within_condition(expr: Expr, around: Around<'_>) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Exists(ref exists) => match joined(exists)? {
            Some(joined) => Ok(Transformed::yes(Expr::Exists(joined))),
            None => as_values(expr, around),
        },
        Expr::InSubquery(_) => Ok(Transformed::no(expr)),
        Expr::Not(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) => {
            expr.map_children(|part| within_condition(part, around))
        }
        expr => as_values(expr, around),
    }
}

/// The same EXISTS as one of which DataFusion makes a join: rows that do not depend on the row around, and one filter that
/// does. None where it is not like that.
fn joined(exists: &Exists) -> Result<Option<Exists>> {
    let query = &exists.subquery.subquery;
    let plan = bare(LogicalPlan::clone(query));
    if !depends(query)? || is_filter_of_rows(&plan)? {
        return Ok(Some(exists.clone()));
    }
    let plan = flat(plan)?;
    if !is_filter_of_rows(&plan)? {
        return Ok(None);
    }
    let outer_ref_columns = free(&plan)?;
    let spans = exists.subquery.spans.clone();
    let subquery = Subquery { subquery: Arc::new(plan), outer_ref_columns, spans };
    Ok(Some(Exists { subquery, negated: exists.negated }))
}

/// Whether a plan is one filter that depends on the row around, over rows that do not.
fn is_filter_of_rows(plan: &LogicalPlan) -> Result<bool> {
    let LogicalPlan::Filter(Filter { predicate, input, .. }) = plan else { return Ok(false) };
    for part in split_conjunction(predicate) {
        if has_subquery(part)? && depends_in(part, input.schema())? {
            return Ok(false);
        }
    }
    Ok(!predicate.column_refs().is_empty() && !depends(input)?)
}

/// A filter below names and projections, as they do not decide which rows there are, and one with the filter it meets.
fn flat(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Filter(filter) = &plan else { return Ok(plan) };
    let (values, below) = match &*filter.input {
        LogicalPlan::Filter(inner) => {
            let both = inner.predicate.clone().and(filter.predicate.clone());
            return flat(LogicalPlan::Filter(Filter::try_new(both, inner.input.clone())?));
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let below = alias.input.schema().iter();
            (below.map(|field| Expr::Column(field.into())).collect::<Vec<_>>(), &alias.input)
        }
        LogicalPlan::Projection(projection) => {
            let values = projection.expr.iter().cloned().map(Expr::unalias);
            (values.collect(), &projection.input)
        }
        _ => return Ok(plan),
    };
    if values.iter().any(Expr::is_volatile) {
        return Ok(plan);
    }
    let schema = filter.input.schema();
    let mut is_within = has_subquery(&filter.predicate)?;
    let predicate = filter.predicate.clone().transform_up(|expr| {
        let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
        let value = values[schema.index_of_column(column)?].clone();
        is_within |= has_subquery(&value)?;
        Ok(Transformed::yes(value))
    })?;
    match is_within {
        true => Ok(plan),
        false => flat(LogicalPlan::Filter(Filter::try_new(predicate.data, below.clone())?)),
    }
}

fn as_values(expr: Expr, around: Around<'_>) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| match &expr {
        Expr::Exists(Exists { subquery, negated }) => {
            let exists = exists(subquery, bare(LogicalPlan::clone(&subquery.subquery)), None)?;
            Ok(Transformed::yes(if *negated { Expr::Not(Box::new(exists)) } else { exists }))
        }
        Expr::InSubquery(InSubquery { expr: value, subquery, negated }) => {
            match is_among(value, subquery, around)? {
                Some(found) if *negated => Ok(Transformed::yes(Expr::Not(Box::new(found)))),
                Some(found) => Ok(Transformed::yes(found)),
                None => Ok(Transformed::no(expr)),
            }
        }
        Expr::SetComparison(compared) => match compared::as_value(compared, around)? {
            Some(value) => Ok(Transformed::yes(value)),
            None => Ok(Transformed::no(expr)),
        },
        _ => Ok(Transformed::no(expr)),
    })
}

/// Whether any of the rows that a subquery is made of meets a condition.
pub(super) fn exists(
    subquery: &Subquery,
    rows: LogicalPlan,
    condition: Option<Expr>,
) -> Result<Expr> {
    let rows = match condition {
        Some(condition) => filtered(rows, condition)?,
        None => rows,
    };
    let outer_ref_columns = free(&rows)?;
    let mut rows = LogicalPlanBuilder::from(rows);
    if outer_ref_columns.is_empty() {
        rows = rows.limit(0, Some(1))?;
    }
    let counted = rows.aggregate(Vec::<Expr>::new(), [count(lit(1_i64)).alias("gadus.count")])?;
    let number = Expr::Column(Column::new_unqualified("gadus.count"));
    let plan = counted.project([number.gt(lit(0_i64)).alias("gadus.exists")])?.build()?;
    let spans = subquery.spans.clone();
    Ok(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans }))
}

/// Rows that meet one more condition: beside those that they meet already, so that all that depends on the row around
/// is in one place.
fn filtered(rows: LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
    let (rows, condition) = match rows {
        LogicalPlan::Filter(Filter { predicate, input, .. }) => {
            (Arc::unwrap_or_clone(input), predicate.and(condition))
        }
        rows => (rows, condition),
    };
    LogicalPlanBuilder::from(rows).filter(condition)?.build()
}

/// A plan that gives a row where another one does, without what does not decide that.
fn bare(plan: LogicalPlan) -> LogicalPlan {
    let keeps_any = |limit: &datafusion::logical_expr::Limit| {
        let skips = matches!(limit.get_skip_type(), Ok(SkipType::Literal(0)));
        skips && matches!(limit.get_fetch_type(), Ok(FetchType::Literal(fetch)) if fetch != Some(0))
    };
    match plan {
        LogicalPlan::Projection(projection) => bare(Arc::unwrap_or_clone(projection.input)),
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => bare(Arc::unwrap_or_clone(sort.input)),
        LogicalPlan::Limit(limit) if keeps_any(&limit) => bare(Arc::unwrap_or_clone(limit.input)),
        plan => plan,
    }
}

/// Whether a value is one of those of a subquery; none where it is made anew each time.
fn is_among(value: &Expr, among: &Subquery, around: Around<'_>) -> Result<Option<Expr>> {
    let has_query = value.exists(|expr| Ok(is_subquery(expr)))?;
    if has_query || value.contains_outer() || value.is_volatile() || is_volatile(&among.subquery)? {
        return Ok(None);
    }
    let apart = around.named_apart(among)?;
    let among = apart.as_ref().unwrap_or(among);
    let only = among.subquery.schema().iter().next();
    let only = only.ok_or_else(|| plan_datafusion_err!("a subquery without columns"))?;
    let (rows, own) = match &*among.subquery {
        // Rows that depend on nothing are joined by a column, which a value is above what makes it alone.
        LogicalPlan::Projection(projection)
            if apart.is_none()
                && (depends(&among.subquery)?
                    || matches!(projection.expr[0].clone().unalias(), Expr::Column(_))) =>
        {
            (&projection.input, projection.expr[0].clone().unalias())
        }
        _ => (&among.subquery, Expr::Column(Column::from(only))),
    };
    let exists = |condition| exists(among, LogicalPlan::clone(rows), condition);
    let is_equal = exists(Some(own.clone().eq(around.seen(value)?)))?;
    let mut is_unknown = lit(false);
    if only.1.is_nullable() {
        is_unknown = is_unknown.or(exists(Some(own.is_null()))?);
    }
    if value.nullable(around.schema)? {
        is_unknown = is_unknown.or(value.clone().is_null().and(exists(None)?));
    }
    let unknown = lit(ScalarValue::Boolean(None));
    when(is_equal, lit(true)).when(is_unknown, unknown).otherwise(lit(false)).map(Some)
}
