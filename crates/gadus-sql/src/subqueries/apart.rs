//! Names of the rows around a query, which nothing within it has.
//!
//! - In `t.v IN (SELECT v FROM t)`, the rows around and those within have the same names. As SQL is written, nothing within
//!   can name such a column of the row around, but for what derived tables hide; what says IN by EXISTS does. DataFusion joins
//!   the two, tells columns by their names, and would compare `v` with itself.
//! - An analyzer rule gives the rows around one more column then, under a name of its own, which is named within instead.

use super::free::{column_of, free, renamed_around};
use super::{has_subquery, like, query_of};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Subquery};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Gives columns other names where queries within have the same. It runs before queries are joined.
#[derive(Debug, Default)]
pub(crate) struct NamesApart {
    /// Sets the names apart.
    made: AtomicUsize,
}

impl AnalyzerRule for NamesApart {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(|plan| self.node(plan))?.data)
    }

    fn name(&self) -> &'static str {
        "names_apart"
    }
}

impl NamesApart {
    fn node(&self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        let taken = match plan.inputs().as_slice() {
            [around] => taken(&plan, around.schema())?,
            _ => Vec::new(),
        };
        if taken.is_empty() {
            return Ok(Transformed::no(plan));
        }
        let named = taken.into_iter().map(|column| (column, fresh("around", &self.made)));
        let named = named.collect::<Vec<_>>();
        let name_of = |column: &Column| {
            let (_, name) = named.iter().find(|(taken, _)| taken == column)?;
            Some(Column::new_unqualified(name))
        };
        let names = NamePreserver::new(&plan);
        let renamed = plan.clone().map_expressions(|expr| {
            let name = names.save(&expr);
            Ok(renamed_around(expr, &name_of)?.update_data(|expr| name.restore(expr)))
        })?;
        let over = renamed.data.map_children(|around| {
            let all = around.schema().columns().into_iter().map(Expr::Column);
            let named = named.iter().map(|(column, name)| Expr::Column(column.clone()).alias(name));
            let all = all.chain(named).collect::<Vec<_>>();
            LogicalPlanBuilder::from(around).project(all)?.build().map(Transformed::yes)
        })?;
        let over = over.data.recompute_schema()?;
        Ok(Transformed::yes(match over.schema().fields().len() == plan.schema().fields().len() {
            true => over,
            false => like(over, plan.schema())?,
        }))
    }
}

/// The columns around which queries in a node name, and whose names are taken within these.
fn taken(plan: &LogicalPlan, around: &DFSchema) -> Result<Vec<Column>> {
    let mut taken = Vec::new();
    plan.apply_expressions(|expr| {
        if !has_subquery(expr)? {
            return Ok(TreeNodeRecursion::Continue);
        }
        expr.apply(|expr| {
            let Some(query) = query_of(expr) else { return Ok(TreeNodeRecursion::Continue) };
            for column in free(&query.subquery)?.iter().filter_map(column_of) {
                let is_taken = around.has_column(column) && is_within(&query.subquery, column)?;
                if is_taken && !taken.contains(column) {
                    taken.push(column.clone());
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(taken)
}

/// Whether anything within a query has this name.
fn is_within(query: &LogicalPlan, column: &Column) -> Result<bool> {
    let mut found = false;
    query.apply(|node| {
        found = node.schema().maybe_index_of_column(column).is_some();
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// The rows around the queries of a node.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) schema: &'a DFSchema,
    /// Sets names of columns apart.
    pub(super) made: &'a AtomicUsize,
}

impl Around<'_> {
    /// An expression over the row around, as a query sees it.
    pub(super) fn seen(self, value: &Expr) -> Result<Expr> {
        let seen = value.clone().transform_up(|expr| {
            let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
            let (_, field) = self.schema.qualified_field_from_column(column)?;
            let seen = Expr::OuterReferenceColumn(field.clone(), column.clone());
            Ok(Transformed::yes(seen))
        })?;
        Ok(seen.data)
    }

    /// The same query, whose only column has a name of its own where the rows around have one of that name without a table's:
    /// as an aggregate's, beside which DataFusion would not know it again. None where they have none.
    pub(super) fn named_apart(self, query: &Subquery) -> Result<Option<Subquery>> {
        let columns = query.subquery.schema().columns();
        let [column] = columns.as_slice() else { return Ok(None) };
        let mut around = self.schema.iter();
        if !around.any(|(table, field)| table.is_none() && *field.name() == column.name) {
            return Ok(None);
        }
        let rows = LogicalPlanBuilder::new_from_arc(query.subquery.clone());
        let named = Expr::Column(column.clone()).alias(fresh("within", self.made));
        let subquery = Arc::new(rows.project([named])?.build()?);
        Ok(Some(Subquery { subquery, ..query.clone() }))
    }
}

fn fresh(place: &str, made: &AtomicUsize) -> String {
    format!("gadus.{place}{}", made.fetch_add(1, Ordering::Relaxed))
}
