//! `current_setting('name')` and `set_config('name', 'value', is_local)` in statements: what they give takes
//! their place before the statement is planned.
//!
//! - Names and values are literals, parameters, such calls, and texts that are put together of them; what is
//!   computed from rows is refused as unknown functions are.

use super::settings::Assignment;
use super::variables::unknown;
use super::{Prepared, Session, State};
use crate::value::Value;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, SelectItem, SetExpr, Statement, Value as SqlValue, ValueWithSpan,
    VisitMut, VisitorMut,
};
use gadus_engine::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Set,
}

impl Session {
    /// A statement with what its settings are, having set what it sets; none where it does neither.
    /// Without parameters it is only described, and sets nothing.
    ///
    /// # Errors
    /// When there is no such setting, and the statement does not say that there may be none.
    pub(super) fn with_settings(
        &self,
        state: &mut State,
        prepared: &Prepared,
        parameters: Option<&[Value]>,
    ) -> Result<Option<Prepared>> {
        if !prepared.calls_settings {
            return Ok(None);
        }
        let mut statement = (*prepared.statement).clone();
        keep_headings(&mut statement);
        match statement.visit(&mut Calls { session: self, state, parameters }) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => {
                Ok(Some(Prepared { statement: Arc::new(statement), ..prepared.clone() }))
            }
        }
    }
}

/// Whether a function reads or sets a setting.
pub(super) fn is_call(function: &Function) -> bool {
    does(function).is_some()
}

fn does(function: &Function) -> Option<Does> {
    let name = function.name.0.last().and_then(|part| part.as_ident())?;
    match name.value.to_ascii_lowercase().as_str() {
        "current_setting" => Some(Does::Read),
        "set_config" => Some(Does::Set),
        _ => None,
    }
}

/// Columns that are nothing but a call stay under the names that they have as written.
fn keep_headings(statement: &mut Statement) {
    let Statement::Query(query) = statement else { return };
    let SetExpr::Select(select) = &mut *query.body else { return };
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) = item
            && matches!(expr, Expr::Function(function) if is_call(function))
        {
            let alias = Ident::with_quote('"', expr.to_string());
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}

struct Calls<'a> {
    session: &'a Session,
    state: &'a mut State,
    /// None where the statement does not run.
    parameters: Option<&'a [Value]>,
}

impl VisitorMut for Calls<'_> {
    type Break = Error;

    /// After those within it.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Expr::Function(function) = &*expr else { return ControlFlow::Continue(()) };
        let result = match does(function) {
            Some(Does::Read) => self.read(function),
            Some(Does::Set) => self.set(function),
            None => Ok(None),
        };
        match result {
            Ok(Some(given)) => *expr = given,
            Ok(None) => {}
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}

impl Calls<'_> {
    fn read(&self, function: &Function) -> Result<Option<Expr>> {
        let arguments = arguments(function);
        let Some(Value::Text(name)) = self.value(&arguments, 0) else { return Ok(None) };
        let may_miss = match arguments.len() {
            1 => false,
            _ => self.value(&arguments, 1) == Some(Value::Boolean(true)),
        };
        let name = name.to_ascii_lowercase();
        match self.session.setting(self.state, &name) {
            Some(value) => Ok(Some(literal(SqlValue::SingleQuotedString(value)))),
            None if may_miss => Ok(Some(as_text(literal(SqlValue::Null)))),
            None => Err(unknown(&name)),
        }
    }

    fn set(&mut self, function: &Function) -> Result<Option<Expr>> {
        let arguments = arguments(function);
        let [_, value, _] = arguments.as_slice() else { return Ok(None) };
        if self.parameters.is_none() {
            return Ok(Some(as_text((*value).clone())));
        }
        let (name, is_local) = (self.value(&arguments, 0), self.value(&arguments, 2));
        let (Some(Value::Text(name)), Some(Value::Boolean(is_local))) = (name, is_local) else {
            return Ok(None);
        };
        let value = match self.value(&arguments, 1) {
            Some(Value::Text(value)) => Some(value),
            // PostgreSQL's way to say: as it was at first.
            Some(Value::Null) => None,
            _ => return Ok(None),
        };
        let name = name.to_ascii_lowercase();
        self.session.assign(self.state, &Assignment { name: name.clone(), value, is_local })?;
        let now = self.session.setting(self.state, &name).map(SqlValue::SingleQuotedString);
        Ok(Some(as_text(literal(now.unwrap_or(SqlValue::Null)))))
    }

    /// An argument that is known before the statement runs.
    fn value(&self, arguments: &[&Expr], at: usize) -> Option<Value> {
        self.known(arguments.get(at)?)
    }

    fn known(&self, expr: &Expr) -> Option<Value> {
        let value = match expr {
            Expr::Value(ValueWithSpan { value, .. }) => value,
            Expr::Nested(inner) | Expr::Cast { expr: inner, data_type: DataType::Text, .. } => {
                return self.known(inner);
            }
            Expr::BinaryOp { left, op: BinaryOperator::StringConcat, right } => {
                return match (self.known(left)?, self.known(right)?) {
                    (Value::Text(left), Value::Text(right)) => Some(Value::Text(left + &right)),
                    (Value::Null, _) | (_, Value::Null) => Some(Value::Null),
                    _ => None,
                };
            }
            _ => return None,
        };
        Some(match value {
            SqlValue::SingleQuotedString(text) => Value::Text(text.clone()),
            SqlValue::Boolean(value) => Value::Boolean(*value),
            SqlValue::Null => Value::Null,
            SqlValue::Placeholder(name) => {
                let number = name.strip_prefix('$')?.parse::<usize>().ok()?;
                self.parameters?.get(number.checked_sub(1)?)?.clone()
            }
            _ => return None,
        })
    }
}

fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    let mut exprs = Vec::with_capacity(list.args.len());
    for argument in &list.args {
        let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else { return Vec::new() };
        exprs.push(expr);
    }
    exprs
}

fn literal(value: SqlValue) -> Expr {
    Expr::Value(value.into())
}

fn as_text(expr: Expr) -> Expr {
    let (kind, data_type) = (CastKind::Cast, DataType::Text);
    Expr::Cast { kind, expr: Box::new(expr), data_type, array: false, format: None }
}
