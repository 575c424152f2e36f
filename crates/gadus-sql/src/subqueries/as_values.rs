//! EXISTS and IN as values, `SELECT EXISTS (…), a IN (SELECT …)`, which DataFusion knows as conditions of filters only.
//!
//! - EXISTS is whether a count is more than zero, and counts of subqueries are joined. What stands above the rows, as
//!   what they are projected to, does not matter.
//! - IN is true where there is an equal value; else unknown where there is a NULL among them, or the value is one and
//!   there are any.

use super::membership::{outer_references, within};
use super::{is_subquery, is_volatile};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue, plan_datafusion_err};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, FetchType, Filter, LogicalPlan, LogicalPlanBuilder, Operator,
    SkipType, Subquery, lit, when,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// Makes scalar subqueries of EXISTS and IN where they are no conditions. It runs before type coercion.
#[derive(Debug, Default)]
pub(crate) struct ConditionsAsValues;

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
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let made = match is_filter {
                    true => within_condition(expr, &schema)?,
                    false => as_values(expr, &schema)?,
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
fn within_condition(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::Exists(_) | Expr::InSubquery(_) => Ok(Transformed::no(expr)),
        Expr::Not(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }) => {
            expr.map_children(|part| within_condition(part, schema))
        }
        expr => as_values(expr, schema),
    }
}

fn as_values(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| match &expr {
        Expr::Exists(Exists { subquery, negated }) => {
            let exists = exists(subquery, bare(LogicalPlan::clone(&subquery.subquery)), None)?;
            Ok(Transformed::yes(if *negated { Expr::Not(Box::new(exists)) } else { exists }))
        }
        Expr::InSubquery(InSubquery { expr: value, subquery, negated }) => {
            match is_among(value, subquery, schema)? {
                Some(found) if *negated => Ok(Transformed::yes(Expr::Not(Box::new(found)))),
                Some(found) => Ok(Transformed::yes(found)),
                None => Ok(Transformed::no(expr)),
            }
        }
        _ => Ok(Transformed::no(expr)),
    })
}

/// Whether any of the rows that a subquery is made of meets a condition.
fn exists(subquery: &Subquery, rows: LogicalPlan, condition: Option<Expr>) -> Result<Expr> {
    let mut outer_ref_columns = subquery.outer_ref_columns.clone();
    let rows = match condition {
        Some(condition) => {
            outer_ref_columns.extend(outer_references(&condition)?);
            filtered(rows, condition)?
        }
        None => rows,
    };
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
fn is_among(value: &Expr, among: &Subquery, schema: &DFSchema) -> Result<Option<Expr>> {
    let has_query = value.exists(|expr| Ok(is_subquery(expr)))?;
    if has_query || value.contains_outer() || value.is_volatile() || is_volatile(&among.subquery)? {
        return Ok(None);
    }
    let only = among.subquery.schema().iter().next();
    let only = only.ok_or_else(|| plan_datafusion_err!("a subquery without columns"))?;
    let (rows, own) = match &*among.subquery {
        LogicalPlan::Projection(projection) => {
            (&projection.input, projection.expr[0].clone().unalias())
        }
        _ => (&among.subquery, Expr::Column(Column::from(only))),
    };
    let exists = |condition| exists(among, LogicalPlan::clone(rows), condition);
    let is_equal = exists(Some(own.clone().eq(within(schema, value)?)))?;
    let mut is_unknown = lit(false);
    if only.1.is_nullable() {
        is_unknown = is_unknown.or(exists(Some(own.is_null()))?);
    }
    if value.nullable(schema)? {
        is_unknown = is_unknown.or(value.clone().is_null().and(exists(None)?));
    }
    let unknown = lit(ScalarValue::Boolean(None));
    when(is_equal, lit(true)).when(is_unknown, unknown).otherwise(lit(false)).map(Some)
}
