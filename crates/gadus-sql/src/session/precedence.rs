//! How tightly operators bind.
//!
//! - Statements are written out and read again: two signs in a row are kept apart, as `--` begins a comment.
//! - `||` binds less tightly than arithmetic, as in PostgreSQL: `'a' || 5 % 3` is `a2`. The parser binds it like `*`.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

/// Binds what was parsed as it should be, once its operands are.
pub(super) fn rebind(expr: &mut Expr) {
    if let Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } = expr
        && matches!(**inner, Expr::UnaryOp { op: UnaryOperator::Minus, .. })
    {
        let signed = taken(inner);
        **inner = Expr::Nested(Box::new(signed));
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
mod tests {
    use crate::session::parse::parse;
    use datafusion::sql::sqlparser::ast::{Expr, SelectItem, SetExpr, Statement};

    /// With parentheses around each operation, and brackets for those that were written.
    fn bound(expr: &Expr) -> String {
        match expr {
            Expr::BinaryOp { left, op, right } => {
                format!("({} {op} {})", bound(left), bound(right))
            }
            Expr::Nested(inner) => format!("[{}]", bound(inner)),
            other => other.to_string(),
        }
    }

    fn parsed(text: &str) -> String {
        let prepared = parse(&format!("SELECT {text}")).unwrap();
        let Statement::Query(query) = prepared.statement() else { panic!("{text}") };
        let SetExpr::Select(select) = &*query.body else { panic!("{text}") };
        let SelectItem::UnnamedExpr(expr) = &select.projection[0] else { panic!("{text}") };
        bound(expr)
    }

    #[test]
    fn texts_are_joined_after_arithmetic() {
        for (text, expected) in [
            ("'a' || 5 % 3", "('a' || (5 % 3))"),
            ("1 + 2 || 'a'", "((1 + 2) || 'a')"),
            ("'a' || 1 + 2 * 3 || 'b'", "('a' || ((1 + (2 * 3)) || 'b'))"),
            ("'a' || 5 % 3 + 1", "('a' || ((5 % 3) + 1))"),
            ("1 - 2 + x || y - 4", "(((1 - 2) + x) || (y - 4))"),
            ("a || b - c * d || e", "(a || ((b - (c * d)) || e))"),
            ("(a || b) * c", "([(a || b)] * c)"),
            ("a || b || c", "((a || b) || c)"),
            ("a || b = c + d", "((a || b) = (c + d))"),
            ("-a || -b + 1", "(-a || (-b + 1))"),
            ("- - -a", "-(-(-a))"),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
    }
}
