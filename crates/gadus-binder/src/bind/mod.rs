//! Binding of syntax trees.
//!
//! - A stack of scopes, one for each query around an expression; names are looked up from the innermost one.
//! - Expressions collect aggregates, window functions and set-returning functions in their query's scope, and name the
//!   columns that these will have. The query puts the operators that compute them below its projection.

mod arrays;
mod calls;
mod changes;
mod comparisons;
mod expressions;
mod from;
mod grouping;
mod joins;
mod literals;
mod names;
mod operators;
mod order;
mod query;
mod rows;
mod scope;
mod select;
mod set_operations;
mod signatures;
mod subqueries;
mod targets;
mod values;
mod windows;
mod with;

use crate::bound::{BoundQuery, ColumnId, CommonTableId};
use crate::error::{BindError, Result};
use crate::provider::Provider;
use crate::resolve::Coercion;
use crate::resolve::coerce::Parameters;
use crate::types::SqlType;
use gadus_syntax::ast::{Query, Statement};
use scope::Scope;
use with::Frame;

pub(crate) use operators::choose_infix;

/// Query or change with the types of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundStatement {
    /// Query; of a change, [`crate::bound::Relational::Change`] with the columns of RETURNING.
    pub query: BoundQuery,
    /// Types of `$1` and so on.
    pub parameters: Vec<SqlType>,
    /// Greatest number of a column.
    pub(crate) last_column: u32,
    /// Greatest number of a common table.
    pub(crate) last_table: u32,
}

/// Binds a query.
///
/// # Errors
/// PostgreSQL's, for names that do not exist, types that do not fit, and so on.
pub fn bind_query(
    provider: &dyn Provider,
    query: &Query,
    parameters: &[Option<SqlType>],
) -> Result<BoundStatement> {
    let mut binder = Binder::new(provider, parameters);
    let query = binder.query(query, UnknownOutputs::BecomeText)?;
    binder.finish(query)
}

/// Binds a query, INSERT, UPDATE, DELETE or MERGE; a change gives the columns of RETURNING, none without it.
///
/// # Errors
/// PostgreSQL's, and 0A000 for other statements.
pub fn bind_statement(
    provider: &dyn Provider,
    statement: &Statement,
    parameters: &[Option<SqlType>],
) -> Result<BoundStatement> {
    if let Statement::Query(query) = statement {
        return bind_query(provider, query, parameters);
    }
    let mut binder = Binder::new(provider, parameters);
    let query = binder.change(statement)?;
    binder.finish(query)
}

/// Treatment of literals of undecided type in a select list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownOutputs {
    /// They are text.
    BecomeText,
    /// The statement around decides: a set operation, INSERT.
    Stay,
}

/// State of binding one statement.
pub(crate) struct Binder<'a> {
    provider: &'a dyn Provider,
    parameters: Parameters,
    scopes: Vec<Scope>,
    /// Common tables by query, the innermost last.
    frames: Vec<Frame>,
    columns: u32,
    common_tables: u32,
    /// Views that are being expanded.
    views: u32,
    /// Queries and changes that are being bound, one within the other.
    depth: u32,
    /// Errors that PostgreSQL finds after analysis, when it rewrites, and those when it plans.
    later: [Option<BindError>; 2],
}

/// Step after analysis in which PostgreSQL finds an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaterStep {
    Rewrite,
    Plan,
}

/// Stack that one level of a query or an expression may need.
const STACK_BYTES: usize = 128 << 10;
/// Stack that is added if less is left.
const STACK_STEP: usize = 4 << 20;

/// Calls a function with enough stack for one more level.
pub(crate) fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STACK_BYTES, STACK_STEP, run)
}

impl<'a> Binder<'a> {
    fn new(provider: &'a dyn Provider, parameters: &[Option<SqlType>]) -> Self {
        Self {
            provider,
            parameters: Parameters::new(parameters),
            scopes: Vec::new(),
            frames: Vec::new(),
            columns: 0,
            common_tables: 0,
            views: 0,
            depth: 0,
            later: [None, None],
        }
    }

    /// Checks what depends on the whole statement.
    fn finish(self, query: BoundQuery) -> Result<BoundStatement> {
        let parameters = self.parameters.finish()?;
        let (last_column, last_table) = (self.columns, self.common_tables);
        match self.later.into_iter().flatten().next() {
            Some(error) => Err(error),
            None => Ok(BoundStatement { query, parameters, last_column, last_table }),
        }
    }

    /// Keeps the first error of a step after analysis.
    fn check_later(&mut self, step: LaterStep, checked: Result<()>) {
        let index = usize::from(step == LaterStep::Plan);
        if let (Err(error), None) = (checked, &self.later[index]) {
            self.later[index] = Some(error);
        }
    }

    fn new_column(&mut self) -> ColumnId {
        self.columns += 1;
        ColumnId(self.columns)
    }

    fn new_common_table(&mut self) -> CommonTableId {
        self.common_tables += 1;
        CommonTableId(self.common_tables)
    }

    /// Binds a query or a change within those that are being bound.
    fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        let bound = bind(self);
        self.depth -= 1;
        bound
    }

    fn coercion(&mut self) -> Coercion<'_> {
        Coercion { provider: self.provider, parameters: &mut self.parameters }
    }

    /// Returns the scope of the query whose clauses are bound.
    fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::new());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Binds within a new scope, and returns it.
    fn in_scope<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Scope)> {
        self.scopes.push(Scope::new());
        let bound = bind(self);
        let scope = self.scopes.pop();
        let lost = || BindError::unsupported("a query without a scope", Default::default());
        Ok((bound?, scope.ok_or_else(lost)?))
    }
}
