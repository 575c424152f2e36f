//! Planner that knows common tables.

use super::CommonTables;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner};
use std::sync::Arc;

/// DataFusion's planner with common tables at the root. Their plans and the query's are made each for itself: what a
/// plan computes before its rows, such as scalar subqueries, may read the tables.
#[derive(Debug)]
pub(crate) struct CommonTablesPlanner;

#[async_trait]
impl QueryPlanner for CommonTablesPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::default();
        let Some(tables) = CommonTables::of(plan) else {
            return planner.create_physical_plan(plan, session).await;
        };
        let mut plans = Vec::new();
        for table in tables.plans() {
            plans.push(in_one_partition(planner.create_physical_plan(table, session).await?));
        }
        let query = planner.create_physical_plan(tables.query(), session).await?;
        Ok(tables.operator(plans, query))
    }
}

/// Returns a plan of one partition, in the order of its rows.
fn in_one_partition(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if plan.properties().partitioning.partition_count() == 1 {
        return plan;
    }
    match plan.properties().output_ordering().cloned() {
        Some(order) => Arc::new(SortPreservingMergeExec::new(order, plan)),
        None => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}
