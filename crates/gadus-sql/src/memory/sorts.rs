//! Sorts that give their first rows only: where those are many, by sorting all rows, which can be written out, and
//! not by a heap of the first ones, which cannot, and whose every row costs more than a sort's does. The same
//! holds if a heap of few rows turned out to be too large for the memory.

use super::Memory;
use super::joins::{row_bytes, rows};
use super::replan::SpillOptions;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// So few first rows are kept in any case.
const FEW: usize = 8192;

/// Of the rows of six million in no order, keeping the first one of sixteen took longer than sorting all.
const MANY_DIVISOR: usize = 32;

/// Sorts all, where the first rows are many of all or more than a plan of a database may hold; behind the rules that
/// tell sorts how many rows are wanted, before the one that gives scans their filters.
#[derive(Debug)]
pub(crate) struct SortsWithinMemory(pub(crate) Memory);

impl PhysicalOptimizerRule for SortsWithinMemory {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (most, always) = (self.0.plan_part(), SpillOptions::is_always(config));
        let fitting = plan.transform_up(|plan| {
            let Some(sort) = plan.downcast_ref::<SortExec>() else {
                return Ok(Transformed::no(plan));
            };
            Ok(match sort.fetch().filter(|first| always || are_many(*first, sort, most)) {
                Some(first) => Transformed::yes(sorting_all(sort, first)),
                None => Transformed::no(plan),
            })
        });
        fitting.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_sorts_within_memory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// True for a sort that keeps its first rows, which it cannot spill.
pub(super) fn may_spill(plan: &dyn ExecutionPlan) -> bool {
    plan.downcast_ref::<SortExec>().is_some_and(|sort| sort.fetch().is_some())
}

fn are_many(first: usize, sort: &SortExec, most: u64) -> bool {
    if first <= FEW {
        return false;
    }
    let input = &**sort.input();
    let all = rows(input);
    let kept = all.map_or(first, |all| all.min(first));
    if kept.saturating_mul(row_bytes(input)) as u64 > most {
        return true;
    }
    // A heap of rows that come nearly in order may have all of them early.
    input.output_ordering().is_none() && all.is_some_and(|all| first > all / MANY_DIVISOR)
}

fn sorting_all(sort: &SortExec, first: usize) -> Arc<dyn ExecutionPlan> {
    Arc::new(LocalLimitExec::new(Arc::new(sort.with_fetch(None)), first))
}
