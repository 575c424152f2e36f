//! How tightly operators bind.
//!
//! - Statements are written out and read again: two signs in a row are kept apart, as `--` begins a comment.
//! - `||` binds less tightly than arithmetic, as in PostgreSQL: `'a' || 5 % 3` is `a2`. The parser binds it like `*`.
//! - What reaches into JSON, as `->>`, binds more tightly than comparisons, and as tightly as `||`: `d ->> 'a' = 'x'` compares
//!   texts. The parser binds it less tightly. It is given parentheses, by which it is read again as it was.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

/// Binds what was parsed as it should be, once its operands are.
pub(super) fn rebind(expr: &mut Expr) {
    if let Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } = expr
        && matches!(**inner, Expr::UnaryOp { op: UnaryOperator::Minus, .. })
    {
        let signed = taken(inner);
        **inner = Expr::Nested(Box::new(signed));
    }
    if is_arrow(expr) {
        return rebind_arrow(expr);
    }
    if let Expr::Nested(inner) = expr
        && matches!(&**inner, Expr::Nested(reached) if is_arrow(reached))
    {
        // It had parentheses.
        *expr = taken(inner);
        return;
    }
    if !is_arithmetic(expr) {
        return;
    }
    let Expr::BinaryOp { left, op, right } = expr else { return };
    let op = op.clone();
    if is_joined(left) {
        // (a || b) * c: the product is of what stands beside its sign.
        let (mut joined, right) = (taken(left), taken(right));
        let beside = last(&mut joined);
        let mut product = binary(taken(beside), op, right);
        rebind(&mut product);
        *beside = product;
        *expr = joined;
    } else if is_joined(right) {
        // a + (b || c)
        let (left, mut joined) = (taken(left), taken(right));
        let beside = first(&mut joined);
        *beside = binary(left, op, taken(beside));
        *expr = joined;
    }
}

/// Binds an operator that reaches into JSON.
fn rebind_arrow(expr: &mut Expr) {
    let Expr::BinaryOp { left, op, right } = expr else { return };
    let (op, mut whole, mut left) = (op.clone(), taken(right), taken(left));
    // d -> ('a' = x), and what is compared there may be compared again.
    let step = leftmost(&mut whole);
    let reached = |document, step| Expr::Nested(Box::new(binary(document, op, step)));
    if let Some(document) = last_operand(&mut left) {
        // (x = d) -> 'a'
        let arrow = reached(taken(document), taken(step));
        *document = arrow;
        *step = left;
    } else {
        let arrow = reached(left, taken(step));
        *step = arrow;
    }
    *expr = whole;
}

/// Whether it reaches into JSON.
pub(super) fn is_arrow(expr: &Expr) -> bool {
    use BinaryOperator::{Arrow, HashArrow, HashLongArrow, LongArrow};
    matches!(expr, Expr::BinaryOp { op: Arrow | LongArrow | HashArrow | HashLongArrow, .. })
}

fn is_comparison(operator: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

/// The first operand of what binds no more tightly than an arrow before it.
fn first_operand(expr: &mut Expr) -> Option<&mut Expr> {
    use BinaryOperator::{
        PGRegexIMatch, PGRegexMatch, PGRegexNotIMatch, PGRegexNotMatch, StringConcat,
    };
    match expr {
        Expr::BinaryOp {
            left,
            op: StringConcat | PGRegexMatch | PGRegexIMatch | PGRegexNotMatch | PGRegexNotIMatch,
            ..
        } => Some(left),
        Expr::BinaryOp { left, op, .. } if is_comparison(op) => Some(left),
        Expr::AnyOp { left, .. } | Expr::AllOp { left, .. } => Some(left),
        Expr::Like { expr, .. }
        | Expr::ILike { expr, .. }
        | Expr::SimilarTo { expr, .. }
        | Expr::Between { expr, .. }
        | Expr::InList { expr, .. }
        | Expr::InSubquery { expr, .. }
        | Expr::IsNull(expr)
        | Expr::IsNotNull(expr)
        | Expr::IsTrue(expr)
        | Expr::IsNotTrue(expr)
        | Expr::IsFalse(expr)
        | Expr::IsNotFalse(expr)
        | Expr::IsDistinctFrom(expr, _)
        | Expr::IsNotDistinctFrom(expr, _) => Some(expr),
        _ => None,
    }
}

/// What an arrow before an expression has on its right.
fn leftmost(expr: &mut Expr) -> &mut Expr {
    match first_operand(expr).is_some() {
        true => first_operand(expr).map_or_else(|| unreachable!("it was there"), leftmost),
        false => expr,
    }
}

/// The last operand of what binds less tightly than an arrow behind it.
fn last_operand(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::BinaryOp { right, op, .. } if is_comparison(op) => Some(right),
        Expr::Like { pattern, .. } | Expr::ILike { pattern, .. } => Some(pattern),
        Expr::Between { high, .. } => Some(high),
        Expr::IsDistinctFrom(_, last) | Expr::IsNotDistinctFrom(_, last) => Some(last),
        _ => None,
    }
}

fn is_arithmetic(expr: &Expr) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    matches!(expr, Expr::BinaryOp { op: Plus | Minus | Multiply | Divide | Modulo, .. })
}

/// Whether it is `a || b`, without parentheses.
fn is_joined(expr: &Expr) -> bool {
    matches!(expr, Expr::BinaryOp { op: BinaryOperator::StringConcat, .. })
}

/// The last of what is joined.
fn last(mut expr: &mut Expr) -> &mut Expr {
    while is_joined(expr) {
        let Expr::BinaryOp { right, .. } = expr else { break };
        expr = right;
    }
    expr
}

/// The first of what is joined.
fn first(mut expr: &mut Expr) -> &mut Expr {
    while is_joined(expr) {
        let Expr::BinaryOp { left, .. } = expr else { break };
        expr = left;
    }
    expr
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn taken(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::value(Value::Null))
}

#[cfg(test)]
mod tests;
