//! Filters, and columns that are called the same.
//!
//! - DataFusion moves filters down a physical plan by the names of columns, which have no table there. Where two are called
//!   the same, as in the rows of a join, it takes the first for both: `u.f IS DISTINCT FROM t.f` held for each row.
//! - No filter is moved below an operator that gives two such columns. Those of logical plans, which know the tables,
//!   were moved before.

use super::no_waiting::without_waiting;
use crate::pace::PassingExec;
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::execution::TaskContext;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::filter_pushdown::FilterPushdown;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use std::collections::HashSet;
use std::sync::Arc;

/// An operator that no filter is moved below.
const APART: &str = "GadusApart";

/// DataFusion's rule that moves filters, but not where names are not enough.
#[derive(Debug)]
pub(crate) struct FiltersByName(pub(crate) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

impl FiltersByName {
    /// Gives the scans of a plan, which runs for another time, the filters of its joins and sorts.
    pub(crate) fn anew(
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Self(Arc::new(FilterPushdown::new_post_optimization())).optimize(plan, config)
    }
}

impl PhysicalOptimizerRule for FiltersByName {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(set_apart)?;
        let moved = self.0.optimize(plan.data, config)?;
        without_waiting(match plan.transformed {
            true => moved.transform_up(put_back)?.data,
            false => moved,
        })
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn set_apart(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let children = plan.children();
    if !children.iter().any(|child| repeats_names(&child.schema())) {
        return Ok(Transformed::no(plan));
    }
    let apart = |child: &Arc<dyn ExecutionPlan>| -> Arc<dyn ExecutionPlan> {
        match repeats_names(&child.schema()) {
            true => Arc::new(PassingExec::new(APART, child.clone(), passed).without_filters()),
            false => child.clone(),
        }
    };
    let children = children.into_iter().map(apart).collect();
    replace_children_if_necessary(plan, children).map(Transformed::yes)
}

fn put_back(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    match (plan.name() == APART, plan.children().as_slice()) {
        (true, [input]) => Ok(Transformed::yes(Arc::clone(input))),
        _ => Ok(Transformed::no(plan)),
    }
}

fn repeats_names(schema: &Schema) -> bool {
    let mut names = HashSet::new();
    !schema.fields().iter().all(|field| names.insert(field.name()))
}

fn passed(rows: SendableRecordBatchStream, _: &TaskContext) -> SendableRecordBatchStream {
    rows
}
