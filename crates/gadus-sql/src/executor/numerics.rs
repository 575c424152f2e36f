//! Refusal of plans that would take numerics for the texts as which tables keep them.

use crate::error::{to_datafusion, unsupported};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, ExprSchema};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{InSubquery, SetComparison};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};
use gadus_engine::is_numeric_text;

/// Refuses a plan of the planner of texts that computes with columns of numerics.
///
/// Such columns may pass through, and be compared with NULL.
pub(super) fn refuse_numerics(plan: &LogicalPlan) -> Result<()> {
    if !reads_numerics(plan)? {
        return Ok(());
    }
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let passes = matches!(node, LogicalPlan::Projection(_));
        node.apply_expressions(|expr| match passes && is_column(expr) {
            true => Ok(TreeNodeRecursion::Continue),
            false => {
                refuse_numerics_within(expr, &schema)?;
                Ok(TreeNodeRecursion::Continue)
            }
        })?;
        match node {
            LogicalPlan::Distinct(_) => refuse_columns(&schema),
            LogicalPlan::Union(_) | LogicalPlan::RecursiveQuery(_) => refuse_columns(node.schema()),
            _ => Ok(TreeNodeRecursion::Continue),
        }
    })?;
    Ok(())
}

fn reads_numerics(plan: &LogicalPlan) -> Result<bool> {
    let mut reads = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            reads |= scan.source.schema().fields().iter().any(|field| is_numeric_text(field));
        }
        Ok(if reads { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(reads)
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_column(&alias.expr),
        Expr::Column(_) => true,
        _ => false,
    }
}

/// Refuses an expression that computes with columns of numerics.
pub(crate) fn refuse_numerics_within(expr: &Expr, schema: &DFSchema) -> Result<()> {
    expr.apply(|part| match part {
        Expr::IsNull(tested) | Expr::IsNotNull(tested) if is_column(tested) => {
            Ok(TreeNodeRecursion::Jump)
        }
        Expr::Column(column) if is_numeric(column, schema) => refused(&column.name),
        Expr::OuterReferenceColumn(field, column) if is_numeric_text(field) => {
            refused(&column.name)
        }
        // What a query gives is compared or computed with.
        Expr::ScalarSubquery(query) => refuse_columns(query.subquery.schema()),
        Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => {
            refuse_columns(subquery.subquery.schema())
        }
        _ => Ok(TreeNodeRecursion::Continue),
    })?;
    Ok(())
}

fn is_numeric(column: &Column, schema: &DFSchema) -> bool {
    schema.field_from_column(column).is_ok_and(|field| is_numeric_text(field))
}

fn refuse_columns(schema: &DFSchema) -> Result<TreeNodeRecursion> {
    match schema.fields().iter().find(|field| is_numeric_text(field)) {
        Some(field) => refused(field.name()),
        None => Ok(TreeNodeRecursion::Continue),
    }
}

fn refused(name: &str) -> Result<TreeNodeRecursion> {
    let what = format!("this use of column \"{name}\" of type NUMERIC without a scale");
    Err(to_datafusion(unsupported(&what)))
}
