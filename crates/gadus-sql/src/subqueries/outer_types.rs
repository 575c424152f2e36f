//! The types of what subqueries name of the row around them.
//!
//! - A subquery notes the type of each column that it names of the row around. Where that is a CASE, or of a UNION, type
//!   coercion gives it another one, and the note stays: an integer was compared with a fraction as with an integer.
//! - Behind type coercion the notes are made anew, and where one was wrong, it is done again.

use super::is_subquery;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use datafusion::optimizer::AnalyzerRule;
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;

/// Notes types anew, and coerces them again. It runs behind type coercion.
#[derive(Debug, Default)]
pub(crate) struct OuterTypes(TypeCoercion);

impl AnalyzerRule for OuterTypes {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        // What is around comes before what is within, and may be around that, too.
        let noted = plan.transform_down_with_subqueries(noted_in_node)?;
        match noted.transformed {
            true => self.0.analyze(noted.data, config),
            false => Ok(noted.data),
        }
    }

    fn name(&self) -> &'static str {
        "outer_types"
    }
}

/// Notes the types of what the subqueries of a node name of its input.
fn noted_in_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut has_any = false;
    plan.apply_expressions(|expr| {
        has_any = has_any || expr.exists(|expr| Ok(is_subquery(expr)))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !has_any {
        return Ok(Transformed::no(plan));
    }
    let around = merge_schema(&plan.inputs());
    plan.map_expressions(|expr| {
        expr.transform_up(|expr| match expr {
            Expr::ScalarSubquery(within) => {
                Ok(noted(&around, within)?.update_data(Expr::ScalarSubquery))
            }
            Expr::Exists(Exists { subquery, negated }) => Ok(noted(&around, subquery)?
                .update_data(|subquery| Expr::Exists(Exists { subquery, negated }))),
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
                Ok(noted(&around, subquery)?.update_data(|subquery| {
                    Expr::InSubquery(InSubquery { expr, subquery, negated })
                }))
            }
            other => Ok(Transformed::no(other)),
        })
    })
}

fn noted(around: &DFSchema, mut subquery: Subquery) -> Result<Transformed<Subquery>> {
    if subquery.outer_ref_columns.is_empty() {
        return Ok(Transformed::no(subquery));
    }
    let note = |expr| noted_in(around, expr);
    let plan = (*subquery.subquery).clone();
    let plan = plan.transform_down_with_subqueries(|plan| plan.map_expressions(note))?;
    if plan.transformed {
        subquery.subquery = plan.data.into();
        let named = subquery.outer_ref_columns.into_iter();
        subquery.outer_ref_columns =
            named.map(|expr| note(expr).map(|noted| noted.data)).collect::<Result<_>>()?;
    }
    Ok(Transformed::new_transformed(subquery, plan.transformed))
}

fn noted_in(around: &DFSchema, expr: Expr) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| {
        let Expr::OuterReferenceColumn(known, column) = &expr else {
            return Ok(Transformed::no(expr));
        };
        match around.qualified_field_from_column(column) {
            Ok((_, field)) if field.data_type() != known.data_type() => {
                let noted = Expr::OuterReferenceColumn(field.clone(), column.clone());
                Ok(Transformed::yes(noted))
            }
            _ => Ok(Transformed::no(expr)),
        }
    })
}
