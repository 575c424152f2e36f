//! From text to one statement.

use super::assigned::take_apart;
use super::by_name::parse_prepare;
use super::chains::{Levels, check_words};
use super::copy_words::CopyWords;
use super::maintenance::Maintenance;
use super::modify::refuse_extras;
use super::overriding::Overriding;
use super::precedence::rebind;
use super::reads::check_reads;
use super::sequence_spelling;
use super::setting_calls::is_call;
use super::spelling::{begins_with, is_of_postgres, respell, table_as_query};
use super::transact::take_deferrable;
use super::with_before::{is_change, mean, take_with};
use super::{Prepared, alter, cursors, define, merge, no_effect};
use crate::error::{from_parser, input, or_break};
use crate::json::question_marks;
use crate::provider::SYSTEM_SCHEMA;
use crate::room::with_room;
use datafusion::sql::sqlparser::ast::{
    Expr, Fetch, LimitClause, ObjectName, ObjectNamePart, Query, SetExpr, Statement,
    TableAliasColumnDef, TableFactor, TransactionModifier, Value as SqlValue, ValueWithSpan,
    VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect, PostgreSqlDialect};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{TokenWithSpan, Tokenizer};
use gadus_engine::{Error, ErrorKind, Reason, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Nesting that the parser follows.
pub(crate) const NESTING_MAX: usize = 128;

/// Parses one statement.
pub(crate) fn parse(text: &str) -> Result<Prepared> {
    let dialect = GenericDialect {};
    let mut tokens = Tokenizer::new(&dialect, text)
        .tokenize_with_location()
        .map_err(|error| from_parser(&error.into()))?;
    if begins_with(&tokens, Keyword::PREPARE) {
        return parse_prepare(text);
    }
    if let Some(maintenance) = Maintenance::of(text)? {
        return Ok(Prepared::bare(text, maintenance.as_call()));
    }
    rewrite_spellings(&mut tokens);
    let overriding = Overriding::take(&mut tokens);
    let deferrable = take_deferrable(&mut tokens);
    let copy_words = CopyWords::take(text, &mut tokens)?.map(Arc::new);
    let is_deep = check_words(&tokens)?;
    // With what is dropped where it fails.
    with_room(is_deep, || {
        let dialect: &dyn Dialect =
            if is_of_postgres(&tokens) { &PostgreSqlDialect {} } else { &dialect };
        let mut statement = parse_one(dialect, tokens)?;
        if let Some(overriding) = overriding {
            overriding.keep(&mut statement);
        }
        keep_deferrable(&mut statement, deferrable);
        let mut with = take_with(&mut statement);
        take_apart(&mut statement)?;
        let mut reading = Reading::default();
        for read in [with.visit(&mut reading), statement.visit(&mut reading)] {
            if let ControlFlow::Break(error) = read {
                return Err(error);
            }
        }
        if reading.changes_within && !may_change_within(&statement) {
            return Err(no_changes_within());
        }
        with.as_ref().map_or(Ok(()), |with| mean(with, &mut statement))?;
        if reading.gives_names || with.is_some() {
            check_reads(&statement)?;
        }
        let is_deep = is_deep || with.is_some() || reading.levels.is_deep();
        let (text, statement) = (Arc::from(text), Arc::new(statement));
        let (parameters, names) =
            (reading.parameters.count, Arc::from(std::mem::take(&mut reading.parameters.names)));
        let Reading { calls_settings, calls_sequences, reads_settings, changes_within, .. } =
            reading;
        Ok(Prepared {
            text,
            statement,
            parameters,
            names,
            unread: None,
            is_deep,
            calls_settings,
            calls_sequences,
            reads_settings,
            changes_within,
            frames: None,
            copy_words,
        })
    })
}

/// Parses the one statement of tokens.
fn parse_one(dialect: &dyn Dialect, tokens: Vec<TokenWithSpan>) -> Result<Statement> {
    let mut statements = Parser::new(dialect)
        .with_recursion_limit(NESTING_MAX)
        .with_tokens_with_locations(tokens)
        .parse_statements()
        .map_err(|error| from_parser(&error))?;
    if statements.len() > 1 {
        return Err(input("one statement at a time: split the script at its semicolons"));
    }
    statements.pop().ok_or_else(|| input("there is no statement"))
}

/// Returns true for a statement that may have changes in its WITH.
fn may_change_within(statement: &Statement) -> bool {
    match statement {
        Statement::Query(_)
        | Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_) => true,
        Statement::Explain { statement, .. } => may_change_within(statement),
        _ => false,
    }
}

/// Returns the error of changes where they have no place.
pub(super) fn no_changes_within() -> Error {
    let message = "INSERT, UPDATE, DELETE and MERGE within this statement are not supported: \
                   run them before it, in one transaction";
    Error::new(ErrorKind::Unsupported, message)
}

/// Notes in a BEGIN that it is DEFERRABLE.
fn keep_deferrable(statement: &mut Statement, deferrable: Option<bool>) {
    if let Statement::StartTransaction { modifier, .. } = statement
        && deferrable == Some(true)
    {
        *modifier = Some(TransactionModifier::Deferred);
    }
}

/// Rewrites what other dialects and PostgreSQL spell differently from the parser.
fn rewrite_spellings(tokens: &mut Vec<TokenWithSpan>) {
    table_as_query(tokens);
    question_marks(tokens);
    respell(tokens);
    sequence_spelling::respell(tokens);
    alter::respell(tokens);
    define::respell(tokens);
    cursors::respell(tokens);
    merge::respell(tokens);
    no_effect::respell(tokens);
}

/// Goes through a statement: gives its parameters their numbers, and bounds its levels.
#[derive(Default)]
struct Reading {
    levels: Levels,
    parameters: Parameters,
    /// By WITH.
    gives_names: bool,
    calls_settings: bool,
    calls_sequences: bool,
    reads_settings: bool,
    /// Changes of rows as parts of the statement.
    changes_within: bool,
}

/// The parameters of a statement: `?` in order, `$2` or `:2` by number, `:name` or `$name` by name.
#[derive(Default)]
struct Parameters {
    /// The greatest number.
    count: usize,
    anonymous: usize,
    /// The names, in the order in which they first came.
    names: Vec<String>,
    by_number: bool,
}

impl Parameters {
    const COUNT_MAX: usize = 65_535;

    /// Writes a parameter's number in the place of its text.
    fn number(&mut self, text: &mut String) -> Result<()> {
        let name = text.strip_prefix(['$', ':']).filter(|name| !name.is_empty());
        let is_name = |name: &&str| !name.starts_with(|first: char| first.is_ascii_digit());
        let number = if let Some(name) = name.filter(is_name) {
            let known = self.names.iter().position(|known| known == name);
            known.unwrap_or_else(|| {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }) + 1
        } else {
            self.by_number = true;
            if text == "?" {
                self.anonymous += 1;
                self.anonymous
            } else {
                name.and_then(|digits| digits.parse().ok()).unwrap_or(0)
            }
        };
        if !(1..=Self::COUNT_MAX).contains(&number) {
            let forms = "parameters are ?, $1 to $65535, or :name";
            return Err(input(format!("{forms}, not {text}")));
        }
        if self.by_number && !self.names.is_empty() {
            return Err(input("parameters of one statement have either names or numbers"));
        }
        self.count = self.count.max(number);
        *text = format!("${number}");
        Ok(())
    }
}

impl VisitorMut for Reading {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        self.gives_names |= query.with.is_some();
        check_select_lists(&query.body)?;
        fetch_by_limit(query);
        self.changes_within |= is_change(query);
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<Error> {
        let is = |part: Option<&ObjectNamePart>, name: &str| {
            let part = part.and_then(|part| part.as_ident());
            part.is_some_and(|part| part.value.eq_ignore_ascii_case(name))
        };
        let mut parts = relation.0.iter().rev();
        let (table, schema) = (parts.next(), parts.next());
        self.reads_settings |=
            is(table, "pg_settings") || (is(table, "settings") && is(schema, SYSTEM_SCHEMA));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Error> {
        name_series(table);
        or_break(refuse_ignored(table).and_then(|()| self.levels.table()))
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        or_break(match expr {
            Expr::Value(ValueWithSpan { value: SqlValue::Placeholder(name), .. }) => {
                self.parameters.number(name)
            }
            Expr::Function(function) => {
                without_catalog_schema(&mut function.name);
                self.calls_settings |= is_call(function);
                self.calls_sequences |= crate::sequences::does(function).is_some();
                Ok(())
            }
            // GROUP BY (): all rows are one group.
            Expr::Tuple(values) if values.is_empty() => {
                *expr = Expr::GroupingSets(vec![vec![]]);
                Ok(())
            }
            _ => Ok(()),
        })?;
        or_break(self.levels.enter(expr))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        self.levels.leave();
        rebind(expr);
        ControlFlow::Continue(())
    }
}

/// Columns of a select list, as in PostgreSQL.
pub(super) const SELECT_LIST_MAX: usize = 1664;

/// Refuses select lists of a query that are too long to plan.
fn check_select_lists(body: &SetExpr) -> ControlFlow<Error> {
    match body {
        SetExpr::Select(select) if select.projection.len() > SELECT_LIST_MAX => {
            ControlFlow::Break(too_many_columns())
        }
        SetExpr::SetOperation { left, right, .. } => {
            check_select_lists(left)?;
            check_select_lists(right)
        }
        // Queries in parentheses are visited themselves.
        _ => ControlFlow::Continue(()),
    }
}

/// Returns PostgreSQL's error for a select list that is too long.
pub(super) fn too_many_columns() -> Error {
    let message = format!("target lists can have at most {SELECT_LIST_MAX} entries");
    Error::new(ErrorKind::Limit, message).because(Reason::TooManyColumns)
}

/// `FETCH FIRST n ROWS ONLY` is LIMIT; what says more is left, and refused.
fn fetch_by_limit(query: &mut Query) {
    if let Some(Fetch { with_ties: false, percent: false, quantity }) = &query.fetch
        && query.limit_clause.as_ref().is_none_or(|limit| {
            matches!(limit, LimitClause::LimitOffset { limit: None, limit_by, .. } if limit_by.is_empty())
        })
    {
        let one = || Expr::Value(SqlValue::Number("1".to_owned(), false).into());
        let limit = Some(quantity.clone().unwrap_or_else(one));
        let offset = match query.limit_clause.take() {
            Some(LimitClause::LimitOffset { offset, .. }) => offset,
            _ => None,
        };
        query.limit_clause = Some(LimitClause::LimitOffset { limit, offset, limit_by: vec![] });
        query.fetch = None;
    }
}

/// Lets the one column of `generate_series(…) AS name` have that name, as PostgreSQL does.
fn name_series(table: &mut TableFactor) {
    if let TableFactor::Table { name, alias: Some(alias), args: Some(_), .. } = table
        && let [name] = name.0.as_slice()
        && name.as_ident().is_some_and(|name| name.value.eq_ignore_ascii_case("generate_series"))
        && alias.columns.is_empty()
    {
        alias.columns = vec![TableAliasColumnDef { name: alias.name.clone(), data_type: None }];
    }
}

/// Refuses what the planner takes no notice of.
fn refuse_ignored(table: &TableFactor) -> Result<()> {
    let sampled = "TABLESAMPLE";
    match table {
        TableFactor::Derived { sample, .. } => refuse_extras(&[(sample.is_some(), sampled)]),
        TableFactor::Table {
            sample,
            with_ordinality,
            version,
            partitions,
            json_path,
            with_hints,
            index_hints,
            ..
        } => refuse_extras(&[
            (sample.is_some(), sampled),
            (*with_ordinality, "WITH ORDINALITY"),
            (version.is_some(), "a table as it was"),
            (!partitions.is_empty(), "PARTITION behind a table"),
            (json_path.is_some(), "a path behind a table"),
            (!with_hints.is_empty() || !index_hints.is_empty(), "a hint behind a table"),
        ]),
        _ => Ok(()),
    }
}

/// PostgreSQL's clients name the schema of its functions; here they have none.
fn without_catalog_schema(name: &mut ObjectName) {
    let schema = name.0.first().and_then(|part| part.as_ident());
    let is_catalog = schema.is_some_and(|schema| schema.value.eq_ignore_ascii_case("pg_catalog"));
    if is_catalog && name.0.len() == 2 {
        name.0.remove(0);
    }
}
