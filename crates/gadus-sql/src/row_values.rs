//! Rows of values: `(a, b) = (1, 2)`, `(a, b) < (1, 2)`, `(a, b) IN (SELECT …)`.
//!
//! - DataFusion makes structures of them, which are never unknown: `NOT (a, b) = (1, 2)` gave rows in which `b` is NULL.
//!   Here they are compared value by value, as SQL says, and a query of rows is asked whether it has an equal one.
//! - IN of a filter is EXISTS, of which DataFusion makes a join; elsewhere it is a value of three.

use crate::error::or_break;
use crate::session::NESTING_MAX;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, Query,
    SetExpr, Statement, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::ops::ControlFlow;

/// What the rows of a query are called.
const ROW: &str = "gadus.row";

/// Says what is done with rows by their values.
pub(crate) fn respell(statement: &mut Statement) -> Result<(), ParserError> {
    match VisitMut::visit(statement, &mut Spelling) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ParserError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<ParserError> {
        or_break(in_body(&mut query.body))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<ParserError> {
        or_break(spelled(expr).map(|spelled| {
            if let Some(spelled) = spelled {
                *expr = spelled;
            }
        }))
    }
}

fn in_body(body: &mut SetExpr) -> Result<(), ParserError> {
    match body {
        SetExpr::Select(select) => select.selection.as_mut().map_or(Ok(()), in_filter),
        SetExpr::SetOperation { left, right, .. } => {
            in_body(left)?;
            in_body(right)
        }
        // A query of its own is visited as such.
        _ => Ok(()),
    }
}

/// IN of a filter: nobody asks there whether it is false or unknown.
fn in_filter(condition: &mut Expr) -> Result<(), ParserError> {
    match condition {
        Expr::Nested(inner) => in_filter(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            in_filter(left)?;
            in_filter(right)
        }
        Expr::InSubquery { expr, subquery, negated } => {
            let Some(values) = values(expr) else { return Ok(()) };
            let (equal, columns) = (equal_row(&values), values.len());
            let text = match negated {
                false => exists(subquery, columns, &equal),
                true => {
                    format!("NOT {}", exists(subquery, columns, &format!("({equal}) IS NOT FALSE")))
                }
            };
            *condition = parsed(&text)?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What is said instead of an expression; none where it is not of rows.
fn spelled(expr: &Expr) -> Result<Option<Expr>, ParserError> {
    let text = match expr {
        Expr::BinaryOp { left, op, right } => match (values(left), values(right)) {
            (Some(left), Some(right)) if left.len() == right.len() => compared(op, &left, &right),
            (Some(left), None) => match &**right {
                Expr::Subquery(query) => compared(op, &left, &names(left.len())).map(|compared| {
                    format!("(SELECT {compared} FROM {})", rows(query, left.len()))
                }),
                _ => None,
            },
            _ => None,
        },
        Expr::IsNull(expr) => values(expr).map(|values| all(&values, "IS NULL")),
        Expr::IsNotNull(expr) => values(expr).map(|values| all(&values, "IS NOT NULL")),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            let (word, joined) = match expr {
                Expr::IsDistinctFrom(..) => ("IS DISTINCT FROM", " OR "),
                _ => ("IS NOT DISTINCT FROM", " AND "),
            };
            both(left, right).map(|(left, right)| each(&left, word, &right, joined))
        }
        Expr::InList { expr, list, negated } => values(expr).and_then(|left| {
            let equal = |right: &Expr| {
                let right = values(right).filter(|right| right.len() == left.len())?;
                compared(&BinaryOperator::Eq, &left, &right)
            };
            let any = either(list.iter().map(equal).collect::<Option<Vec<_>>>()?);
            Some(if *negated { format!("NOT ({any})") } else { any })
        }),
        Expr::InSubquery { expr, subquery, negated } => values(expr).map(|left| {
            let equal = equal_row(&left);
            let is_there = exists(subquery, left.len(), &equal);
            let is_unknown = exists(subquery, left.len(), &format!("({equal}) IS NULL"));
            let (found, missing) = if *negated { ("FALSE", "TRUE") } else { ("TRUE", "FALSE") };
            format!(
                "CASE WHEN {is_there} THEN {found} WHEN {is_unknown} THEN NULL ELSE {missing} END"
            )
        }),
        _ => None,
    };
    text.map(|text| parsed(&format!("({text})"))).transpose()
}

fn parsed(text: &str) -> Result<Expr, ParserError> {
    let parser = Parser::new(&GenericDialect {}).with_recursion_limit(NESTING_MAX);
    parser.try_with_sql(text)?.parse_expr()
}

/// The texts of a row's values; none where it is no row.
fn values(expr: &Expr) -> Option<Vec<String>> {
    let text = |value: &Expr| format!("({value})");
    match expr {
        Expr::Nested(inner) => values(inner),
        Expr::Tuple(values) if !values.is_empty() => Some(values.iter().map(text).collect()),
        Expr::Function(call) => Some(values_of_row(call)?.into_iter().map(text).collect()),
        _ => None,
    }
}

/// The values of `ROW (…)`, which reads like a call.
pub(crate) fn values_of_row(call: &Function) -> Option<Vec<&Expr>> {
    let [name] = call.name.0.as_slice() else { return None };
    if !name.as_ident().is_some_and(|name| name.value.eq_ignore_ascii_case("row")) {
        return None;
    }
    let FunctionArguments::List(list) = &call.args else { return None };
    let value = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref value)) => Some(value),
        _ => None,
    };
    list.args.iter().map(value).collect()
}

fn both(left: &Expr, right: &Expr) -> Option<(Vec<String>, Vec<String>)> {
    let both = (values(left)?, values(right)?);
    (both.0.len() == both.1.len()).then_some(both)
}

/// Whether one of many conditions holds, in few levels.
fn either(mut conditions: Vec<String>) -> String {
    while conditions.len() > 1 {
        let pairs = conditions.chunks(2).map(|pair| match pair {
            [one] => one.clone(),
            pair => format!("({})", pair.join(" OR ")),
        });
        conditions = pairs.collect();
    }
    conditions.pop().unwrap_or_default()
}

fn all(values: &[String], condition: &str) -> String {
    let each = values.iter().map(|value| format!("{value} {condition}"));
    each.collect::<Vec<_>>().join(" AND ")
}

fn each(left: &[String], operator: &str, right: &[String], joined: &str) -> String {
    let both = left.iter().zip(right).map(|(left, right)| format!("({left} {operator} {right})"));
    both.collect::<Vec<_>>().join(joined)
}

/// A comparison of rows, of which the first values that are not equal decide.
fn compared(operator: &BinaryOperator, left: &[String], right: &[String]) -> Option<String> {
    let strict = match operator {
        BinaryOperator::Eq => return Some(each(left, "=", right, " AND ")),
        BinaryOperator::NotEq => return Some(each(left, "<>", right, " OR ")),
        BinaryOperator::Lt | BinaryOperator::LtEq => "<",
        BinaryOperator::Gt | BinaryOperator::GtEq => ">",
        _ => return None,
    };
    let mut pairs = left.iter().zip(right).rev();
    let (last_left, last_right) = pairs.next()?;
    let last = format!("{last_left} {operator} {last_right}");
    Some(pairs.fold(last, |rest, (left, right)| {
        format!("{left} {strict} {right} OR {left} = {right} AND ({rest})")
    }))
}

/// The values of such a row.
pub(crate) fn names(columns: usize) -> Vec<String> {
    let row = Ident::with_quote('"', ROW);
    (0..columns).map(|column| format!("{row}.{}", name(column))).collect()
}

/// A name that no column around a query has.
fn name(column: usize) -> Ident {
    Ident::with_quote('"', format!("{ROW}{column}"))
}

/// The rows of a query as a table.
pub(crate) fn rows(query: &Query, columns: usize) -> String {
    let names = (0..columns).map(|column| name(column).to_string()).collect::<Vec<_>>().join(", ");
    format!("({query}) AS {} ({names})", Ident::with_quote('"', ROW))
}

fn equal_row(values: &[String]) -> String {
    each(values, "=", &names(values.len()), " AND ")
}

/// Whether a row of so many values of a query meets a condition.
fn exists(query: &Query, columns: usize, condition: &str) -> String {
    format!("EXISTS (SELECT 1 FROM {} WHERE {condition})", rows(query, columns))
}
