//! From text to one statement.

use super::Prepared;
use super::chains::{Levels, check_words};
use crate::error::{from_parser, input};
use crate::room::with_room;
use datafusion::sql::sqlparser::ast::{
    Expr, TableFactor, Value as SqlValue, ValueWithSpan, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::Tokenizer;
use gadus_engine::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Nesting that the parser follows.
const NESTING_MAX: usize = 128;

/// Parses one statement.
pub(crate) fn parse(text: &str) -> Result<Prepared> {
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text)
        .tokenize_with_location()
        .map_err(|error| from_parser(&error.into()))?;
    let is_deep = check_words(&tokens)?;
    // With what is dropped where it fails.
    with_room(is_deep, || {
        let mut statements = Parser::new(&dialect)
            .with_recursion_limit(NESTING_MAX)
            .with_tokens_with_locations(tokens)
            .parse_statements()
            .map_err(|error| from_parser(&error))?;
        if statements.len() > 1 {
            return Err(input("one statement at a time: split the script at its semicolons"));
        }
        let mut statement = statements.pop().ok_or_else(|| input("there is no statement"))?;
        let mut reading = Reading::default();
        if let ControlFlow::Break(error) = statement.visit(&mut reading) {
            return Err(error);
        }
        let (text, parameters) = (Arc::from(text), reading.greatest_parameter);
        let is_deep = is_deep || reading.levels.is_deep();
        Ok(Prepared { text, statement: Arc::new(statement), parameters, is_deep })
    })
}

/// Goes through a statement: gives `?` parameters their numbers, and bounds its levels.
#[derive(Default)]
struct Reading {
    levels: Levels,
    anonymous_parameters: usize,
    greatest_parameter: usize,
}

impl Reading {
    fn number(&mut self, name: &mut String) -> Result<()> {
        if name == "?" {
            self.anonymous_parameters += 1;
            *name = format!("${}", self.anonymous_parameters);
        }
        match name.strip_prefix('$').and_then(|digits| digits.parse().ok()) {
            Some(number @ 1..=65_535) => {
                self.greatest_parameter = self.greatest_parameter.max(number);
                Ok(())
            }
            _ => Err(input(format!("parameters are ? or $1 to $65535, not {name}"))),
        }
    }
}

impl VisitorMut for Reading {
    type Break = Error;

    fn pre_visit_table_factor(&mut self, _table: &mut TableFactor) -> ControlFlow<Error> {
        or_break(self.levels.table())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        or_break(match expr {
            Expr::Value(ValueWithSpan { value: SqlValue::Placeholder(name), .. }) => {
                self.number(name)
            }
            _ => Ok(()),
        })?;
        or_break(self.levels.enter(expr))
    }

    fn post_visit_expr(&mut self, _expr: &mut Expr) -> ControlFlow<Error> {
        self.levels.leave();
        ControlFlow::Continue(())
    }
}

fn or_break(result: Result<()>) -> ControlFlow<Error> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}
