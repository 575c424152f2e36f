//! A prepared statement.

use crate::connection::Outcome;
use crate::rows::Rows;
use crate::runtime;
use gadus_engine::Result;
use gadus_sql::{Prepared, Session, Value};
use std::sync::Arc;

/// A statement that has been parsed, with places for parameters: `?` in order, `$1`, `$2` …,
/// or `:name`
#[derive(Debug, Clone)]
pub struct Statement {
    session: Arc<Session>,
    prepared: Prepared,
}

impl Statement {
    pub(crate) fn new(session: Arc<Session>, prepared: Prepared) -> Self {
        Self { session, prepared }
    }

    /// Runs it, whatever it gives.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn run(&self, params: &[Value]) -> Result<Outcome> {
        runtime::wait(self.session.execute_prepared(&self.prepared, params)).map(Outcome::from)
    }

    /// Runs it to its end; returns how many rows it changed, or gave.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn execute(&self, params: &[Value]) -> Result<u64> {
        self.run(params)?.finish()
    }

    /// Runs it as a query.
    ///
    /// # Errors
    /// Those of the statement; what goes wrong later comes with the rows.
    pub fn query(&self, params: &[Value]) -> Result<Rows> {
        Ok(self.run(params)?.into_rows())
    }

    /// The names of its parameters, in the order of their values; empty where they have numbers.
    #[must_use]
    pub fn parameter_names(&self) -> &[String] {
        self.prepared.parameter_names()
    }

    /// How many parameters it has.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.prepared.parameters()
    }
}
