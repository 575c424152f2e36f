//! Planning rules that end when their statement is cancelled.
//!
//! - Planning is one long computation. Each rule, and each node that one is applied to, begins with a look, and
//!   so does each operator and function that becomes an expression.
//! - Rules fold constants: they call functions. [`is_planning`] says so to those whose results should not become part
//!   of the plan.

use super::cancellation::check_cancelled;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawAggregateExpr, RawBinaryExpr, RawWindowExpr,
};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::{AnalyzerRule, ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::{PhysicalOptimizerContext, PhysicalOptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    static IS_PLANNING: Cell<bool> = const { Cell::new(false) };
}

/// True on a thread that applies a planning rule.
pub(crate) fn is_planning() -> bool {
    IS_PLANNING.get()
}

/// Applies a rule unless its statement was cancelled.
fn apply<T>(rule: impl FnOnce() -> Result<T>) -> Result<T> {
    check_cancelled()?;
    let _before = BeforePlanning(IS_PLANNING.replace(true));
    rule()
}

/// Guard that restores what [`is_planning`] gave before, when it is dropped.
struct BeforePlanning(bool);

impl Drop for BeforePlanning {
    fn drop(&mut self) {
        IS_PLANNING.set(self.0);
    }
}

/// A rule that looks whether its statement goes on.
#[derive(Debug)]
pub(crate) struct Cancellable<R: ?Sized>(pub(crate) Arc<R>);

impl AnalyzerRule for Cancellable<dyn AnalyzerRule + Send + Sync> {
    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        apply(|| self.0.analyze(plan, config))
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}

impl OptimizerRule for Cancellable<dyn OptimizerRule + Send + Sync> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        apply(|| self.0.rewrite(plan, config))
    }
}

impl PhysicalOptimizerRule for Cancellable<dyn PhysicalOptimizerRule + Send + Sync> {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        apply(|| self.0.optimize(plan, config))
    }

    fn optimize_with_context(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &dyn PhysicalOptimizerContext,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        apply(|| self.0.optimize_with_context(plan, context))
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Looks whether its statement goes on, and leaves expressions to the planners behind it.
#[derive(Debug)]
pub(crate) struct CancellableExpressions;

impl ExprPlanner for CancellableExpressions {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        _: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        check_cancelled()?;
        Ok(PlannerResult::Original(expr))
    }

    fn plan_array_literal(
        &self,
        exprs: Vec<Expr>,
        _: &DFSchema,
    ) -> Result<PlannerResult<Vec<Expr>>> {
        check_cancelled()?;
        Ok(PlannerResult::Original(exprs))
    }

    fn plan_aggregate(&self, expr: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        check_cancelled()?;
        Ok(PlannerResult::Original(expr))
    }

    fn plan_window(&self, expr: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        check_cancelled()?;
        Ok(PlannerResult::Original(expr))
    }
}
