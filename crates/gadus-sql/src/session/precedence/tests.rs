//! Operators as they bind.

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
    bound(&expression(text))
}

fn written(text: &str) -> String {
    expression(text).to_string()
}

fn expression(text: &str) -> Expr {
    let prepared = parse(&format!("SELECT {text}")).unwrap();
    let Statement::Query(query) = prepared.statement() else { panic!("{text}") };
    let SetExpr::Select(select) = &*query.body else { panic!("{text}") };
    let SelectItem::UnnamedExpr(expr) = &select.projection[0] else { panic!("{text}") };
    expr.clone()
}

/// As PostgreSQL 15 binds them.
#[test]
fn what_reaches_into_json_binds_before_comparisons() {
    for (text, expected) in [
        ("d ->> 'a' = 'x'", "([(d ->> 'a')] = 'x')"),
        ("d -> 'a' ->> 'b' = 'x'", "([([(d -> 'a')] ->> 'b')] = 'x')"),
        ("x = d -> 'a' ->> 'b'", "(x = [([(d -> 'a')] ->> 'b')])"),
        ("d ->> 'a' <> e ->> 'b'", "([(d ->> 'a')] <> [(e ->> 'b')])"),
        ("d ->> 'a' || 'x' = y", "(([(d ->> 'a')] || 'x') = y)"),
        ("d -> 1 + 1", "[(d -> (1 + 1))]"),
        ("(x = d) ->> 'a'", "[([(x = d)] ->> 'a')]"),
        ("x = 1 AND d #>> '{a}' > 'b' OR y", "(((x = 1) AND ([(d #>> '{a}')] > 'b')) OR y)"),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
        assert_eq!(parsed(&written(text)), expected, "{text}");
    }
    for (text, expected) in [
        ("NOT d ->> 'a' LIKE 'x%'", "NOT (d ->> 'a') LIKE 'x%'"),
        ("d ->> 'a' IS NULL", "(d ->> 'a') IS NULL"),
        ("d ->> 'a' NOT IN ('x', 'y')", "(d ->> 'a') NOT IN ('x', 'y')"),
        ("d ->> 'a' BETWEEN 'x' AND d ->> 'b'", "(d ->> 'a') BETWEEN 'x' AND (d ->> 'b')"),
        ("d ->> 'a' IS DISTINCT FROM d -> 'b'", "(d ->> 'a') IS DISTINCT FROM (d -> 'b')"),
        ("d ->> 'n'::INT", "(d ->> 'n'::INT)"),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
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
