//! Which columns of groups determine which.
//!
//! - DataFusion takes a key of what is grouped for a key of the groups: in `GROUP BY n.id, m.a` it believes that
//!   `n.id`, the primary key of `n`, determines `m.a`. It then drops `m.a` from an ORDER BY, and joins that can give
//!   several rows.
//! - Before all its rules, such keys are renamed in the grouping, and named back above it: then it knows of no key but
//!   all columns together, which is right. It also keeps groups then that nothing reads: those are dropped here, too.

use super::unused_groups::without_unused_groups;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, DFSchemaRef, Result, TableReference};
use datafusion::logical_expr::{Aggregate, Distinct, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Renames keys that groups do not have.
#[derive(Debug, Default)]
pub(crate) struct KeysOfGroups {
    /// Sets its names apart.
    made: AtomicUsize,
}

impl OptimizerRule for KeysOfGroups {
    fn name(&self) -> &'static str {
        "keys_of_groups"
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let mut is_changed = false;
        plan.transform_up_with_subqueries(|plan| {
            // What it believes of its input may have changed.
            let plan = if is_changed { plan.recompute_schema()? } else { plan };
            let changed = match self.renamed(&plan)? {
                None => without_unused_groups(&plan)?,
                renamed => renamed,
            };
            is_changed |= changed.is_some();
            Ok(Transformed::new_transformed(changed.unwrap_or(plan), is_changed))
        })
    }
}

impl KeysOfGroups {
    /// The same groups, without keys that they do not have; none where they have those.
    fn renamed(&self, plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let (input, groups, aggregates) = match plan {
            LogicalPlan::Aggregate(Aggregate { input, group_expr, aggr_expr, .. }) => {
                (input, group_expr.clone(), aggr_expr.clone())
            }
            LogicalPlan::Distinct(Distinct::All(input)) => {
                let columns = input.schema().iter().map(|field| Expr::Column(field.into()));
                (input, columns.collect(), Vec::new())
            }
            _ => return Ok(None),
        };
        let keys = no_keys(input.schema(), &groups);
        if keys.is_empty() {
            return Ok(None);
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = |place: usize| format!("gadus.key{number}_{place}");
        let is_key = |expr: &Expr| matches!(expr, Expr::Column(column) if keys.contains(column));
        let renamed = groups.iter().enumerate().map(|(place, expr)| match is_key(expr) {
            true => expr.clone().alias(name(place)),
            false => expr.clone(),
        });
        let grouped = Aggregate::try_new(input.clone(), renamed.collect(), aggregates)?;
        let schema: DFSchemaRef = plan.schema().clone();
        let named = |(place, field): (usize, (Option<&TableReference>, &FieldRef))| {
            if groups.get(place).is_some_and(is_key) {
                let column = Expr::Column(Column::new_unqualified(name(place)));
                return column.alias_qualified(field.0.cloned(), field.1.name());
            }
            Expr::Column(field.into())
        };
        let named = schema.iter().enumerate().map(named).collect::<Vec<_>>();
        let grouped = LogicalPlan::Aggregate(grouped);
        LogicalPlanBuilder::from(Arc::new(grouped)).project(named)?.build().map(Some)
    }
}

/// The columns that are a key of what is grouped, all of which are among the groups, and which do not determine
/// all of those.
fn no_keys(schema: &DFSchema, groups: &[Expr]) -> BTreeSet<Column> {
    let place = |expr: &Expr| match expr {
        Expr::Column(column) => schema.maybe_index_of_column(column),
        _ => None,
    };
    let grouped = groups.iter().map(place).collect::<Vec<_>>();
    let mut keys = BTreeSet::new();
    for dependency in schema.functional_dependencies().iter() {
        let sources = &dependency.source_indices;
        let determines = |place: &Option<usize>| {
            place.is_some_and(|place| {
                sources.contains(&place) || dependency.target_indices.contains(&place)
            })
        };
        let is_grouped = sources.iter().all(|source| grouped.contains(&Some(*source)));
        if is_grouped && !grouped.iter().all(determines) {
            keys.extend(sources.iter().map(|&source| Column::from(schema.qualified_field(source))));
        }
    }
    keys
}
