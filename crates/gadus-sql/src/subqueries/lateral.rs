//! LATERAL subqueries, which are joined with the rows before them.

use super::bindings::{self, Bindings, is_by_row};
use super::free::{column_of, free};
use super::settled::settled_limits;
use super::{JoinSubqueries, like};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, SubqueryAlias,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl JoinSubqueries {
    /// A join with a LATERAL subquery; none where there is none, or it cannot be joined.
    pub(super) fn lateral(&self, join: &Join) -> Result<Option<LogicalPlan>> {
        let (query, alias) = match &*join.right {
            LogicalPlan::Subquery(query) => (query, None),
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, alias, .. }) => match &**input {
                LogicalPlan::Subquery(query) => (query, Some(alias)),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let query = query.subquery.clone();
        let query = match alias {
            Some(alias) => SubqueryAlias::try_new(query, alias.clone())
                .map(|named| Arc::new(LogicalPlan::SubqueryAlias(named)))?,
            None => query,
        };
        if !matches!(join.join_type, JoinType::Inner | JoinType::Left) {
            return Ok(None);
        }
        if let Some(joined) = self.by_row(join, &query)? {
            return Ok(Some(joined));
        }
        let left = settled_limits(LogicalPlan::clone(&join.left))?;
        let Some(bindings) = self.bindings(&left, &query)? else { return Ok(None) };
        let Some(bound) = self.bound(&bindings, &query)? else { return Ok(None) };
        let (bound, _) = bindings.again(&bound, &query)?;
        let fields = bound.schema().fields();
        let (outer, given) = bindings.columns();
        let again = fields.iter().take(given.len()).map(|field| field.name());
        let same = outer.iter().zip(again).map(|(outer, again)| {
            let again = Expr::Column(Column::new_unqualified(again));
            bindings::is_same(Expr::Column(outer.clone()), again)
        });
        let on = join.on.iter().map(|(left, right)| left.clone().eq(right.clone()));
        let conditions = same.chain(on).chain(join.filter.clone()).collect::<Vec<_>>();
        let joined =
            LogicalPlanBuilder::from(left).join_on(bound, join.join_type, conditions)?.build()?;
        like(joined, &join.schema).map(Some)
    }

    /// The same with a query that makes rows of each row: those of the row go along with it.
    fn by_row(&self, join: &Join, query: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        if join.join_type != JoinType::Inner || !is_by_row(query)? {
            return Ok(None);
        }
        let outer = free(query)?;
        let is_around = |free: &Expr| {
            column_of(free).is_some_and(|column| join.left.schema().has_column(column))
        };
        if !outer.iter().all(is_around) {
            return Ok(None);
        }
        let bindings = Bindings::all(&join.left, self.made.fetch_add(1, Ordering::Relaxed))?;
        let Some(joined) = bindings.with_rows(query)? else { return Ok(None) };
        let on = join.on.iter().map(|(left, right)| left.clone().eq(right.clone()));
        match on.chain(join.filter.clone()).reduce(Expr::and) {
            Some(condition) => {
                LogicalPlanBuilder::from(joined).filter(condition)?.build().map(Some)
            }
            None => Ok(Some(joined)),
        }
    }
}
