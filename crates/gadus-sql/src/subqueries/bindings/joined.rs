//! Plans of several inputs, of which one or more depend on the bindings.

use super::super::free::depends;
use super::{Bindings, Bound, columns_of, is_same};
use datafusion::common::{Column, NullEquality};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Union, lit};
use std::sync::Arc;

impl Bindings {
    pub(super) fn join(&self, join: &Join) -> Bound {
        let (left, right) = (depends(&join.left)?, depends(&join.right)?);
        let (keeps_left, keeps_right) = match join.join_type {
            JoinType::Inner => (left || !right, right),
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => (true, right),
            JoinType::Right => (left, true),
            _ => return Ok(None),
        };
        let bound = |is_bound: bool, plan: &Arc<LogicalPlan>| match is_bound {
            true => self.bound(plan),
            false => Ok(Some(LogicalPlan::clone(plan))),
        };
        let sides = (bound(keeps_left, &join.left)?, bound(keeps_right, &join.right)?);
        let (Some(mut on_left), Some(mut on_right)) = sides else { return Ok(None) };
        let mut conditions = Vec::new();
        // An outer join has the bindings of the side of which it keeps all rows.
        if keeps_left && keeps_right {
            let same = match join.join_type {
                JoinType::Right => {
                    let (again, same) = self.again(&on_left, &join.left)?;
                    on_left = again;
                    same
                }
                _ => {
                    let (again, same) = self.again(&on_right, &join.right)?;
                    on_right = again;
                    same
                }
            };
            conditions.push(same);
        }
        let own = merge_schema(&[&join.left, &join.right]);
        for (left, right) in &join.on {
            let left = self.replaced(left.clone(), &own)?;
            let right = self.replaced(right.clone(), &own)?;
            conditions.push(match join.null_equality {
                NullEquality::NullEqualsNull => is_same(left, right),
                NullEquality::NullEqualsNothing => left.eq(right),
            });
        }
        if let Some(filter) = &join.filter {
            conditions.push(self.replaced(filter.clone(), &own)?);
        }
        let joined = LogicalPlanBuilder::from(on_left);
        let joined = match conditions.is_empty() {
            true if join.join_type == JoinType::Inner => joined.cross_join(on_right)?,
            true => joined.join_on(on_right, join.join_type, [lit(true)])?,
            false => joined.join_on(on_right, join.join_type, conditions)?,
        };
        self.only(joined.build()?, &LogicalPlan::Join(join.clone())).map(Some)
    }

    pub(super) fn union(&self, union: &Union) -> Bound {
        let name = self.name("part");
        let names = (0..union.schema.fields().len()).map(|place| format!("{name}_{place}"));
        let names = names.collect::<Vec<_>>();
        let mut whole: Option<LogicalPlanBuilder> = None;
        for input in &union.inputs {
            let Some(part) = self.bound(input)? else { return Ok(None) };
            let named = columns_of(input).zip(&names).map(|(column, name)| column.alias(name));
            let items = self.given().chain(named).collect::<Vec<_>>();
            let part = LogicalPlanBuilder::from(part).project(items)?.build()?;
            whole = Some(match whole {
                Some(whole) => whole.union(part)?,
                None => LogicalPlanBuilder::from(part),
            });
        }
        let Some(whole) = whole else { return Ok(None) };
        let renamed = names.iter().zip(union.schema.iter()).map(|(name, (qualifier, field))| {
            let column = Expr::Column(Column::new_unqualified(name));
            column.alias_qualified(qualifier.cloned(), field.name())
        });
        let items = self.given().chain(renamed).collect::<Vec<_>>();
        whole.project(items)?.build().map(Some)
    }
}
