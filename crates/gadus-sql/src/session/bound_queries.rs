//! Queries that are planned from their bound trees.
//!
//! - A query goes this way if the binder accepts it and all of it can be lowered; the planner of texts has the others.

use super::bound_changes::ChangeText;
use super::columns::Headings;
use super::preparing::LARGE_TEXT;
use super::{Outcome, Prepared, Session, State};
use crate::analysis::{BinderCatalog, bound_query, from_bind, not_planned, unnested};
use crate::compiled::Compiled;
use crate::error::{from_datafusion, unsupported};
use crate::executor;
use crate::explained::{Explained, Figures, Format, Operator, Request};
use crate::kept::{Binding, KeptPlan, converted, scalars};
use crate::lowering::{NotLowered, Tables, lower, parameter_type};
use crate::names::Names;
use crate::room::with_room;
use crate::rows::RowStream;
use crate::value::Value;
use arrow::datatypes::DataType;
use datafusion::common::ParamValues;
use datafusion::execution::SessionState as PlannerState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Statement, visit_relations_mut};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use gadus_binder::catalog::functions::functions_named;
use gadus_binder::{BindError, BoundStatement};
use gadus_engine::{Error, ErrorKind, Result, Snapshot};
use gadus_syntax::ast::Statement as SyntaxStatement;
use gadus_syntax::parse_statement;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Class of the SQLSTATEs of values.
const DATA_EXCEPTION: &str = "22";

/// SQLSTATEs of errors that do not depend on what the binder does not know: ambiguous names, columns beside groups,
/// casts that there are not, places in the select list, recursion, windows.
const CERTAIN: [&str; 7] = ["42702", "42P09", "42803", "42846", "42P10", "42P19", "42P20"];

/// Returns true for errors that a statement has whichever way it is planned.
pub(super) fn is_certain(error: &BindError) -> bool {
    let is_certain = CERTAIN.contains(&error.sql_state);
    let is_of_types = error.sql_state == "42804"
        && (error.message.contains("cannot be matched")
            || error.message.starts_with("could not determine polymorphic type")
            || error.message.starts_with("recursive query"));
    let is_of_constants = error.message.starts_with("non-integer constant in");
    let is_of_arrays = error.message == "cannot determine type of empty array";
    // JSON has no operators that compare it, and is not JSONB. Functions of Gadus alone take either.
    let is_known = |name: &str| !functions_named(name).is_empty();
    let is_of_documents = error.sql_state == "42883"
        && error.function.as_deref().is_none_or(is_known)
        && error.message.contains("json");
    error.sql_state.starts_with(DATA_EXCEPTION)
        || is_certain
        || is_of_types
        || is_of_arrays
        || is_of_constants
        || is_of_documents
}

/// Query whose names are looked up in a snapshot.
pub(super) struct QueryText<'a> {
    /// Statement that is the query or explains it.
    pub(super) text: &'a str,
    /// Query
    pub(super) statement: &'a Statement,
    /// True if it needs room on the stack.
    pub(super) is_deep: bool,
    pub(super) snapshot: Snapshot,
    pub(super) names: Option<Names>,
}

/// Plan of a bound query.
pub(super) struct BoundPlan {
    pub(super) plan: LogicalPlan,
    /// Types of its parameters.
    pub(super) types: Vec<DataType>,
    /// Headings of its columns, each over those before.
    pub(super) headings: Vec<Headings>,
}

impl Session {
    /// Returns a query as it is bound.
    pub(super) fn query_text<'a>(
        &self,
        state: &State,
        prepared: &'a Prepared,
        statement: &'a Statement,
    ) -> Result<QueryText<'a>> {
        Ok(QueryText {
            text: &prepared.text,
            statement,
            is_deep: prepared.is_deep,
            snapshot: state.snapshot(&self.engine)?,
            names: self.names(state),
        })
    }

    /// Runs a query by the plan of its bound tree; `None` if the planner of texts has to plan it.
    pub(super) async fn query_bound(
        &self,
        state: &State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Option<Outcome>> {
        let outcome = self.run_bound(state, prepared, parameters).await?;
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(reason) => left_to_text(reason, prepared),
        }
    }

    async fn run_bound(
        &self,
        state: &State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<std::result::Result<Outcome, NotLowered>> {
        let query = self.query_text(state, prepared, &prepared.statement)?;
        let named = (&query.snapshot, query.names.as_ref());
        let context = match prepared.calls_sequences {
            true => self.planner_with_sequences(named, self.reading())?,
            false => self.planner_of_tables(query.snapshot.clone(), self.reading())?,
        };
        let planner = context.state();
        let BoundPlan { plan, types, headings } = match query.plan(&planner).await? {
            Ok(bound) => bound,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(plan) = with_values(plan, &types, parameters) else {
            let what = "a value of another type than its parameter".to_owned();
            return Ok(Err(NotLowered::Missing(what)));
        };
        let physical = executor::physical_plan(planner, &plan).await;
        executor::check_cancelled().map_err(from_datafusion)?;
        let physical = match physical {
            Ok(physical) => physical,
            Err(error) => return Ok(Err(NotLowered::Failed(error))),
        };
        let rows = self.run_plan(&context, plan, physical, self.asking(state))?;
        Ok(Ok(Outcome::Rows(headings.iter().fold(rows, RowStream::with_headings))))
    }

    /// Makes a plan of a query's bound tree that is kept; `None` if it has none.
    pub(super) async fn bound_plan_to_keep(
        &self,
        state: &State,
        prepared: &Prepared,
        parameters: &[Value],
    ) -> Result<Option<KeptPlan>> {
        let query = self.query_text(state, prepared, &prepared.statement)?;
        let Ok((_, types)) = query.bound(&query.catalog()) else { return Ok(None) };
        let Some(values) = converted(scalars(parameters), &types) else { return Ok(None) };
        let snapshot = query.snapshot.clone();
        let binding = Binding::typed_as(types, (snapshot.clone(), values), self.reading());
        let planner = self.planner_of_binding(&snapshot, binding.clone())?;
        let BoundPlan { plan, headings, .. } = match query.plan(&planner).await? {
            Ok(plan) => plan,
            Err(reason) => return left_to_text(reason, prepared),
        };
        let kept = KeptPlan::of_plan(planner, binding, plan, headings).await;
        kept.map_err(not_planned)
    }

    /// Shows the bound query, and what keeps it from being planned: EXPLAIN (BOUND).
    pub(super) async fn explain_bound(
        &self,
        state: &State,
        prepared: &Prepared,
        request: Request<'_>,
    ) -> Result<Outcome> {
        if !matches!(request.statement, Statement::Query(_)) {
            let change = ChangeText { prepared, names: self.names(state) };
            let lines = self.explained_change(&change, state.snapshot(&self.engine)?).await?;
            return shown_bound(&lines, request.format);
        }
        let query = self.query_text(state, prepared, request.statement)?;
        let bound = with_room(true, || {
            let bound = bound_query(&query.catalog(), query.text);
            bound.map(|bound| bound.query.to_string())
        });
        let bound = bound.map_err(|error| match error {
            Some(error) => from_bind(error),
            None => crate::error::input("EXPLAIN (BOUND) shows queries"),
        })?;
        let mut lines = bound.lines().map(str::to_owned).collect::<Vec<_>>();
        let context = self.planner_of_tables(query.snapshot.clone(), self.reading())?;
        let unplanned = match query.plan(&context.state()).await? {
            Ok(bound) => {
                let planned = executor::physical_plan(context.state(), &bound.plan).await;
                planned.err().map(NotLowered::Failed)
            }
            Err(reason) => Some(reason),
        };
        if let Some(reason) = unplanned {
            lines.push(format!("Not planned from this tree: {reason}"));
        }
        shown_bound(&lines, request.format)
    }
}

fn shown_bound(lines: &[String], format: Format) -> Result<Outcome> {
    let operator = Operator::alone("Bound", &lines.join("\n"), Figures::default());
    Explained { operator, run: None }.shown_as(lines, format)
}

/// Returns a statement that stands for a query or a change that only its bound tree can be planned from: of the same verb,
/// and on the same table.
fn stand_in(text: &str) -> Option<Statement> {
    let parsed = parse_statement(text).ok()?;
    let (known, table) = match &parsed.statement {
        SyntaxStatement::Query(_) => ("VALUES (NULL)", None),
        SyntaxStatement::Explain(explain) => {
            let SyntaxStatement::Query(query) = &explain.statement else { return None };
            let options = text.get(..usize::try_from(query.span.start).ok()?)?;
            let explain = format!("{options} VALUES (NULL)");
            return Parser::parse_sql(&GenericDialect {}, &explain).ok()?.pop();
        }
        SyntaxStatement::Insert(insert) => ("INSERT INTO t DEFAULT VALUES", Some(&insert.table)),
        SyntaxStatement::Update(update) => ("UPDATE t SET a = NULL", Some(&update.table)),
        SyntaxStatement::Delete(delete) => ("DELETE FROM t", Some(&delete.table)),
        _ => return None,
    };
    let mut statement = Parser::parse_sql(&GenericDialect {}, known).ok()?.pop()?;
    if let Some(table) = table {
        let parts = table.parts.iter().map(|part| Ident::with_quote('"', &part.text));
        let name = ObjectName::from(parts.collect::<Vec<_>>());
        let _ = visit_relations_mut(&mut statement, |relation| {
            *relation = name.clone();
            ControlFlow::<()>::Continue(())
        });
    }
    Some(statement)
}

/// Parses a query or a change that the planner of texts cannot read.
pub(super) fn bound_only(text: &str, unread: Error) -> Option<Prepared> {
    let statement = with_room(true, || stand_in(text))?;
    let dialect = GenericDialect {};
    let mut parameters = 0;
    for token in Tokenizer::new(&dialect, text).tokenize().ok()? {
        if let Token::Placeholder(name) = token {
            parameters = parameters.max(name.strip_prefix('$')?.parse().ok()?);
        }
    }
    let bare = Prepared::bare(text, statement);
    Some(Prepared { parameters, unread: Some(Arc::new(unread)), is_deep: true, ..bare })
}

/// Returns `None` for a query or change that is planned from its text, for what its bound tree lacks.
///
/// # Errors
/// Errors of the binder and of planning: from its text the statement would have another meaning.
pub(super) fn left_to_text<T>(reason: NotLowered, prepared: &Prepared) -> Result<Option<T>> {
    match (reason, &prepared.unread) {
        (reason @ (NotLowered::Refused(_) | NotLowered::Failed(_)), _) => Err(told(reason, None)),
        (reason, Some(unread)) => Err(told(reason, Some(unread))),
        (_, None) => Ok(None),
    }
}

/// Returns the error of a query that has no plan of its bound tree, and that the planner of texts could not read.
pub(super) fn told(reason: NotLowered, unread: Option<&Error>) -> Error {
    match reason {
        NotLowered::Missing(_)
            if unread.is_some_and(|unread| unread.kind() == ErrorKind::Unsupported) =>
        {
            unread.cloned().unwrap_or_else(|| unsupported("this query"))
        }
        NotLowered::Missing(what) => unsupported(&what),
        NotLowered::Failed(error) => not_planned(error),
        NotLowered::Unbound(error) | NotLowered::Refused(error) => from_bind(error),
    }
}

impl QueryText<'_> {
    fn catalog(&self) -> BinderCatalog {
        BinderCatalog::new(self.snapshot.clone(), self.names.clone())
    }

    /// Binds the query; returns it with the types of its parameters.
    fn bound(
        &self,
        catalog: &BinderCatalog,
    ) -> std::result::Result<(BoundStatement, Vec<DataType>), NotLowered> {
        let missing = |what: &str| NotLowered::Missing(what.to_owned());
        let bound = with_room(self.is_deep, || bound_query(catalog, self.text));
        let bound = bound.map_err(|error| match error {
            Some(error) if is_certain(&error) => NotLowered::Refused(error),
            Some(error) => NotLowered::Unbound(error),
            None => missing("a statement that is no query"),
        })?;
        let bound = unnested(bound).map_err(NotLowered::Refused)?;
        let types = bound.parameters.iter().map(|parameter| parameter_type(*parameter));
        let types = types.collect::<Option<_>>();
        Ok((bound, types.ok_or_else(|| missing("the type of a parameter"))?))
    }

    /// Plans the query from its bound tree.
    ///
    /// # Errors
    /// Cancellation, and those of reading the catalog; the reason if it cannot be bound or lowered.
    pub(super) async fn plan(
        &self,
        planner: &PlannerState,
    ) -> Result<std::result::Result<BoundPlan, NotLowered>> {
        let is_plain = matches!(self.statement, Statement::Query(query) if query.locks.is_empty());
        if !is_plain || self.text.len() >= LARGE_TEXT {
            return Ok(Err(NotLowered::Missing("a long text, or one that locks".to_owned())));
        }
        // What may run compiled or planned has the types of the compiled form either way.
        if Compiled::compile(self.statement, &self.snapshot).is_some() {
            return Ok(Err(NotLowered::Missing("a statement that is compiled".to_owned())));
        }
        let catalog = self.catalog();
        let (bound, types) = match self.bound(&catalog) {
            Ok(bound) => bound,
            Err(reason) => return Ok(Err(reason)),
        };
        let tables = Tables::find(&**planner.catalog_list(), &catalog.into_found()).await;
        let tables = tables.map_err(from_datafusion)?;
        let lowered = with_room(self.is_deep, || {
            let plan = lower(&bound.query, planner, &tables, &bound.parameters)?;
            let names = bound.query.outputs.iter().map(|output| Some(output.name.clone()));
            let headings = vec![Headings::of_each(names.collect()), Headings::of(self.statement)];
            drop(bound);
            Ok(BoundPlan { plan, types, headings })
        });
        executor::check_cancelled().map_err(from_datafusion)?;
        Ok(lowered)
    }
}

/// Puts values of parameters into a plan; `None` if one is not of its type.
pub(super) fn with_values(
    plan: LogicalPlan,
    types: &[DataType],
    parameters: &[Value],
) -> Option<LogicalPlan> {
    let values = converted(scalars(parameters), types)?;
    if values.is_empty() {
        return Some(plan);
    }
    let values = values.into_iter().map(Into::into).collect();
    plan.with_param_values(ParamValues::List(values)).ok()
}
