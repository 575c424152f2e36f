//! Making a plan that can be kept.
//!
//! - Optimised with its parameters in place, as placeholders; these become calls only afterwards,
//!   because the optimiser moves no volatile expression.

use super::{Binding, KeptPlan};
use crate::error::from_datafusion;
use crate::executor::{apart, is_large_statement};
use crate::memory::{PlanPool, Replan, may_replan};
use crate::provider::{Reading, is_snapshot_table};
use crate::session::Headings;
use crate::value::Value;
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result as PlannerResult};
use datafusion::execution::{SessionState as PlannerState, TaskContext};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as PlannerStatement;
use datafusion::sql::sqlparser::ast::Statement;
use futures::FutureExt;
use gadus_engine::{Result, Snapshot};
use std::sync::Arc;

impl Binding {
    /// A binding that a plan is made with.
    pub(crate) fn new(snapshot: Snapshot, parameters: &[Value], reading: Reading) -> Arc<Self> {
        let binding = Arc::new(Self::default());
        binding.bind(snapshot, scalars(parameters), reading);
        binding
    }

    /// Creates a binding for a plan whose parameters have types, to which values are converted.
    pub(crate) fn typed_as(
        types: Vec<DataType>,
        (snapshot, values): (Snapshot, Vec<ScalarValue>),
        reading: Reading,
    ) -> Arc<Self> {
        let binding = Arc::new(Self { types: Some(types), ..Self::default() });
        binding.bind(snapshot, values, reading);
        binding
    }
}

impl KeptPlan {
    /// Plans a statement, whose tables `planner` takes from `binding`; none where the plan would
    /// hold more than a snapshot and values can replace.
    pub(crate) async fn make(
        planner: PlannerState,
        binding: Arc<Binding>,
        statement: Statement,
        headings: Headings,
    ) -> Result<Option<Self>> {
        let is_large = is_large_statement(&statement);
        let making = Self::make_here(planner, binding, statement, headings);
        apart(is_large, making.boxed()).await.map_err(from_datafusion)
    }

    async fn make_here(
        planner: PlannerState,
        binding: Arc<Binding>,
        statement: Statement,
        headings: Headings,
    ) -> PlannerResult<Option<Self>> {
        let statement = PlannerStatement::Statement(Box::new(statement));
        let plan = planner.statement_to_plan(statement).await?;
        Self::of_plan(planner, binding, plan, vec![headings]).await
    }

    /// Makes a plan of a logical one, whose tables are those of the binding; none where it would hold more than a
    /// snapshot and values can replace.
    pub(crate) async fn of_plan(
        planner: PlannerState,
        binding: Arc<Binding>,
        plan: LogicalPlan,
        headings: Vec<Headings>,
    ) -> PlannerResult<Option<Self>> {
        if !is_fit(&plan)? {
            return Ok(None);
        }
        let physical = async {
            let typed = rewritten(plan, &|expr| binding.typed(expr))?;
            let optimised = planner.optimize(&typed)?;
            let called = rewritten(optimised, &|expr| binding.called(expr))?;
            let physical = planner.query_planner().create_physical_plan(&called, &planner).await?;
            Ok::<_, DataFusionError>((physical, called))
        };
        // What fails here may well be planned with its values in place.
        let Ok((physical, called)) = physical.await else { return Ok(None) };
        let replan = may_replan(&*physical).then(|| {
            Arc::new(Replan::of_kept(SessionContext::new_with_state(planner.clone()), called))
        });
        let (task, pool) = PlanPool::below(TaskContext::from(&planner));
        let task = Arc::new(task);
        let has_joins = has_joins(&*physical);
        Ok(Some(Self { plan: physical, binding, task, pool, headings, has_joins, replan }))
    }
}

fn has_joins(plan: &dyn ExecutionPlan) -> bool {
    plan.is::<HashJoinExec>() || plan.children().into_iter().any(|child| has_joins(&**child))
}

/// Rewrites placeholders, except those in the filters of scans, which are bound as they are.
fn rewritten(
    plan: LogicalPlan,
    rewrite: &dyn Fn(Expr) -> PlannerResult<Transformed<Expr>>,
) -> PlannerResult<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|plan| {
        if matches!(plan, LogicalPlan::TableScan(_)) {
            return Ok(Transformed::no(plan));
        }
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            Ok(expr.transform_up(rewrite)?.update_data(|expr| name.restore(expr)))
        })
    });
    rewritten.map(|plan| plan.data)
}

/// Whether the plan reads tables of the snapshot alone, and calls nothing that is evaluated while
/// it is planned, as the time of day is.
fn is_fit(plan: &LogicalPlan) -> PlannerResult<bool> {
    let mut fit = true;
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::TableScan(scan) = plan {
            fit &= is_snapshot_table(&scan.source);
        }
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                fit &= !is_stable_call(expr);
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(fit)
}

fn is_stable_call(expr: &Expr) -> bool {
    match expr {
        Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Stable,
        Expr::ScalarVariable(..) => true,
        _ => false,
    }
}

/// The values of parameters as the planner has them.
pub(crate) fn scalars(parameters: &[Value]) -> Vec<ScalarValue> {
    parameters.iter().map(Value::to_scalar).collect()
}
