//! A prepared statement.

use crate::connection::Outcome;
use crate::rows::Rows;
use crate::runtime;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::future::BoxFuture;
use gadus_engine::Result;
use gadus_sql::{CopyRequest, Description, Prepared, Session, StatementKind, Value};
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

    /// The same, and it alone reads Arrow data as a table of this name. Tables of the database have
    /// precedence.
    ///
    /// # Errors
    /// `Input` where a batch has another schema.
    pub fn with_table(
        self,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self> {
        let Self { session, prepared } = self;
        let prepared = session.with_table(prepared, name, schema, batches)?;
        Ok(Self { session, prepared })
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

    /// Runs it to its end for each set of parameters; returns how many rows that changed, or gave. No other
    /// statement of the connection comes between; where it fails for one, it has done nothing for any.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn execute_each(&self, sets: &[Vec<Value>]) -> Result<u64> {
        runtime::wait(self.session.execute_each(&self.prepared, sets))
    }

    /// Runs it as a query.
    ///
    /// # Errors
    /// Those of the statement; what goes wrong later comes with the rows.
    pub fn query(&self, params: &[Value]) -> Result<Rows> {
        Ok(self.run(params)?.into_rows())
    }

    /// The same without blocking: a query is carried out by whoever awaits it, on a runtime of tokio with
    /// several threads; anything else on a thread of the database that may block.
    ///
    /// A future that is dropped ends a query; any other statement goes on to its end.
    pub fn run_async(&self, params: Vec<Value>) -> BoxFuture<'static, Result<Outcome>> {
        let Self { session, prepared } = self.clone();
        let reads = self.kind() == StatementKind::Query;
        let run =
            async move { session.execute_prepared(&prepared, &params).await.map(Outcome::from) };
        if reads { Box::pin(run) } else { Box::pin(runtime::detach(run)) }
    }

    /// What it takes and gives, without running it; on a runtime of tokio with several threads.
    ///
    /// # Errors
    /// Those of its planning, where it is a query.
    pub fn describe(&self) -> BoxFuture<'static, Result<Arc<Description>>> {
        let Self { session, prepared } = self.clone();
        Box::pin(async move { session.describe(&prepared).await })
    }

    /// What kind of statement it is.
    #[must_use]
    pub fn kind(&self) -> StatementKind {
        self.prepared.kind()
    }

    /// Whether it gives rows, as far as its text says.
    #[must_use]
    pub fn gives_rows(&self) -> bool {
        self.prepared.gives_rows()
    }

    /// What PostgreSQL calls the columns of its rows; empty where the text alone does not tell.
    #[must_use]
    pub fn postgres_names(&self) -> Vec<String> {
        self.prepared.postgres_names()
    }

    /// Whether it reads or writes a file, or runs a program, where the database's process is.
    #[must_use]
    pub fn copies_file(&self) -> bool {
        self.prepared.copies_file()
    }

    /// The statement that gives the open transaction the modes that a BEGIN names; none where it names none.
    #[must_use]
    pub fn modes_to_set(&self) -> Option<String> {
        self.prepared.modes_to_set()
    }

    /// The name of the statement that a DEALLOCATE is about; none for all.
    #[must_use]
    pub fn deallocated(&self) -> Option<String> {
        self.prepared.deallocated()
    }

    /// True for COMMIT and ROLLBACK that begin another transaction: AND CHAIN.
    #[must_use]
    pub fn chains(&self) -> bool {
        self.prepared.chains()
    }

    /// What a COPY FROM STDIN or TO STDOUT asks for; none for every other statement.
    ///
    /// # Errors
    /// `Input` or `Unsupported` for options that contradict each other or are not known.
    pub fn copy_request(&self) -> Result<Option<CopyRequest>> {
        self.session.copy_request(&self.prepared)
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
