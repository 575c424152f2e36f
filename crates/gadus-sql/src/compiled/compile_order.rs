//! ORDER BY, LIMIT and OFFSET of a parse tree, compiled.

use super::compile::operand;
use super::order::{Order, SortBy};
use crate::session::folded;
use arrow::compute::SortOptions;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, LimitClause, OrderByExpr, OrderByKind, Query, SelectItem, Value as SqlValue,
};

/// The order of a query; `column` says what an expression is ordered by, if it may.
pub(super) fn order(query: &Query, column: impl Fn(&Expr) -> Option<usize>) -> Option<Order> {
    let by = match &query.order_by {
        None => Vec::new(),
        Some(order) => match &order.kind {
            OrderByKind::Expressions(expressions) if order.interpolate.is_none() => {
                let sort = |by: &OrderByExpr| sort_by(by, &column);
                expressions.iter().map(sort).collect::<Option<Vec<_>>>()?
            }
            _ => return None,
        },
    };
    let (limit, offset) = match &query.limit_clause {
        None => (None, None),
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) if limit_by.is_empty() => {
            (limit.as_ref(), offset.as_ref().map(|offset| &offset.value))
        }
        Some(_) => return None,
    };
    Some(Order {
        by,
        limit: match limit {
            Some(limit) => Some(operand(limit)?),
            None => None,
        },
        offset: match offset {
            Some(offset) => Some(operand(offset)?),
            None => None,
        },
    })
}

fn sort_by(by: &OrderByExpr, column: impl Fn(&Expr) -> Option<usize>) -> Option<SortBy> {
    if by.with_fill.is_some() {
        return None;
    }
    let descending = by.options.asc == Some(false);
    // NULL counts as greater than all values.
    let nulls_first = by.options.nulls_first.unwrap_or(descending);
    Some(SortBy { column: column(&by.expr)?, options: SortOptions { descending, nulls_first } })
}

/// The item of a projection that an expression of ORDER BY or GROUP BY names: by its place, by its
/// alias, or by being the same.
pub(super) fn named_item(expr: &Expr, items: &[SelectItem]) -> Option<usize> {
    if let Some(place) = ordinal(expr) {
        return place.checked_sub(1).filter(|place| *place < items.len());
    }
    let is_alias =
        |alias: &Ident| matches!(expr, Expr::Identifier(name) if folded(name) == folded(alias));
    let by_alias = |item: &SelectItem| matches!(item, SelectItem::ExprWithAlias { alias, .. } if is_alias(alias));
    let is_same = |item: &SelectItem| match item {
        SelectItem::UnnamedExpr(same) | SelectItem::ExprWithAlias { expr: same, .. } => {
            same == expr
        }
        _ => false,
    };
    items.iter().position(by_alias).or_else(|| items.iter().position(is_same))
}

fn ordinal(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Value(value) => match &value.value {
            SqlValue::Number(digits, false) => digits.to_string().parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
