//! Planning of large statements in tasks of their own, which their statements do not wait for once they are cancelled.
//!
//! - Some steps of planning cannot be cancelled, such as those that write out the names of all columns of a select
//!   list: with thousands of long expressions, or a literal of many megabytes, they take seconds. A cancelled
//!   statement fails at once, and its planning ends with the step.
//! - A hand-over costs some microseconds and a stack, so small statements are planned where they are.

use super::documents::refuse_compared_documents;
use super::numerics::refuse_numerics;
use super::task::in_task;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::sqlparser::ast::{
    Expr as SyntaxExpr, Statement, Value as SyntaxValue, visit_expressions,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Nested expressions of a statement that is planned on its own thread. An estimate: some milliseconds of planning.
const EXPRESSIONS_MAX: usize = 500;

/// Bytes of a literal that weigh as much as an expression: each rule copies, hashes and prints them.
const LITERAL_BYTES: usize = 2 << 10;

/// Makes the logical plan of a statement.
pub(crate) fn logical_plan(
    state: SessionState,
    statement: Statement,
) -> BoxFuture<'static, Result<LogicalPlan>> {
    let is_large = is_large_statement(&statement);
    let statement = PlannerStatement::Statement(Box::new(statement));
    let planning = async move {
        let plan = state.statement_to_plan(statement).await?;
        refuse_numerics(&plan)?;
        refuse_compared_documents(&plan)?;
        Ok(plan)
    };
    apart(is_large, planning.boxed())
}

/// Makes the physical plan of a logical one.
pub(crate) fn physical_plan(
    state: SessionState,
    plan: &LogicalPlan,
) -> BoxFuture<'static, Result<Arc<dyn ExecutionPlan>>> {
    let (is_large, plan) = (is_large_plan(plan), plan.clone());
    apart(is_large, async move { state.create_physical_plan(&plan).await }.boxed())
}

/// Plans something, in a task of its own if it is large. Futures are boxed: DataFusion's are too large to be moved
/// about on the stack.
pub(crate) fn apart<T: Send + 'static>(
    is_large: bool,
    planning: BoxFuture<'static, Result<T>>,
) -> BoxFuture<'static, Result<T>> {
    if is_large { in_task(planning) } else { planning }
}

/// True if a statement has many expressions, or large literals.
pub(crate) fn is_large_statement(statement: &Statement) -> bool {
    let mut weight = 0;
    let visited = visit_expressions(statement, |expression| {
        weight += match expression {
            SyntaxExpr::Value(value) => weight_of(literal_bytes(&value.value)),
            _ => 1,
        };
        if weight < EXPRESSIONS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.is_break()
}

fn is_large_plan(plan: &LogicalPlan) -> bool {
    let mut weight = 0;
    let visited = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                weight += match expr {
                    Expr::Literal(value, _) => weight_of(value.size()),
                    _ => 1,
                };
                let is_enough = weight >= EXPRESSIONS_MAX;
                Ok(if is_enough { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    });
    visited.is_ok_and(|recursion| recursion == TreeNodeRecursion::Stop)
}

/// The weight of a literal beside other expressions.
fn weight_of(bytes: usize) -> usize {
    1 + bytes / LITERAL_BYTES
}

fn literal_bytes(value: &SyntaxValue) -> usize {
    match value {
        SyntaxValue::SingleQuotedString(text)
        | SyntaxValue::EscapedStringLiteral(text)
        | SyntaxValue::UnicodeStringLiteral(text)
        | SyntaxValue::HexStringLiteral(text)
        | SyntaxValue::Number(text, _) => text.len(),
        SyntaxValue::DollarQuotedString(text) => text.value.len(),
        _ => 0,
    }
}
