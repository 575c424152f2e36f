//! Joins.

use super::arrays::is_set_of_arrays;
use super::relations::{filtered, has_subquery};
use super::{Lowering, Result, column_name, missing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, NullHandling};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery, lit};
use gadus_binder::bound::{ColumnId, Constant, Join, JoinKind, Relational, Scalar, ScalarKind};
use std::collections::HashSet;
use std::sync::Arc;

impl Lowering<'_> {
    pub(super) fn join(&mut self, join: &Join) -> Result<LogicalPlan> {
        if let Some(rows) = self.join_with_sets(join)? {
            return Ok(rows);
        }
        if join.is_lateral
            && let Some(rows) = self.lateral_rows(join)?
        {
            return Ok(rows);
        }
        let left = self.relational(&join.left)?;
        let right = match join.is_lateral {
            true => self.lateral(join)?,
            false => self.relational(&join.right)?,
        };
        let kind = match join.kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            JoinKind::Right => JoinType::Right,
            JoinKind::Full => JoinType::Full,
            JoinKind::Semi => JoinType::LeftSemi,
            JoinKind::Anti => JoinType::LeftAnti,
            JoinKind::Mark(_) => JoinType::LeftMark,
        };
        let both = left.schema().join(right.schema())?;
        let condition = match &join.condition {
            Some(condition) => Some(self.condition(condition, &both)?),
            None => None,
        };
        match condition {
            // Queries in a condition are made joins in filters.
            Some(condition) if kind == JoinType::Inner && has_subquery(&condition) => {
                let parts = split_conjunction_owned(condition).into_iter();
                let (late, early) = parts.partition::<Vec<_>, _>(has_subquery);
                let rows = joined(left, right, kind, conjunction(early))?;
                match conjunction(late) {
                    Some(late) => filtered(rows, late),
                    None => Ok(rows),
                }
            }
            condition => {
                let columns = left.schema().columns();
                let rows = joined(left, right, kind, condition)?;
                match join.kind {
                    JoinKind::Mark(id) => self.marked(rows, columns, id),
                    _ => Ok(rows),
                }
            }
        }
    }

    /// Gives the mark of a join the number of its column.
    fn marked(
        &mut self,
        rows: LogicalPlan,
        columns: Vec<Column>,
        id: ColumnId,
    ) -> Result<LogicalPlan> {
        let mark = rows.schema().columns().into_iter().nth(columns.len());
        let Some(mark) = mark else { return missing("a join without a mark") };
        let mark = Expr::Column(mark).alias(column_name(id));
        self.make(id, DataType::Boolean);
        let items = columns.into_iter().map(Expr::Column).chain([mark]);
        Ok(LogicalPlanBuilder::from(rows).project(items)?.build()?)
    }

    /// Lowers a join with elements of arrays, which may be of the row: `FROM t, unnest(t.a)`; `None` for other joins.
    fn join_with_sets(&mut self, join: &Join) -> Result<Option<LogicalPlan>> {
        let Relational::TableFunctions { calls, ordinality } = &join.right else { return Ok(None) };
        if !join.is_lateral || !calls.iter().all(|call| is_set_of_arrays(&call.call)) {
            return Ok(None);
        }
        let is_true = |condition: &Scalar| {
            matches!(condition.kind, ScalarKind::Constant(Constant::Boolean(true)))
        };
        let empty = match join.kind {
            JoinKind::Inner => NullHandling::Drop,
            JoinKind::Left if join.condition.as_ref().is_none_or(is_true) => {
                NullHandling::PreserveAndExpandEmpty
            }
            _ => return missing("this lateral join"),
        };
        let left = self.relational(&join.left)?;
        let rows = self.unnested_tables(left, (calls, *ordinality), empty)?;
        match &join.condition {
            Some(condition) if !is_true(condition) => {
                let condition = self.condition(condition, rows.schema())?;
                filtered(rows, condition).map(Some)
            }
            _ => Ok(Some(rows)),
        }
    }

    /// Lowers an input that may name columns of the one before it.
    fn lateral(&mut self, join: &Join) -> Result<LogicalPlan> {
        if !matches!(join.kind, JoinKind::Inner | JoinKind::Left) {
            return missing("this lateral join");
        }
        self.made.push(HashSet::new());
        let lowered = self.relational(&join.right);
        let inner = self.made.pop().unwrap_or_default();
        if let Some(made) = self.made.last_mut() {
            made.extend(inner);
        }
        let right = lowered?;
        let outer_ref_columns = right.all_out_ref_exprs();
        if outer_ref_columns.is_empty() {
            return Ok(right);
        }
        let subquery =
            Subquery { subquery: Arc::new(right), outer_ref_columns, spans: Default::default() };
        Ok(LogicalPlan::Subquery(subquery))
    }
}

/// Joins two plans. The optimiser finds the equalities that are between them.
fn joined(
    left: LogicalPlan,
    right: LogicalPlan,
    kind: JoinType,
    condition: Option<Expr>,
) -> Result<LogicalPlan> {
    let left = LogicalPlanBuilder::from(left);
    Ok(match condition {
        None if kind == JoinType::Inner => left.cross_join(right)?.build()?,
        condition => {
            let condition = condition.unwrap_or_else(|| lit(true));
            left.join_on(right, kind, [condition])?.build()?
        }
    })
}
