//! CREATE FUNCTION, CREATE MACRO and DROP FUNCTION; statements with what the catalog says in the place of what they name.

use super::chains::Levels;
use super::modify::table_name;
use super::{Outcome, Prepared, Session};
use crate::error::{input, or_break, unsupported};
use crate::functions::{self, Body, Function, function_name};
use crate::names::Names;
use crate::room::with_room;
use datafusion::execution::FunctionRegistry;
use datafusion::sql::sqlparser::ast::{
    CopySource, DropFunction, Expr, Function as Call, Ident, Statement, TableFactor, Value,
    ValueWithSpan, VisitMut, VisitorMut,
};
use gadus_engine::{DefinitionKey, Error, ErrorKind, Reason, Result, Snapshot, Transaction};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A COPY of a whole table that has generated columns leaves them out.
fn with_copied_columns(snapshot: &Snapshot, statement: &Statement) -> Result<Option<Statement>> {
    let Statement::Copy { source: CopySource::Table { table_name: name, columns }, .. } = statement
    else {
        return Ok(None);
    };
    let table = table_name(name).ok().and_then(|name| snapshot.find_table(&name));
    let Some(table) = table.filter(|_| columns.is_empty()) else { return Ok(None) };
    let all = &table.schema().columns;
    if all.iter().all(|column| column.generated.is_none()) {
        return Ok(None);
    }
    let given = all.iter().filter(|column| column.generated.is_none());
    let given = given.map(|column| Ident::with_quote('"', &column.name)).collect();
    let mut copy = statement.clone();
    if let Statement::Copy { source: CopySource::Table { columns, .. }, .. } = &mut copy {
        *columns = given;
    }
    Ok(Some(copy))
}

/// Whether a statement is carried out with room on the stack.
fn is_deep(statement: &mut Statement) -> Result<bool> {
    struct Deep(Levels);
    impl VisitorMut for Deep {
        type Break = Error;
        fn pre_visit_table_factor(&mut self, _table: &mut TableFactor) -> ControlFlow<Error> {
            or_break(self.0.table())
        }
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            or_break(self.0.enter(expr))
        }
        fn post_visit_expr(&mut self, _expr: &mut Expr) -> ControlFlow<Error> {
            self.0.leave();
            ControlFlow::Continue(())
        }
    }
    let mut deep = Deep(Levels::default());
    match VisitMut::visit(statement, &mut deep) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(deep.0.is_deep()),
    }
}

impl Session {
    /// A statement in which relations are named with their schemas where everybody else means others, functions of SQL are
    /// replaced, and a COPY of a table says its columns where some of them are generated; none where it stays as it is.
    pub(super) fn with_catalog(
        &self,
        snapshot: &Snapshot,
        names: Option<&Names>,
        prepared: &Prepared,
    ) -> Result<Option<Prepared>> {
        let resolved = names.map(|names| self.resolved(names, snapshot, &prepared.statement));
        let of_statement =
            |statement| Prepared { statement: Arc::new(statement), ..prepared.clone() };
        let resolved = resolved.map(of_statement);
        let prepared = resolved.as_ref().unwrap_or(prepared);
        if let Some(copied) = with_copied_columns(snapshot, &prepared.statement)? {
            return Ok(Some(Prepared { statement: Arc::new(copied), ..prepared.clone() }));
        }
        let statement = &*prepared.statement;
        let makes_function =
            matches!(statement, Statement::CreateFunction(_) | Statement::CreateMacro { .. });
        if makes_function || !functions::calls_any(snapshot, statement) {
            return Ok(resolved);
        }
        // What they make of it may be deep; also what is dropped where it fails.
        with_room(true, || {
            let mut statement = Statement::clone(statement);
            functions::expand(snapshot, &mut statement)?;
            let is_deep = prepared.is_deep || is_deep(&mut statement)?;
            Ok(Some(Prepared { statement: Arc::new(statement), is_deep, ..prepared.clone() }))
        })
    }

    /// What a COPY whose data travels beside it asks for, of the tables as they are now; none for every other statement.
    ///
    /// # Errors
    /// `Input` or `Unsupported` for options that contradict each other or are not known.
    pub fn copy_request(&self, prepared: &Prepared) -> Result<Option<super::CopyRequest>> {
        let Statement::Copy { .. } = prepared.statement() else { return Ok(None) };
        // Who runs a statement does not ask.
        let (snapshot, names) = match self.state.try_lock() {
            Ok(state) => (state.snapshot(&self.engine)?, self.names(&state)),
            Err(_) => (self.engine.snapshot()?, None),
        };
        let with_catalog = self.with_catalog(&snapshot, names.as_ref(), prepared)?;
        with_catalog.as_ref().unwrap_or(prepared).copy_request()
    }

    pub(super) async fn create_function(
        &self,
        transaction: &mut Transaction,
        statement: &Statement,
    ) -> Result<Outcome> {
        let (verb, or_replace, if_not_exists) = match statement {
            Statement::CreateFunction(create) => {
                ("CREATE FUNCTION", create.or_replace, create.if_not_exists)
            }
            Statement::CreateMacro { or_replace, .. } => ("CREATE MACRO", *or_replace, false),
            other => return Err(Error::internal(format!("{other} makes no function"))),
        };
        let mut function = Function::of_statement(statement)?;
        let name = function.name.clone();
        let snapshot = transaction.snapshot();
        let is_there = functions::definition_of(&snapshot, &name).is_some();
        if is_there && if_not_exists {
            return Ok(Outcome::Done(verb));
        }
        if (is_there && !or_replace) || self.is_built_in(&name) {
            let message = match is_there {
                true => format!(
                    "function \"{name}\" already exists: OR REPLACE puts another in its place"
                ),
                false => format!("function \"{name}\" is built in: choose another name"),
            };
            return Err(
                Error::new(ErrorKind::AlreadyExists, message).because(Reason::DuplicateObject)
            );
        }
        look(&mut function)?;
        for parameter in &mut function.parameters {
            if let Some(default) = &mut parameter.default {
                functions::expand(&snapshot, default)?;
            }
        }
        with_room(true, || match &mut function.body {
            Body::Value(value) => functions::expand(&snapshot, &mut **value),
            Body::Rows(query) => functions::expand(&snapshot, &mut **query),
        })?;
        let text = function.to_string();
        // What cannot be read again is not kept.
        Function::of_text(&text)?;
        transaction.define(DefinitionKey::Function(name), Some(&text))?;
        self.plan_call(&transaction.snapshot(), &function).await?;
        Ok(Outcome::Done(verb))
    }

    /// Plans a call of a function whose parameters have types, so that what is wrong is known now.
    async fn plan_call(&self, snapshot: &Snapshot, function: &Function) -> Result<()> {
        let types = function.parameters.iter().map(|parameter| parameter.data_type.as_ref());
        let Some(types) = types.collect::<Option<Vec<_>>>() else { return Ok(()) };
        let nulls = types.iter().map(|of| format!("CAST(NULL AS {of})")).collect::<Vec<_>>();
        let call = format!("{}({})", Ident::with_quote('"', &function.name), nulls.join(", "));
        let text = match function.gives_rows() {
            true => format!("SELECT * FROM {call}"),
            false => format!("SELECT {call}"),
        };
        let mut statement = Statement::clone(&super::parse(&text)?.statement);
        functions::expand(snapshot, &mut statement)?;
        let context = self.planner(snapshot.clone(), &mut statement).await?;
        super::query::physical_plan(&context, statement, &[]).await.map(|_| ())
    }

    /// Returns true if there is a function of this name that nobody has to make.
    pub(super) fn is_built_in(&self, name: &str) -> bool {
        let planner = &self.shared.planner;
        planner.udf(name).is_ok()
            || planner.udaf(name).is_ok()
            || planner.udwf(name).is_ok()
            || planner.table_functions().contains_key(name)
            || [
                "nextval",
                "currval",
                "setval",
                "lastval",
                "current_setting",
                "set_config",
                "coalesce",
            ]
            .contains(&name)
    }
}

/// Refuses a function that calls itself, or what is another thing for each statement, and parameters that it does not
/// have.
fn look(function: &mut Function) -> Result<()> {
    struct Look<'a>(&'a str, usize);
    impl VisitorMut for Look<'_> {
        type Break = Error;
        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
            let wrong = match expr {
                Expr::Function(call) if is_it(call, self.0) => {
                    unsupported("a function of SQL that calls itself")
                }
                Expr::Function(call)
                    if crate::sequences::does(call).is_some()
                        || super::setting_calls::is_call(call) =>
                {
                    unsupported("a function of SQL that asks for settings, or numbers of sequences")
                }
                Expr::Value(ValueWithSpan { value: Value::Placeholder(number), .. }) => {
                    let known = number.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
                    if known.is_some_and(|known| (1..=self.1).contains(&known)) {
                        return ControlFlow::Continue(());
                    }
                    input(format!("there is no parameter {number}"))
                }
                _ => return ControlFlow::Continue(()),
            };
            ControlFlow::Break(wrong)
        }
        fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
            let name = match table {
                TableFactor::Table { name, args: Some(_), .. }
                | TableFactor::Function { name, .. } => name,
                _ => return ControlFlow::Continue(()),
            };
            match function_name(name).is_ok_and(|name| name == self.0) {
                true => ControlFlow::Break(unsupported("a function of SQL that calls itself")),
                false => ControlFlow::Continue(()),
            }
        }
    }
    fn is_it(call: &Call, name: &str) -> bool {
        function_name(&call.name).is_ok_and(|called| called == name)
    }
    let (name, count) = (function.name.clone(), function.parameters.len());
    let mut look = Look(&name, count);
    let looked = match &mut function.body {
        Body::Value(value) => VisitMut::visit(value, &mut look),
        Body::Rows(query) => VisitMut::visit(query, &mut look),
    };
    match looked {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Drops functions.
pub(super) fn drop_functions(
    transaction: &mut Transaction,
    dropped: &DropFunction,
) -> Result<Outcome> {
    for function in &dropped.func_desc {
        let name = function_name(&function.name)?;
        let is_there = functions::definition_of(&transaction.snapshot(), &name).is_some();
        if !is_there && !dropped.if_exists {
            let message = format!("function \"{name}\" does not exist");
            return Err(Error::new(ErrorKind::NotFound, message).because(Reason::UnknownFunction));
        }
        transaction.define(DefinitionKey::Function(name), None)?;
    }
    Ok(Outcome::Done("DROP FUNCTION"))
}
