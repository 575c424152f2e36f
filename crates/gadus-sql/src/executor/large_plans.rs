//! Planning of large statements in tasks of their own, which their statements do not wait for once they are cancelled.
//!
//! - Some steps of planning cannot be cancelled, such as those that write out the names of all columns of a select
//!   list: with thousands of long expressions they take seconds. A cancelled statement fails at once, and its planning
//!   ends with the step.
//! - A hand-over costs some microseconds and a stack, so small statements are planned where they are.

use super::task::in_task;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::sqlparser::ast::{Statement, visit_expressions};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Nested expressions of a statement that is planned on its own thread. An estimate: some milliseconds of planning.
const EXPRESSIONS_MAX: usize = 500;

/// Makes the logical plan of a statement.
pub(crate) fn logical_plan(
    state: SessionState,
    statement: Statement,
) -> BoxFuture<'static, Result<LogicalPlan>> {
    let is_large = is_large_statement(&statement);
    let statement = PlannerStatement::Statement(Box::new(statement));
    apart(is_large, async move { state.statement_to_plan(statement).await }.boxed())
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

/// True if a statement has many expressions.
pub(crate) fn is_large_statement(statement: &Statement) -> bool {
    let mut count = 0;
    let visited = visit_expressions(statement, |_| {
        count += 1;
        if count < EXPRESSIONS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.is_break()
}

fn is_large_plan(plan: &LogicalPlan) -> bool {
    let mut count = 0;
    let visited = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|_| {
                count += 1;
                let is_enough = count >= EXPRESSIONS_MAX;
                Ok(if is_enough { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    });
    visited.is_ok_and(|recursion| recursion == TreeNodeRecursion::Stop)
}
