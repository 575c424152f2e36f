//! Joins of which neither side is small: by merging sorted inputs, which can be written out, and not by a table of
//! the smaller side, which cannot. Joins that cannot be merged are divided into partitions, which are written out,
//! too ([`grace_join`](super::grace_join)), and those without an equality are done by blocks
//! ([`block_join`](super::block_join)), but only once a plan has turned out to need that.

use super::Memory;
use super::block_join::{can_be_block_join, with_block_join};
use super::grace_join::GraceJoinExec;
use super::replan::SpillOptions;
use arrow::compute::SortOptions;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::sync::Arc;

/// What a value takes whose type says nothing of it.
const VALUE_BYTES: usize = 32;

/// Spills joins of what is more than a plan of a database may hold; before the rule that sorts and divides inputs.
#[derive(Debug)]
pub(crate) struct JoinsWithinMemory(pub(crate) Memory);

impl PhysicalOptimizerRule for JoinsWithinMemory {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let most = self.0.plan_part();
        let always = SpillOptions::is_always(config);
        let fitting = plan.transform_up(|plan| match plan.downcast_ref::<HashJoinExec>() {
            None if always => match with_block_join(&*plan)? {
                Some(join) => Ok(Transformed::yes(join)),
                None => Ok(Transformed::no(plan)),
            },
            Some(join) if may_merge(join) && (always || bytes(&**join.left()) > most) => {
                merging(join).map(Transformed::yes)
            }
            Some(join) if always && GraceJoinExec::can_replace(join) => {
                Ok(Transformed::yes(Arc::new(GraceJoinExec::new(join)?)))
            }
            _ => Ok(Transformed::no(plan)),
        });
        fitting.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_joins_within_memory"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// True for a join that can spill what it holds, in one way or another.
pub(super) fn may_spill(plan: &dyn ExecutionPlan) -> bool {
    let join = plan.downcast_ref::<HashJoinExec>();
    join.is_some_and(|join| may_merge(join) || GraceJoinExec::can_replace(join))
        || can_be_block_join(plan)
}

/// NOT IN of what may be NULL is no matter of order; and with further conditions on pairs, DataFusion 55.2 gives
/// pairs that do not meet them, or leaves some out.
fn may_merge(join: &HashJoinExec) -> bool {
    use JoinType::{Full, Inner, Left, LeftAnti, LeftSemi, Right, RightAnti, RightSemi};
    let types = [Full, Inner, Left, LeftAnti, LeftSemi, Right, RightAnti, RightSemi];
    !join.null_aware && join.filter().is_none() && types.contains(join.join_type())
}

/// About what the rows of a plan take; none where nobody knows how many they are.
fn bytes(plan: &dyn ExecutionPlan) -> u64 {
    rows(plan).unwrap_or(0).saturating_mul(row_bytes(plan)) as u64
}

/// About how many rows a plan has, where that is known.
pub(super) fn rows(plan: &dyn ExecutionPlan) -> Option<usize> {
    let known = StatisticsContext::new().compute(plan, &StatisticsArgs::new());
    known.ok().and_then(|statistics| statistics.num_rows.get_value().copied())
}

/// About what a row of a plan takes.
pub(super) fn row_bytes(plan: &dyn ExecutionPlan) -> usize {
    let schema = plan.schema();
    let widths = schema.fields().iter().map(|field| field.data_type().primitive_width());
    widths.map(|width| width.unwrap_or(VALUE_BYTES)).sum()
}

fn merging(join: &HashJoinExec) -> Result<Arc<dyn ExecutionPlan>> {
    let merging: Arc<dyn ExecutionPlan> = Arc::new(SortMergeJoinExec::try_new(
        join.left().clone(),
        join.right().clone(),
        join.on().to_vec(),
        None,
        *join.join_type(),
        vec![SortOptions::default(); join.on().len()],
        join.null_equality(),
    )?);
    let Some(columns) = &join.projection else { return Ok(merging) };
    let schema = merging.schema();
    let columns = columns.iter().map(|index| {
        let name = schema.field(*index).name();
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, *index));
        (column, name.clone())
    });
    let columns = columns.collect::<Vec<_>>();
    Ok(Arc::new(ProjectionExec::try_new(columns, merging)?))
}
