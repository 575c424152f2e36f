//! Calls of functions of SQL, replaced by what these are.

use super::arguments::{Bound, Put, nested};
use super::definition::{Body, Function, Kind, Parameter, Returns, function_name};
use super::{all, definition_of};
use crate::error::{input, or_break};
use crate::session::{expression, folded};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, Expr, Function as Call, FunctionArg,
    FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query, SelectItem, SetExpr, Statement,
    TableAlias, TableAliasColumnDef, TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use gadus_engine::{Error, Reason, Result, Snapshot};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Whether a statement calls a function of SQL.
pub(crate) fn calls_any(snapshot: &Snapshot, statement: &impl Visit) -> bool {
    struct Seen<'a>(&'a Snapshot);
    impl Seen<'_> {
        fn look(&self, name: &ObjectName) -> ControlFlow<()> {
            let is_known = |name: String| definition_of(self.0, &name).is_some();
            match function_name(name).is_ok_and(is_known) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
    impl Visitor for Seen<'_> {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(call) => self.look(&call.name),
                _ => ControlFlow::Continue(()),
            }
        }
        fn pre_visit_table_factor(&mut self, table: &TableFactor) -> ControlFlow<()> {
            match table {
                TableFactor::Table { name, args: Some(_), .. }
                | TableFactor::Function { name, .. } => self.look(name),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    all(snapshot).next().is_some() && statement.visit(&mut Seen(snapshot)).is_break()
}

/// Replaces all calls in a statement.
pub(crate) fn expand(snapshot: &Snapshot, statement: &mut impl VisitMut) -> Result<()> {
    let mut calls = Calls { snapshot, known: HashMap::new(), bytes: 0, count: 0 };
    match statement.visit(&mut calls) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Calls<'a> {
    snapshot: &'a Snapshot,
    known: HashMap<String, Option<Arc<Function>>>,
    bytes: usize,
    /// Calls so far.
    count: usize,
}

impl VisitorMut for Calls<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        or_break(self.keep_headings(&mut query.body))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        or_break(self.value(call).map(|value| {
            if let Some(value) = value {
                *expr = value;
            }
        }))
    }

    fn post_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
        or_break(self.rows(table).map(|rows| {
            if let Some(rows) = rows {
                *table = rows;
            }
        }))
    }
}

impl Calls<'_> {
    /// Columns that are a call stay under the names that they have as written.
    fn keep_headings(&mut self, body: &mut SetExpr) -> Result<()> {
        match body {
            SetExpr::Select(select) => {
                for item in &mut select.projection {
                    if let SelectItem::UnnamedExpr(expr) = item
                        && let Expr::Function(call) = expr
                        && self.function(&call.name)?.is_some()
                    {
                        let alias = Ident::with_quote('"', expr.to_string());
                        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
                    }
                }
                Ok(())
            }
            SetExpr::SetOperation { left, right, .. } => {
                self.keep_headings(left)?;
                self.keep_headings(right)
            }
            _ => Ok(()),
        }
    }

    /// The function of a name.
    fn function(&mut self, name: &ObjectName) -> Result<Option<Arc<Function>>> {
        let Ok(name) = function_name(name) else { return Ok(None) };
        if let Some(known) = self.known.get(&name) {
            return Ok(known.clone());
        }
        let text = definition_of(self.snapshot, &name);
        let function = text.map(|text| Function::of_text(&text)).transpose()?.map(Arc::new);
        self.known.insert(name, function.clone());
        Ok(function)
    }

    /// What a call is replaced by.
    fn value(&mut self, call: &Call) -> Result<Option<Expr>> {
        let Some(function) = self.function(&call.name)? else { return Ok(None) };
        let FunctionArguments::List(list) = &call.args else {
            return Err(wrong_call(&function, "takes its arguments in parentheses"));
        };
        let is_plain = call.over.is_none()
            && call.filter.is_none()
            && call.within_group.is_empty()
            && list.duplicate_treatment.is_none()
            && list.clauses.is_empty();
        let Body::Value(body) = &function.body else {
            return Err(wrong_call(&function, "gives rows, and stands behind FROM"));
        };
        if !is_plain {
            return Err(wrong_call(&function, "is no aggregate and no window function"));
        }
        let given = self.arguments(&function, &list.args)?;
        let bound = Bound::of(&function, &given, self.take_number());
        let arguments = bound.as_ref().map_or(&given, |bound| &bound.names);
        let mut value = Expr::clone(body);
        self.put(&function, arguments, &mut value)?;
        if let Kind::Function { returns, is_strict } = &function.kind {
            if *is_strict {
                value = unless_null(arguments, value);
            }
            if let Returns::Value(data_type) = returns {
                value = cast(value, data_type);
            }
        }
        Ok(Some(match bound {
            Some(bound) => expression(&format!("(SELECT {value} FROM {})", bound.relation))?,
            None => nested(value),
        }))
    }

    /// What stands in the place of a call behind FROM.
    fn rows(&mut self, table: &mut TableFactor) -> Result<Option<TableFactor>> {
        let (name, given, alias, lateral) = match table {
            TableFactor::Table { name, args: Some(args), alias, .. } => {
                (&*name, &args.args, alias, false)
            }
            TableFactor::Function { name, args, alias, lateral, .. } => {
                (&*name, &*args, alias, *lateral)
            }
            _ => return Ok(None),
        };
        let Some(function) = self.function(name)? else { return Ok(None) };
        let Body::Rows(body) = &function.body else {
            return Err(wrong_call(&function, "gives a value, and does not stand behind FROM"));
        };
        let given = self.arguments(&function, given)?;
        let bound = Bound::of(&function, &given, self.take_number());
        let arguments = bound.as_ref().map_or(&given, |bound| &bound.names);
        let mut query = Query::clone(body);
        self.put(&function, arguments, &mut query)?;
        if let Kind::Function { returns, is_strict } = &function.kind {
            query = typed(&function.name, query, returns)?;
            if *is_strict && !arguments.is_empty() {
                return Err(wrong_call(
                    &function,
                    "is STRICT, which what gives rows cannot be here",
                ));
            }
        }
        let depends = bound.is_some();
        if let Some(Bound { relation, .. }) = bound {
            let text = format!("SELECT called.* FROM {relation}, LATERAL ({query}) AS called");
            query = query_of(&text)?;
        }
        let name = Ident::with_quote('"', &function.name);
        let usual = TableAlias { explicit: true, name, columns: vec![], at: None };
        Ok(Some(TableFactor::Derived {
            lateral: lateral || depends,
            subquery: Box::new(query),
            alias: Some(alias.take().unwrap_or(usual)),
            sample: None,
        }))
    }

    fn take_number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// The arguments of a call, one for each parameter.
    fn arguments(&self, function: &Function, given: &[FunctionArg]) -> Result<Vec<Expr>> {
        let wrong = |what: String| wrong_call(function, &what);
        let mut values = vec![None; function.parameters.len()];
        for (place, argument) in given.iter().enumerate() {
            let (place, value) = match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (Some(place), value),
                FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. }
                | FunctionArg::ExprNamed {
                    name: Expr::Identifier(name),
                    arg: FunctionArgExpr::Expr(value),
                    ..
                } => {
                    let is_it = |one: &Parameter| {
                        one.name.as_ref().is_some_and(|own| folded(own) == folded(name))
                    };
                    (function.parameters.iter().position(is_it), value)
                }
                other => return Err(wrong(format!("takes values, not {other}"))),
            };
            match place.and_then(|place| values.get_mut(place)) {
                Some(slot @ None) => *slot = Some(value.clone()),
                Some(Some(_)) => return Err(wrong(format!("is given {argument} a second time"))),
                None => return Err(wrong(format!("has no parameter for {argument}"))),
            }
        }
        let both = function.parameters.iter().zip(values);
        both.enumerate()
            .map(|(place, (parameter, value))| {
                let Some(value) = value.or_else(|| parameter.default.clone()) else {
                    let name =
                        parameter.name.as_ref().map_or_else(|| (place + 1).to_string(), folded);
                    return Err(wrong(format!("misses its argument {name}")));
                };
                Ok(match &parameter.data_type {
                    Some(data_type) => cast(value, data_type),
                    None => nested(value),
                })
            })
            .collect()
    }

    /// Puts arguments in the place of parameters.
    fn put(
        &mut self,
        function: &Function,
        arguments: &[Expr],
        body: &mut impl VisitMut,
    ) -> Result<()> {
        let mut put = Put::new(function, arguments, &mut self.bytes);
        match body.visit(&mut put) {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(()),
        }
    }
}

/// NULL where an argument is.
fn unless_null(arguments: &[Expr], value: Expr) -> Expr {
    let is_null = |argument: &Expr| Expr::IsNull(Box::new(nested(argument.clone())));
    let nulls = arguments.iter().map(is_null);
    let either = |left, right| Expr::BinaryOp {
        left: Box::new(left),
        op: BinaryOperator::Or,
        right: Box::new(right),
    };
    let Some(condition) = nulls.reduce(either) else { return value };
    let result = Expr::value(Value::Null);
    Expr::Case {
        case_token: datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken::empty(
        ),
        end_token: datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken::empty(),
        operand: None,
        conditions: vec![CaseWhen { condition, result }],
        else_result: Some(Box::new(value)),
    }
}

fn cast(value: Expr, data_type: &DataType) -> Expr {
    let (kind, expr, data_type) = (CastKind::Cast, Box::new(value), data_type.clone());
    Expr::Cast { kind, expr, data_type, array: false, format: None }
}

/// The rows of a query in the types, and under the names, that RETURNS says.
fn typed(function: &str, query: Query, returns: &Returns) -> Result<Query> {
    let named = |name: &str| Ident::with_quote('"', name);
    let columns = match returns {
        Returns::Value(_) => return Ok(query),
        Returns::SetOf(data_type) => vec![(named(function), data_type.clone())],
        Returns::Table(columns) => columns.clone(),
    };
    let items = columns.iter().map(|(name, of)| format!("CAST({name} AS {of}) AS {name}"));
    let items = items.collect::<Vec<_>>().join(", ");
    let mut outer = query_of(&format!("SELECT {items} FROM (SELECT 1) AS f"))?;
    if let SetExpr::Select(select) = &mut *outer.body
        && let Some(TableFactor::Derived { subquery, alias: Some(alias), .. }) =
            select.from.first_mut().map(|from| &mut from.relation)
    {
        **subquery = query;
        alias.name = named(function);
        let column = |(name, _): &(Ident, DataType)| TableAliasColumnDef {
            name: name.clone(),
            data_type: None,
        };
        alias.columns = columns.iter().map(column).collect();
    }
    Ok(outer)
}

fn query_of(text: &str) -> Result<Query> {
    match crate::session::parse(text)?.statement() {
        Statement::Query(query) => Ok(Query::clone(query)),
        _ => Err(Error::internal("a SELECT is no query")),
    }
}

fn wrong_call(function: &Function, what: &str) -> Error {
    let name = &function.name;
    input(format!("function {name} {what}; it is {function}")).because(Reason::UnknownFunction)
}
