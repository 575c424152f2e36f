//! Lists of IN with other values than constants, or with NULL.
//!
//! - Of `a IN (1, 2) AND a NOT IN (1, NULL)` DataFusion makes `a IN (2)`, and of `a IN (1, b) AND a NOT IN (1)` it makes `a IN (b)`:
//!   it takes away what is written in the same way, whatever the rest may be.
//! - The rest stands beside the list, as comparisons of its own.

use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Cast, InList};

/// An expression whose list has only constants that are not NULL, and compares the others by themselves.
pub(super) fn of_known_values(expr: Expr) -> Transformed<Expr> {
    let Expr::InList(InList { expr: value, list, negated }) = expr else {
        return Transformed::no(expr);
    };
    if list.iter().all(is_known) || value.is_volatile() {
        return Transformed::no(Expr::InList(InList { expr: value, list, negated }));
    }
    let (known, others): (Vec<_>, Vec<_>) = list.into_iter().partition(is_known);
    let compared = others.into_iter().map(|other| match negated {
        true => Expr::clone(&value).not_eq(other),
        false => Expr::clone(&value).eq(other),
    });
    let of_known = InList { expr: value.clone(), list: known, negated };
    let of_known = (!of_known.list.is_empty()).then_some(Expr::InList(of_known));
    let parts = of_known.into_iter().chain(compared).collect::<Vec<_>>();
    Transformed::yes(combined(parts, negated))
}

/// All of the parts, or any of them, as a tree that is not deep.
fn combined(mut parts: Vec<Expr>, all: bool) -> Expr {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) if all => left.and(right),
                Some(right) => left.or(right),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop().unwrap_or_default()
}

/// Whether an expression is a constant that is not NULL.
fn is_known(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => !value.is_null(),
        Expr::Cast(Cast { expr, .. }) => is_known(expr),
        _ => false,
    }
}
