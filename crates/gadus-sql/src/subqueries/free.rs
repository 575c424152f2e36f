//! What a query names of the rows around it, at any distance.
//!
//! A query within it may name something of the rows right around that, which is the query's own; the rest is further out.

use super::{is_subquery, query_of};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use std::sync::Arc;

/// What a query names of rows around it, each once.
pub(super) fn free(query: &LogicalPlan) -> Result<Vec<Expr>> {
    let mut found = Vec::new();
    query.apply(|node| {
        add_of_node(node, &mut found)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// Whether a query names anything of rows around it.
pub(super) fn depends(query: &LogicalPlan) -> Result<bool> {
    let mut found = Vec::new();
    query.apply(|node| {
        add_of_node(node, &mut found)?;
        Ok(match found.is_empty() {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        })
    })?;
    Ok(!found.is_empty())
}

/// Whether an expression does, which stands over rows of this schema.
pub(super) fn depends_in(expr: &Expr, own: &DFSchema) -> Result<bool> {
    let mut found = Vec::new();
    add(expr, own, &mut found)?;
    Ok(!found.is_empty())
}

/// The column that is named.
pub(super) fn column_of(free: &Expr) -> Option<&Column> {
    match free {
        Expr::OuterReferenceColumn(_, column) => Some(column),
        _ => None,
    }
}

fn add_of_node(node: &LogicalPlan, found: &mut Vec<Expr>) -> Result<()> {
    let mut any = false;
    node.apply_expressions(|expr| {
        any = any
            || expr.exists(|expr| {
                Ok(is_subquery(expr) || matches!(expr, Expr::OuterReferenceColumn(..)))
            })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !any {
        return Ok(());
    }
    let own = merge_schema(&node.inputs());
    node.apply_expressions(|expr| {
        add(expr, &own, found)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

fn add(expr: &Expr, own: &DFSchema, found: &mut Vec<Expr>) -> Result<()> {
    expr.apply(|expr| {
        match expr {
            Expr::OuterReferenceColumn(..) if !found.contains(expr) => found.push(expr.clone()),
            expr => {
                let Some(within) = query_of(expr) else { return Ok(TreeNodeRecursion::Continue) };
                for free in free(&within.subquery)? {
                    let is_own = column_of(&free).is_some_and(|column| own.has_column(column));
                    if !is_own && !found.contains(&free) {
                        found.push(free);
                    }
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// An expression over rows of this schema, with what it names of rows around replaced: by columns where it is its own, and
/// by what is around for queries within.
pub(super) fn replaced(
    expr: Expr,
    own: &DFSchema,
    column: &dyn Fn(&Column) -> Option<Column>,
) -> Result<Expr> {
    let done = expr.transform_up(|expr| {
        if let Expr::OuterReferenceColumn(_, named) = &expr
            && let Some(column) = column(named)
        {
            return Ok(Transformed::yes(Expr::Column(column)));
        }
        with_query(expr, |query| within(query, &[own], column))
    });
    done.map(|done| done.data)
}

/// An expression that is a query, with another one.
fn with_query(
    expr: Expr,
    change: impl FnOnce(Subquery) -> Result<Subquery>,
) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::ScalarSubquery(query) => Transformed::yes(Expr::ScalarSubquery(change(query)?)),
        Expr::Exists(Exists { subquery, negated }) => {
            Transformed::yes(Expr::Exists(Exists { subquery: change(subquery)?, negated }))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let subquery = change(subquery)?;
            Transformed::yes(Expr::InSubquery(InSubquery { expr, subquery, negated }))
        }
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            let subquery = change(subquery)?;
            Transformed::yes(Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }))
        }
        other => Transformed::no(other),
    })
}

/// An expression with columns around its queries under other names.
pub(super) fn renamed_around(
    expr: Expr,
    column: &dyn Fn(&Column) -> Option<Column>,
) -> Result<Transformed<Expr>> {
    expr.transform_up(|expr| with_query(expr, |query| within(query, &[], column)))
}

/// A query within others, with what it names that is none of theirs replaced.
fn within(
    query: Subquery,
    around: &[&DFSchema],
    column: &dyn Fn(&Column) -> Option<Column>,
) -> Result<Subquery> {
    let plan = Arc::unwrap_or_clone(query.subquery).transform_up(|node| {
        let own = merge_schema(&node.inputs());
        let around = around.iter().copied().chain([&own]).collect::<Vec<_>>();
        let changed = node.map_expressions(|expr| {
            expr.transform_up(|expr| {
                if let Expr::OuterReferenceColumn(field, named) = &expr
                    && !around[..around.len() - 1].iter().any(|own| own.has_column(named))
                    && let Some(column) = column(named)
                {
                    let outer = Expr::OuterReferenceColumn(field.clone(), column);
                    return Ok(Transformed::yes(outer));
                }
                with_query(expr, |query| within(query, &around, column))
            })
        })?;
        Ok(changed)
    })?;
    let outer_ref_columns = free(&plan.data)?;
    Ok(Subquery { subquery: Arc::new(plan.data), outer_ref_columns, spans: query.spans })
}
