//! Refusal of plans that would compare documents as the texts as which tables keep them.

use crate::error::{input, to_datafusion, unsupported};
use crate::json::is_document;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Distinct, Expr, ExprSchemable, LogicalPlan, Operator};
use gadus_engine::{ColumnType, Reason};

/// Refuses a plan of the planner of texts that orders, groups or compares documents: JSON cannot be compared, and JSONB
/// is not compared as its texts are.
pub(super) fn refuse_compared_documents(plan: &LogicalPlan) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        match node {
            LogicalPlan::Sort(sort) => {
                for key in &sort.expr {
                    refuse_document(&key.expr, &schema)?;
                }
            }
            LogicalPlan::Aggregate(aggregate) => {
                for key in &aggregate.group_expr {
                    refuse_document(key, &schema)?;
                }
            }
            LogicalPlan::Join(join) => {
                for (left, right) in &join.on {
                    refuse_document(left, &schema)?;
                    refuse_document(right, &schema)?;
                }
            }
            LogicalPlan::Distinct(Distinct::All(_)) => {
                for column in schema.columns() {
                    refuse_document(&Expr::Column(column), &schema)?;
                }
            }
            _ => {}
        }
        node.apply_expressions(|expr| refuse_within(expr, &schema))
    })?;
    Ok(())
}

fn refuse_within(expr: &Expr, schema: &DFSchema) -> Result<TreeNodeRecursion> {
    expr.apply(|part| {
        match part {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => {
                refuse_document(left, schema)?;
                refuse_document(right, schema)?;
            }
            Expr::InList(InList { expr, .. }) | Expr::Between(Between { expr, .. }) => {
                refuse_document(expr, schema)?;
            }
            Expr::WindowFunction(window) => {
                let keys = window.params.order_by.iter().map(|key| &key.expr);
                for key in window.params.partition_by.iter().chain(keys) {
                    refuse_document(key, schema)?;
                }
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(TreeNodeRecursion::Continue)
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn refuse_document(expr: &Expr, schema: &DFSchema) -> Result<()> {
    // What has no type yet is no column.
    let Ok((_, field)) = expr.to_field(schema) else { return Ok(()) };
    if !is_document(&field) {
        return Ok(());
    }
    Err(to_datafusion(match ColumnType::from_field(&field) {
        Some(ColumnType::Json) => {
            let message = "could not identify an equality operator for type json";
            input(message).because(Reason::UnknownFunction)
        }
        _ => unsupported("a comparison of jsonb in this query"),
    }))
}
