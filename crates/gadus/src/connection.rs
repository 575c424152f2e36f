//! A connection: statements, one after another, and their transaction.
//!
//! - Threads may share a connection; their statements wait for each other. Threads that should not
//!   wait have a connection each.
//! - `BEGIN`, `COMMIT` and `ROLLBACK` are statements; a dropped connection rolls back.

use crate::appender::Appender;
use crate::cancel::{CancelHandle, ScriptCancel};
use crate::pending::Pending;
use crate::rows::{BatchStream, Rows};
use crate::runtime;
use crate::statement::Statement;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::future::BoxFuture;
use gadus_base::Instant;
use gadus_engine::{Error, Result};
use gadus_sql::{
    LARGE_TEXT, Reported, Session, SessionOptions, Sql, TextSettings, Value, split_statements,
};
use std::sync::Arc;

/// One line of statements to a database.
#[derive(Debug)]
pub struct Connection {
    sql: Sql,
    session: Arc<Session>,
}

/// What a statement gave.
#[derive(Debug)]
pub enum Outcome {
    /// Rows of a query.
    Rows(Rows),
    /// How many rows were inserted, changed, deleted or copied, and by what kind of statement.
    Changed {
        /// `INSERT`, `UPDATE`, `DELETE`, `COPY` and the like.
        verb: &'static str,
        /// How many.
        rows: u64,
    },
    /// Done, without rows: the kind of statement.
    Done(&'static str),
}

impl Connection {
    pub(crate) fn new(sql: Sql, options: SessionOptions) -> Self {
        let session = Arc::new(sql.session_with(options));
        Self { sql, session }
    }

    /// Runs one statement of any kind.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn run(&self, sql: &str, params: &[Value]) -> Result<Outcome> {
        runtime::wait(self.session.execute(sql, params)).map(Outcome::from)
    }

    /// Begins a statement, and does not wait for it: thousands may be outstanding. Those that scan a
    /// table are answered together, in shared scans; others run one after another on a thread of the
    /// database.
    ///
    /// The order in which statements are carried out that are outstanding together is not determined.
    #[must_use]
    pub fn submit(&self, sql: &str, params: &[Value]) -> Pending {
        if let Some(answer) = self.session.submit(sql, params) {
            return Pending::new(async move { answer.await.map(Outcome::from) });
        }
        let answer = self.session.enter(sql.to_owned(), params.to_vec());
        Pending::new(runtime::detach(async move { answer.await.map(Outcome::from) }))
    }

    /// Runs statements of any kind, all of them outstanding at once; returns what each gave, in their
    /// order. One that fails does so alone.
    ///
    /// Outside a transaction they are carried out as by [`Connection::submit`], in an order that is not
    /// determined; in a transaction one after another.
    pub fn execute_many<'a>(
        &self,
        statements: impl IntoIterator<Item = (&'a str, &'a [Value])>,
    ) -> Vec<Result<Outcome>> {
        let statements = statements.into_iter();
        if self.in_transaction() || !self.autocommit() {
            return statements.map(|(sql, params)| self.run(sql, params)).collect();
        }
        let pending = statements.map(|(sql, params)| self.submit(sql, params)).collect::<Vec<_>>();
        pending.into_iter().map(Pending::wait).collect()
    }

    /// Commits the open transaction, where one is; says whether one was.
    ///
    /// # Errors
    /// Those of the commit.
    pub fn commit(&self) -> Result<bool> {
        runtime::wait(self.session.end_transaction(true))
    }

    /// Takes back what the open transaction has changed, where one is; says whether one was.
    ///
    /// # Errors
    /// Those of the session: that it was ended.
    pub fn rollback(&self) -> Result<bool> {
        runtime::wait(self.session.end_transaction(false))
    }

    /// Whether each statement outside transactions commits by itself, as it does at first; else it begins a
    /// transaction, which stays open until COMMIT or ROLLBACK.
    pub fn set_autocommit(&self, autocommit: bool) {
        self.session.set_autocommit(autocommit);
    }

    /// See [`Connection::set_autocommit`].
    #[must_use]
    pub fn autocommit(&self) -> bool {
        self.session.autocommit()
    }

    /// Runs one statement to its end; returns how many rows it changed, or gave.
    ///
    /// # Errors
    /// Those of the statement.
    pub fn execute(&self, sql: &str, params: &[Value]) -> Result<u64> {
        self.run(sql, params)?.finish()
    }

    /// Runs a query; its rows are read as they are asked for, from the snapshot of this moment.
    /// A statement that is no query is run, and gives no rows.
    ///
    /// # Errors
    /// Those of the statement; what goes wrong later comes with the rows.
    pub fn query(&self, sql: &str, params: &[Value]) -> Result<Rows> {
        Ok(self.run(sql, params)?.into_rows())
    }

    /// Runs the statements of a script, up to the first that fails; returns how many ran.
    ///
    /// # Errors
    /// That of the statement that failed.
    pub fn execute_script(&self, script: &str) -> Result<usize> {
        let script = split_statements(script);
        let last = Some(script.rest).filter(|rest| !rest.is_empty());
        let (mut ran, script_cancel) = (0, self.script_cancel());
        for statement in script.statements.into_iter().chain(last) {
            script_cancel.check()?;
            self.execute(&statement, &[])?;
            ran += 1;
        }
        Ok(ran)
    }

    /// Begins a script, for those who run its statements one by one.
    #[must_use]
    pub fn script_cancel(&self) -> ScriptCancel {
        ScriptCancel::new(&self.session)
    }

    /// Parses a statement, for running it often.
    ///
    /// # Errors
    /// `Input` when the text is no statement; `Cancelled`. Names are looked up when it runs.
    pub fn prepare(&self, sql: &str) -> Result<Statement> {
        let prepared = if sql.len() < LARGE_TEXT {
            self.session.prepare(sql)
        } else {
            runtime::wait(self.session.prepare_large(sql))
        };
        Ok(Statement::new(self.session.clone(), prepared?))
    }

    /// Parses the statement that this connection runs next: where its text is long, its `statement_timeout` counts
    /// from `since` on.
    ///
    /// # Errors
    /// As [`Connection::prepare`].
    pub async fn prepare_next(&self, sql: &str, since: Instant) -> Result<Statement> {
        let prepared = if sql.len() < LARGE_TEXT {
            self.session.prepare(sql)
        } else {
            self.session.prepare_large_next(sql, since).await
        };
        Ok(Statement::new(self.session.clone(), prepared?))
    }

    /// Gives the next statement all of its `statement_timeout`: what was prepared for it by
    /// [`Connection::prepare_next`] has not been run.
    pub fn forget_preparing(&self) {
        self.session.forget_preparing();
    }

    /// Appends Arrow batches to a table as one statement: all of them, or none; returns how many rows. Their
    /// columns are the table's by position, and values are cast as by INSERT.
    ///
    /// # Errors
    /// As [`Appender::append`].
    pub fn append(&self, table: &str, batches: Vec<RecordBatch>) -> Result<u64> {
        runtime::wait(self.session.append(table, &[], batches))
    }

    /// Takes Arrow batches for a table, fast: in this connection's transaction when one is open,
    /// else in one of its own.
    ///
    /// # Errors
    /// When the appender cannot begin a transaction.
    pub fn appender(&self, table: &str) -> Result<Appender> {
        self.appender_of(table, &[])
    }

    /// The same for batches that have only these columns; the others take their DEFAULT.
    ///
    /// # Errors
    /// When the appender cannot begin a transaction.
    pub fn appender_of(&self, table: &str, columns: &[String]) -> Result<Appender> {
        let (table, columns) = (table.to_owned(), columns.to_vec());
        if self.session.in_transaction() {
            return Ok(Appender::joining(self.session.clone(), table, columns));
        }
        Appender::alone(Arc::new(self.sql.session()), table, columns)
    }

    /// Has rows be read on as a statement of its own, whatever ran since they were begun: it is what
    /// [`CancelHandle::cancel`] ends, and has the time that `statement_timeout` allows anew.
    ///
    /// # Errors
    /// `Terminated` where the connection was ended.
    pub fn resume(&self, rows: &Rows) -> BoxFuture<'static, Result<()>> {
        let (session, rows) = (self.session.clone(), rows.canceller());
        Box::pin(async move { session.resume(rows).await })
    }

    /// What clients of PostgreSQL's protocol are told, where the count of changes is not `seen`. Waits for
    /// the statement that runs.
    pub async fn reported_variables(&self, seen: u64) -> Option<Reported> {
        self.session.reported(seen).await
    }

    /// Returns the time zone and the styles in which times are read and shown; while a statement runs, those before it.
    #[must_use]
    pub fn times(&self) -> Arc<TextSettings> {
        self.session.times()
    }

    /// Returns the settings by which values that come with the next statement are read: `now` is the start of the open
    /// transaction, or the time of this call.
    #[must_use]
    pub fn times_to_read(&self) -> TextSettings {
        self.session.times_to_read()
    }

    /// Lets statements of this connection read Arrow data as a table, without a copy. Tables of the
    /// database have precedence; data that has the name already is replaced.
    ///
    /// # Errors
    /// `Input` where a batch has another schema.
    pub fn register(&self, name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
        self.session.register(name, schema, batches)
    }

    /// Takes back a name given to Arrow data; says whether there was such data.
    pub fn unregister(&self, name: &str) -> bool {
        self.session.unregister(name)
    }

    /// The names that a statement has in the place of tables, and that mean nothing at the moment.
    ///
    /// # Errors
    /// `Input` when the text is no statement.
    pub fn unknown_tables(&self, sql: &str) -> Result<Vec<String>> {
        self.session.unknown_tables(sql)
    }

    /// What is stored of a user's password, for servers that let users in by it; none where there is no
    /// such user, or he has none.
    ///
    /// # Errors
    /// When what other processes have committed cannot be read.
    pub fn verifier(&self, user: &str) -> Result<Option<String>> {
        self.session.verifier(user)
    }

    /// A secret of the database, from which servers make up salts for users who do not exist; none where its users
    /// were made before there was one.
    ///
    /// # Errors
    /// As [`Connection::verifier`].
    pub fn salt_secret(&self) -> Result<Option<String>> {
        self.session.salt_secret()
    }

    /// Whether there is a user of this name.
    ///
    /// # Errors
    /// As [`Connection::verifier`].
    pub fn is_user(&self, user: &str) -> Result<bool> {
        self.session.is_user(user)
    }

    /// What names the connection among those of all processes, in `gadus.sessions` and for KILL.
    ///
    /// # Errors
    /// `Limit` where there is no room for another.
    pub fn session_id(&self) -> Result<u32> {
        self.session.id()
    }

    /// Whether a transaction is open; while a statement runs, whether one was before it.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        self.session.in_transaction()
    }

    /// What the last statement tells beside its result, as a COPY does that leaves rows out; forgotten when the next
    /// one begins.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        self.session.take_notices()
    }

    /// What is set now is what RESET goes back to, as if the connection had begun with it. While a statement
    /// runs it does nothing.
    pub fn keep_settings(&self) {
        self.session.keep_settings();
    }

    /// What ends a running statement, from any thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        CancelHandle::new(&self.session)
    }

    /// [`Connection::execute`], without blocking: runs on the database's threads, for any executor.
    ///
    /// A future that is dropped stops waiting; the statement goes on to its end.
    pub fn execute_async(&self, sql: &str, params: &[Value]) -> BoxFuture<'static, Result<u64>> {
        let (session, sql, params) = (self.session.clone(), sql.to_owned(), params.to_vec());
        Box::pin(runtime::detach(async move {
            match session.execute(&sql, &params).await? {
                gadus_sql::Outcome::Rows(mut rows) => {
                    let mut count = 0;
                    while let Some(batch) = rows.next_batch().await? {
                        count += batch.num_rows() as u64;
                    }
                    Ok(count)
                }
                gadus_sql::Outcome::Changed { rows, .. } => Ok(rows),
                gadus_sql::Outcome::Done(_) => Ok(0),
            }
        }))
    }

    /// [`Connection::query`], without blocking: a stream of batches made on the database's threads.
    ///
    /// A stream that is dropped ends the query.
    pub fn query_async(
        &self,
        sql: &str,
        params: &[Value],
    ) -> BoxFuture<'static, Result<BatchStream>> {
        let (session, sql, params) = (self.session.clone(), sql.to_owned(), params.to_vec());
        Box::pin(runtime::detach(async move {
            match session.execute(&sql, &params).await? {
                gadus_sql::Outcome::Rows(rows) => BatchStream::start(rows),
                _ => Ok(BatchStream::empty()),
            }
        }))
    }
}

impl Outcome {
    /// The rows; none when the statement is no query.
    #[must_use]
    pub fn into_rows(self) -> Rows {
        match self {
            Self::Rows(rows) => rows,
            Self::Changed { .. } | Self::Done(_) => Rows::empty(),
        }
    }

    /// Runs the statement to its end; returns how many rows it changed, or gave.
    pub(crate) fn finish(self) -> Result<u64> {
        match self {
            Self::Rows(mut rows) => {
                let mut count = 0;
                while let Some(batch) = rows.next_batch()? {
                    count += batch.num_rows() as u64;
                }
                Ok(count)
            }
            Self::Changed { rows, .. } => Ok(rows),
            Self::Done(_) => Ok(0),
        }
    }
}

impl From<gadus_sql::Outcome> for Outcome {
    fn from(outcome: gadus_sql::Outcome) -> Self {
        match outcome {
            gadus_sql::Outcome::Rows(rows) => Self::Rows(Rows::new(rows)),
            gadus_sql::Outcome::Changed { verb, rows } => Self::Changed { verb, rows },
            gadus_sql::Outcome::Done(verb) => Self::Done(verb),
        }
    }
}

const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<Connection>();
    shared_by_threads::<CancelHandle>();
    shared_by_threads::<Statement>();
    shared_by_threads::<crate::Database>();
    shared_by_threads::<Error>();
};
