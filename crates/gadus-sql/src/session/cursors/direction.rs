//! Queries whose rows PostgreSQL can also make backwards: a cursor over one of them goes back without SCROLL.
//!
//! - Scans, filters, LIMIT, UNION ALL and sorted rows can; joins, groups, windows and sets cannot, unless they are sorted.

use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, SetOperator, SetQuantifier,
    TableFactor, visit_expressions,
};
use gadus_binder::catalog::FunctionKind;
use gadus_binder::catalog::functions::functions_named;
use std::ops::ControlFlow;

/// Returns true if PostgreSQL's plan of a query scans backwards.
pub(super) fn scans_backward(query: &Query) -> bool {
    let is_ordered = query.order_by.is_some();
    body_scans_backward(&query.body, is_ordered)
}

fn body_scans_backward(body: &SetExpr, is_ordered: bool) -> bool {
    match body {
        SetExpr::Select(select) => select_scans_backward(select, is_ordered),
        SetExpr::Query(query) => is_ordered || scans_backward(query),
        SetExpr::Values(_) | SetExpr::Table(_) => true,
        SetExpr::SetOperation { op, set_quantifier, left, right } => {
            let is_append = *op == SetOperator::Union && *set_quantifier == SetQuantifier::All;
            let parts = [left, right];
            is_ordered || is_append && parts.iter().all(|part| body_scans_backward(part, false))
        }
        _ => false,
    }
}

fn select_scans_backward(select: &Select, is_ordered: bool) -> bool {
    let items = select.projection.iter().filter_map(|item| match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    });
    let calls = items.map(called).collect::<Vec<_>>();
    // Sets are made after the rows are sorted.
    if calls.contains(&Called::Set) {
        return false;
    }
    if is_ordered {
        return true;
    }
    let is_grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(keys, _) => !keys.is_empty(),
    };
    let is_distinct = matches!(select.distinct, Some(Distinct::Distinct | Distinct::On(_)));
    !is_grouped
        && !is_distinct
        && select.having.is_none()
        && !calls.contains(&Called::OfRows)
        && select.from.len() <= 1
        && select.from.iter().all(|from| from.joins.is_empty() && is_scanned(&from.relation))
}

fn is_scanned(relation: &TableFactor) -> bool {
    match relation {
        TableFactor::Table { .. } | TableFactor::Function { .. } => true,
        TableFactor::TableFunction { .. } | TableFactor::UNNEST { .. } => true,
        TableFactor::Derived { subquery, .. } => scans_backward(subquery),
        _ => false,
    }
}

/// Kind of the functions that an expression calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Called {
    Plain,
    /// Aggregates and window functions.
    OfRows,
    Set,
}

fn called(expr: &Expr) -> Called {
    let mut kind = Called::Plain;
    let _ = visit_expressions(expr, |expr| {
        if let Expr::Function(function) = expr {
            let name = function.name.0.last().and_then(|part| part.as_ident());
            let name = name.map_or_else(String::new, |name| name.value.to_lowercase());
            let known = functions_named(&name);
            if known.iter().any(|function| function.returns_set) {
                kind = Called::Set;
            } else if kind == Called::Plain
                && (function.over.is_some()
                    || known.iter().any(|function| function.kind != FunctionKind::Scalar))
            {
                kind = Called::OfRows;
            }
        }
        ControlFlow::<()>::Continue(())
    });
    kind
}
