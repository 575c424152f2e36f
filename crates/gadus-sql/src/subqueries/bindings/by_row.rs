//! Queries that make rows of one row around them, as `unnest` of a column does: they go along with the rows, and nothing
//! is joined.

use super::{Bindings, Bound, columns_of, has_subquery};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SubqueryAlias, Unnest};
use std::cell::Cell;

impl Bindings {
    /// All rows as they are, with all of their columns.
    pub(in crate::subqueries) fn all(around: &LogicalPlan, number: usize) -> Result<Self> {
        let outer = around.schema().columns();
        let name = |place: usize| format!("gadus.given{number}_{place}");
        let given = (0..outer.len()).map(|place| Column::new_unqualified(name(place)));
        let given = given.collect::<Vec<_>>();
        let both = outer.iter().zip(&given);
        let items = both.map(|(outer, given)| Expr::Column(outer.clone()).alias(&given.name));
        let rows = LogicalPlanBuilder::from(around.clone());
        let rows = rows.project(items.collect::<Vec<_>>())?.build()?;
        Ok(Self { rows, outer, given, number, made: Cell::new(0) })
    }

    /// The rows, each with what a query makes of it, under the names that both have; none where there is no such plan.
    pub(in crate::subqueries) fn with_rows(&self, query: &LogicalPlan) -> Bound {
        let Some(bound) = self.bound(query)? else { return Ok(None) };
        let rows = self.given().zip(&self.outer).map(|(given, outer)| {
            given.alias_qualified(outer.relation.clone(), outer.name.as_str())
        });
        let items = rows.chain(columns_of(query)).collect::<Vec<_>>();
        LogicalPlanBuilder::from(bound).project(items)?.build().map(Some)
    }

    pub(super) fn unnest(&self, unnest: &Unnest) -> Bound {
        let (columns, options) = (unnest.exec_columns.clone(), unnest.options.clone());
        self.over(&unnest.input, |input| {
            LogicalPlanBuilder::from(input).unnest_columns_with_options(columns, options)?.build()
        })
    }
}

/// Whether a query makes rows of one row around it, and asks nothing else.
pub(in crate::subqueries) fn is_by_row(query: &LogicalPlan) -> Result<bool> {
    let (input, expressions) = match query {
        LogicalPlan::EmptyRelation(empty) => return Ok(empty.produce_one_row),
        LogicalPlan::Projection(projection) => (&projection.input, &*projection.expr),
        LogicalPlan::Filter(filter) => (&filter.input, std::slice::from_ref(&filter.predicate)),
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => (input, &[][..]),
        LogicalPlan::Unnest(unnest) => (&unnest.input, &[][..]),
        LogicalPlan::Subquery(within) => (&within.subquery, &[][..]),
        _ => return Ok(false),
    };
    for expression in expressions {
        if has_subquery(expression)? {
            return Ok(false);
        }
    }
    is_by_row(input)
}
