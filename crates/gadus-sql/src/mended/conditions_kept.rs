//! Conditions that stay where they are.
//!
//! - DataFusion moves a condition that names no column below an aggregate. One without groups gives a row of nothing, too,
//!   and so does an empty grouping set: there the condition would decide which rows are aggregated, not whether that row
//!   is given, as in `SELECT 7 FROM (SELECT count(*) FROM t) AS n WHERE (SELECT …) > 3`. No condition names none at first:
//!   `c = NULL` does so once it is simplified.
//! - Where it looks for equalities that exclude each other, it takes `'a' = c` and `c = 'a'` for such. Values that are given
//!   stand on the right.
//! - A condition that is another one each time, as `random() < 0.5`, is one for each row where it stands. Below an
//!   aggregate, a window or a join it would be one for other rows.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Aggregate, BinaryExpr, Expr, Filter, LogicalPlan, binary_expr};
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// DataFusion's rule that moves conditions, but not those.
#[derive(Debug, Default)]
pub(crate) struct ConditionsKept(PushDownFilter);

impl OptimizerRule for ConditionsKept {
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
        match plan {
            LogicalPlan::Filter(filter) if stops(&filter.input) => {
                Ok(Transformed::no(LogicalPlan::Filter(filter)))
            }
            LogicalPlan::Filter(filter) if filter.predicate.is_volatile() => {
                self.filter(filter, config)
            }
            plan if stops(&plan) => Ok(Transformed::no(plan)),
            LogicalPlan::Filter(filter) => {
                let predicate = turned(filter.predicate)?;
                let filter = Filter::try_new(predicate, filter.input)?;
                self.0.rewrite(LogicalPlan::Filter(filter), config)
            }
            plan => self.0.rewrite(plan, config),
        }
    }
}

impl ConditionsKept {
    /// Moves what stays the same of a condition that is another one each time.
    fn filter(
        &self,
        filter: Filter,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let parts = split_conjunction_owned(filter.predicate.clone());
        let (kept, moved) = parts.into_iter().partition::<Vec<_>, _>(Expr::is_volatile);
        let (Some(kept), Some(moved)) = (conjunction(kept), conjunction(moved)) else {
            return Ok(Transformed::no(LogicalPlan::Filter(filter)));
        };
        let below = LogicalPlan::Filter(Filter::try_new(moved, filter.input)?);
        let above = |below| Filter::try_new(kept, Arc::new(below)).map(LogicalPlan::Filter);
        self.0.rewrite(below, config)?.map_data(above)
    }
}

/// A condition in which columns that are compared with given values stand on the left.
fn turned(predicate: Expr) -> Result<Expr> {
    let turned = predicate.transform_up(|expr| match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if matches!((&*left, &*right), (Expr::Literal(..), Expr::Column(_))) =>
        {
            Ok(match op.swap() {
                Some(op) => Transformed::yes(binary_expr(*right, op, *left)),
                None => Transformed::no(binary_expr(*left, op, *right)),
            })
        }
        expr => Ok(Transformed::no(expr)),
    });
    turned.map(|turned| turned.data)
}

/// Whether no condition moves below a plan, or from it: it is, seen through conditions, an aggregate that gives a row of
/// no rows, or a join by a condition that stays.
fn stops(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => stops(&filter.input),
        LogicalPlan::Aggregate(Aggregate { group_expr, .. }) => {
            matches!(group_expr.as_slice(), [] | [Expr::GroupingSet(_)])
        }
        LogicalPlan::Join(join) => join.filter.as_ref().is_some_and(Expr::is_volatile),
        _ => false,
    }
}
