//! Grouping columns that nothing above reads and that others determine.
//!
//! - A select list may name any column of a table whose primary key is grouped by; for that, DataFusion adds all of
//!   the table's columns to the groups. It drops those that are not read, unless some group is an expression, as a
//!   renamed key is.
//! - Groups that stayed would be read, hashed, sorted and spilled with each row.

use crate::subqueries::has_subquery;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection};
use std::collections::HashSet;
use std::sync::Arc;

/// Returns a projection over groups without such columns; none where there are none.
pub(super) fn without_unused_groups(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let LogicalPlan::Projection(Projection { input, .. }) = plan else { return Ok(None) };
    let Some(read) = read_by(plan, HashSet::new()) else { return Ok(None) };
    let Some(input) = narrowed(input, read)? else { return Ok(None) };
    plan.with_new_exprs(plan.expressions(), vec![input]).map(Some)
}

/// Returns the columns that a node's expressions read, and those that are read above it; none where a subquery may
/// read others.
fn read_by(plan: &LogicalPlan, mut above: HashSet<Column>) -> Option<HashSet<Column>> {
    for expr in plan.expressions() {
        if has_subquery(&expr).unwrap_or(true) {
            return None;
        }
        above.extend(expr.column_refs().into_iter().cloned());
    }
    Some(above)
}

/// Returns a node over groups without such columns, of which these columns are read.
fn narrowed(plan: &LogicalPlan, read: HashSet<Column>) -> Result<Option<LogicalPlan>> {
    match plan {
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Window(_) => {
            let Some(read) = read_by(plan, read) else { return Ok(None) };
            let inputs = plan.inputs();
            let Some(input) = narrowed(inputs[0], read)? else { return Ok(None) };
            plan.with_new_exprs(plan.expressions(), vec![input]).map(Some)
        }
        LogicalPlan::Projection(Projection { expr, input, schema, .. }) => {
            let outputs = schema.iter().map(Column::from);
            let kept = expr.iter().zip(outputs).filter(|(_, output)| read.contains(output));
            let kept = kept.map(|(expr, _)| expr.clone()).collect::<Vec<_>>();
            if kept.is_empty() {
                return Ok(None);
            }
            let columns = kept.iter().flat_map(Expr::column_refs).cloned().collect();
            let Some(input) = narrowed(input, columns)? else { return Ok(None) };
            Projection::try_new(kept, Arc::new(input))
                .map(|plan| Some(LogicalPlan::Projection(plan)))
        }
        LogicalPlan::Aggregate(aggregate) => narrowed_groups(aggregate, &read),
        _ => Ok(None),
    }
}

fn narrowed_groups(aggregate: &Aggregate, read: &HashSet<Column>) -> Result<Option<LogicalPlan>> {
    let Aggregate { input, group_expr, aggr_expr, schema, .. } = aggregate;
    let place = |expr: &Expr| match expr.clone().unalias() {
        Expr::Column(column) => input.schema().maybe_index_of_column(&column),
        _ => None,
    };
    if group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_))) {
        return Ok(None);
    }
    let mut kept = group_expr.iter().map(place).collect::<Vec<_>>();
    let mut dropped = HashSet::new();
    let dependencies = input.schema().functional_dependencies();
    for (group, output) in schema.iter().map(Column::from).enumerate().take(group_expr.len()) {
        let Some(column) = kept[group].filter(|_| !read.contains(&output)) else { continue };
        let determines = dependencies.iter().any(|dependency| {
            let sources = &dependency.source_indices;
            !dependency.nullable
                && dependency.target_indices.contains(&column)
                && !sources.contains(&column)
                && sources.iter().all(|source| kept.contains(&Some(*source)))
        });
        if determines {
            kept[group] = None;
            dropped.insert(group);
        }
    }
    if dropped.is_empty() {
        return Ok(None);
    }
    let groups = group_expr.iter().enumerate().filter(|(group, _)| !dropped.contains(group));
    let groups = groups.map(|(_, expr)| expr.clone()).collect();
    let narrowed = Aggregate::try_new(input.clone(), groups, aggr_expr.clone())?;
    Ok(Some(LogicalPlan::Aggregate(narrowed)))
}
