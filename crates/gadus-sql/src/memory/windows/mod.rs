//! Windows whose rows outgrow the memory limit.
//!
//! - A row of a window waits for its results, which may depend on rows far behind it: up to the end of its partition.
//!   DataFusion's operators hold all waiting rows with all their columns, outside of any account.
//! - [`SpillingWindowExec`] stands for such an operator. It evaluates the window expressions over the columns that they
//!   refer to ([`columns`]). Whole rows wait in a queue ([`waiting_rows`]), which spills, and join their results when
//!   these are known ([`output`]).
//! - For a `WindowAggExec`, it evaluates partition by partition ([`partitions`]), many small ones at a time. An aggregate
//!   that has one value for each partition is computed as rows arrive, and holds none of them.
//! - For a `BoundedWindowAggExec` ([`bounded`]), it holds the rows of a frame, not of a partition ([`frames`]). Its input
//!   is always sorted by PARTITION BY: DataFusion hashes partitions of endless inputs alone, and here are none.
//! - Columns that expressions refer to, and results, cannot spill: beyond the limit, and some, the statement fails
//!   (53200). DataFusion does not show the predicate of a FILTER unless it is a column; such an aggregate holds whole
//!   rows.

mod bounded;
mod columns;
mod exec;
mod frames;
mod output;
mod partitions;
mod waiting_rows;

#[cfg(test)]
mod tests;

pub(super) use exec::SpillingWindowExec;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The account of what windows hold that cannot spill.
pub(super) const WINDOW: &str = "WindowAggExec";

/// Replaces window operators by ones that spill; before the rule that has operators gather in turn.
#[derive(Debug)]
pub(crate) struct WindowsWithinMemory;

impl PhysicalOptimizerRule for WindowsWithinMemory {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let spilling = plan.transform_up(|plan| {
            Ok(match SpillingWindowExec::replacing(&plan) {
                Some(window) => Transformed::yes(Arc::new(window) as _),
                None => Transformed::no(plan),
            })
        });
        spilling.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_windows_within_memory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
