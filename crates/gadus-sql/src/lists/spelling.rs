//! Statements about lists, in words that mean here what they mean in SQL.

use super::list_elements;
use super::of_query::{list_of_query, query_of};
use super::quantified::{Quantifier, function_name};
use super::tables::{list_of_rows, respelled};
use datafusion::sql::sqlparser::ast::{
    Array, BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, Statement, TableFactor, Value as SqlValue, VisitMut,
    VisitorMut,
};
use datafusion::sql::sqlparser::parser::ParserError;
use std::ops::ControlFlow;

/// Replaces comparisons with ANY and ALL, lists as tables, and lists of queries.
pub(crate) fn respell(statement: &mut Statement) -> Result<(), ParserError> {
    match statement.visit(&mut Spelling) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = ParserError;

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<ParserError> {
        if let Some(respelled) = respelled(table) {
            *table = respelled;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<ParserError> {
        let replaced = match &mut *expr {
            Expr::AnyOp { left, compare_op, right, .. } => {
                quantified(Quantifier::Any, left, compare_op, right)
            }
            Expr::AllOp { left, compare_op, right } => {
                quantified(Quantifier::All, left, compare_op, right)
            }
            Expr::Function(function) if set_returning(function).is_some() => {
                set_returning(function)
            }
            other => match query_of(other).map(list_of_query).transpose() {
                Ok(list) => list,
                Err(error) => return ControlFlow::Break(error),
            },
        };
        if let Some(replaced) = replaced {
            *expr = replaced;
        }
        ControlFlow::Continue(())
    }
}

/// A call that gives rows, as the elements of a list.
fn set_returning(function: &Function) -> Option<Expr> {
    let list = list_of_rows(&function.name.to_string().to_lowercase())?;
    let FunctionArguments::List(arguments) = &function.args else { return None };
    let plain = arguments.args.iter().map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Some(expr.clone()),
        _ => None,
    });
    Some(call("unnest", vec![call(list, plain.collect::<Option<Vec<_>>>()?)]))
}

/// A comparison with the elements of a list, or the rows of a query; none where DataFusion's is right, or
/// there is none.
fn quantified(
    quantifier: Quantifier,
    left: &mut Expr,
    operator: &BinaryOperator,
    right: &mut Expr,
) -> Option<Expr> {
    let negated = match (quantifier, operator) {
        (Quantifier::Any, BinaryOperator::Eq) => Some(false),
        (Quantifier::All, BinaryOperator::NotEq) => Some(true),
        _ => None,
    };
    if matches!(right, Expr::Subquery(_)) {
        let negated = negated?;
        let (expr, Expr::Subquery(subquery)) = (taken(left), *taken(right)) else { return None };
        return Some(Expr::InSubquery { expr, subquery, negated });
    }
    if let (Some(negated), Expr::Array(Array { elem, .. })) = (negated, &mut *right)
        && !elem.is_empty()
    {
        let list = std::mem::take(elem);
        return Some(Expr::InList { expr: taken(left), list, negated });
    }
    let name = function_name(quantifier, operator)?;
    let list = list_of(right).unwrap_or_else(|| *taken(right));
    Some(call(&name, vec![*taken(left), list]))
}

/// A text literal that is a list, with texts as its elements.
fn list_of(expr: &Expr) -> Option<Expr> {
    let Expr::Value(literal) = expr else { return None };
    let SqlValue::SingleQuotedString(text) = &literal.value else { return None };
    let element = |element: Option<String>| {
        let value = element.map_or(SqlValue::Null, SqlValue::SingleQuotedString);
        Expr::Value(value.into())
    };
    let elem = list_elements(text)?.into_iter().map(element).collect();
    Some(Expr::Array(Array { elem, named: true }))
}

fn taken(expr: &mut Expr) -> Box<Expr> {
    Box::new(std::mem::replace(expr, Expr::Value(SqlValue::Null.into())))
}

/// A call of a function.
pub(crate) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let arguments = arguments.into_iter().map(FunctionArgExpr::Expr).map(FunctionArg::Unnamed);
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}
