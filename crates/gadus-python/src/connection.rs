//! Connections.
//!
//! - Threads may share one; its statements wait for each other. `duplicate` gives a thread its own.
//! - Without `autocommit` a statement begins a transaction where none is open, as DB-API 2.0 has it.

use crate::binding::value;
use crate::cursor::Cursor;
use crate::errors::{exception, misuse, wrong};
use crate::frames::{of_caller, register};
use crate::interrupts::{Watched, interruptible};
use crate::outstanding;
use gadus::{Database, ErrorKind, Outcome, Statement, Value};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMapping, PyString};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Statements whose parameters' names are remembered; all are forgotten when there are more.
const NAMED_STATEMENTS_MAX: usize = 1_024;

/// One line of statements to a database.
#[pyclass(module = "gadus", frozen)]
pub(crate) struct Connection {
    open: Mutex<Option<Open>>,
    progress_bar: AtomicBool,
    /// The names of the parameters of statements that were run with names.
    names: Mutex<HashMap<String, Arc<[String]>>>,
}

#[derive(Clone)]
pub(crate) struct Open {
    pub(crate) database: Database,
    pub(crate) connection: Arc<gadus::Connection>,
}

#[pymethods]
impl Connection {
    /// Runs a statement; returns a cursor with what it gave.
    #[pyo3(signature = (sql, params = None))]
    fn execute(
        slf: &Bound<'_, Self>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Cursor> {
        let cursor = Cursor::new(slf.clone().unbind());
        cursor.run(slf.py(), sql, params)?;
        Ok(cursor)
    }

    /// Runs a statement once for each set of parameters, in one transaction.
    fn executemany(
        slf: &Bound<'_, Self>,
        sql: &str,
        params: &Bound<'_, PyAny>,
    ) -> PyResult<Cursor> {
        let cursor = Cursor::new(slf.clone().unbind());
        cursor.run_for_each(slf.py(), sql, params)?;
        Ok(cursor)
    }

    /// Runs the statements of a script, up to the first that fails; returns how many ran.
    fn executescript(&self, py: Python<'_>, script: &str) -> PyResult<usize> {
        let open = self.open(py)?;
        let connection = &open.connection;
        let ran =
            interruptible(py, &self.watched(connection), || connection.execute_script(script))?;
        ran.map_err(|error| exception(py, &error))
    }

    /// Runs statements of any kind, all of them outstanding at once: (sql, params) or sql. Those that scan
    /// a table are answered together. Returns a cursor for each, in their order; with
    /// `return_exceptions`, an exception in the place of one that failed.
    #[pyo3(signature = (statements, *, return_exceptions = false))]
    fn execute_batch<'py>(
        slf: &Bound<'py, Self>,
        statements: &Bound<'py, PyAny>,
        return_exceptions: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        outstanding::execute_batch(slf, statements, return_exceptions)
    }

    /// Begins a statement, and returns a `concurrent.futures.Future` of its cursor: thousands may be
    /// outstanding, and are answered together where they scan a table.
    #[pyo3(signature = (sql, params = None))]
    fn submit<'py>(
        slf: &Bound<'py, Self>,
        sql: &str,
        params: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        outstanding::submit(slf, sql, params)
    }

    /// A new cursor of this connection.
    fn cursor(slf: &Bound<'_, Self>) -> PyResult<Cursor> {
        slf.get().open(slf.py())?;
        Ok(Cursor::new(slf.clone().unbind()))
    }

    /// Another connection to the same open database.
    fn duplicate(&self, py: Python<'_>) -> PyResult<Self> {
        let Open { database, connection } = self.open(py)?;
        Ok(Self::new(database, connection.autocommit(), self.progress_bar()))
    }

    /// Begins a transaction.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, |connection| connection.execute("BEGIN", &[]).map(|_| ()))
    }

    /// Commits the open transaction; nothing where none is open.
    fn commit(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, |connection| connection.commit().map(|_| ()))
    }

    /// Takes back what the open transaction has changed; nothing where none is open.
    fn rollback(&self, py: Python<'_>) -> PyResult<()> {
        self.control(py, |connection| connection.rollback().map(|_| ()))
    }

    /// Closes the connection; an open transaction is rolled back. The database is closed with its last
    /// connection and result.
    fn close(&self, py: Python<'_>) {
        let open = self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(open));
    }

    /// Ends the statement that runs, from another thread.
    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        self.open(py)?.connection.cancel_handle().cancel();
        Ok(())
    }

    /// Gives Arrow data a name that statements of this connection read as a table: anything with
    /// `__arrow_c_stream__`, or a pandas data frame.
    fn register(&self, py: Python<'_>, name: &str, data: &Bound<'_, PyAny>) -> PyResult<()> {
        register(py, &self.open(py)?.connection, name, data)
    }

    /// Takes such a name back.
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        if self.open(py)?.connection.unregister(name) {
            return Ok(());
        }
        Err(wrong(format!("no data is registered as {name}")))
    }

    /// Appends rows to a table, its columns by position, fast; returns how many. In the open transaction
    /// where there is one.
    fn append(&self, py: Python<'_>, table: &str, data: &Bound<'_, PyAny>) -> PyResult<u64> {
        let open = self.open(py)?;
        let (_, batches) = crate::frames::batches(data)?
            .ok_or_else(|| misuse("rows to append are Arrow data or a data frame"))?;
        let connection = &open.connection;
        let append = || connection.append(table, batches);
        let appended = interruptible(py, &self.watched(connection), append)?;
        appended.map_err(|error| exception(py, &error))
    }

    /// Writes a checkpoint now, so that the next opening has no log to replay.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open(py)?;
        py.detach(|| open.database.checkpoint()).map_err(|error| exception(py, &error))
    }

    /// Whether each statement outside a transaction commits what it did.
    #[getter]
    fn autocommit(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.connection.autocommit())
    }

    #[setter]
    fn set_autocommit(&self, py: Python<'_>, autocommit: bool) -> PyResult<()> {
        self.open(py)?.connection.set_autocommit(autocommit);
        Ok(())
    }

    /// Whether a statement that takes long shows how far it has come.
    #[getter]
    fn progress_bar(&self) -> bool {
        self.progress_bar.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_progress_bar(&self, progress_bar: bool) {
        self.progress_bar.store(progress_bar, Ordering::Relaxed);
    }

    /// Whether a transaction is open.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.open(py)?.connection.in_transaction())
    }

    /// Whether the connection was closed.
    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn __enter__(slf: Py<Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        slf.get().open(py)?;
        Ok(slf)
    }

    /// Commits, or takes back where an exception leaves the block; then closes.
    fn __exit__(
        &self,
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        _exception: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if self.closed(py) {
            return Ok(());
        }
        let ended = if class.is_none() { self.commit(py) } else { self.rollback(py) };
        self.close(py);
        ended
    }
}

impl Connection {
    pub(crate) fn new(database: Database, autocommit: bool, progress_bar: bool) -> Self {
        let connection = Arc::new(database.connect());
        connection.set_autocommit(autocommit);
        Self {
            open: Mutex::new(Some(Open { database, connection })),
            progress_bar: AtomicBool::new(progress_bar),
            names: Mutex::default(),
        }
    }

    /// The open database.
    pub(crate) fn open(&self, py: Python<'_>) -> PyResult<Open> {
        let open = self.open.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| misuse("the connection is closed"))
    }

    /// How statements are watched while they run.
    pub(crate) fn watched(&self, connection: &gadus::Connection) -> Watched {
        Watched { handle: connection.cancel_handle(), shows_progress: self.progress_bar() }
    }

    /// Runs a statement, which may read variables of its caller as tables.
    pub(crate) fn run(
        &self,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Outcome> {
        let connection = self.open(py)?.connection;
        let values = self.values(&connection, py, sql, params)?;
        let watched = self.watched(&connection);
        let outcome = interruptible(py, &watched, || connection.run(sql, &values))?;
        let error = match outcome {
            Ok(outcome) => return Ok(outcome),
            Err(error) => error,
        };
        let may_miss_table = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Input);
        let tables = if may_miss_table { of_caller(py, &connection, sql)? } else { Vec::new() };
        if tables.is_empty() {
            return Err(exception(py, &error));
        }
        let outcome = interruptible(py, &watched, || {
            let with = |statement: Statement, (name, schema, batches): (String, _, _)| {
                statement.with_table(&name, schema, batches)
            };
            tables.into_iter().try_fold(connection.prepare(sql)?, with)?.run(&values)
        })?;
        outcome.map_err(|error| exception(py, &error))
    }

    /// Runs a statement for each set of parameters, all or none; returns how many rows it changed.
    pub(crate) fn run_for_each(
        &self,
        py: Python<'_>,
        sql: &str,
        sets: &Bound<'_, PyAny>,
    ) -> PyResult<u64> {
        let connection = self.open(py)?.connection;
        let sets = sets.try_iter()?.map(|set| self.values(&connection, py, sql, Some(&set?)));
        let sets = sets.collect::<PyResult<Vec<_>>>()?;
        let changed = interruptible(py, &self.watched(&connection), || {
            connection.prepare(sql)?.execute_each(&sets)
        })?;
        changed.map_err(|error| exception(py, &error))
    }

    /// The values of a statement's parameters: by position, or by name of a mapping.
    pub(crate) fn values(
        &self,
        connection: &gadus::Connection,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Value>> {
        let Some(params) = params.filter(|params| !params.is_none()) else { return Ok(Vec::new()) };
        if params.is_instance_of::<PyString>() {
            return Err(wrong("parameters are a sequence or a mapping, not a text: write (text,)"));
        }
        if params.is_instance_of::<PyBytes>() || params.is_instance_of::<PyByteArray>() {
            return Err(wrong("parameters are a sequence or a mapping, not bytes: write (bytes,)"));
        }
        let is_mapping = params.is_instance_of::<PyDict>() || params.cast::<PyMapping>().is_ok();
        if !is_mapping {
            return params.try_iter()?.map(|param| value(&param?)).collect();
        }
        let names = self.names(connection, py, sql)?;
        if names.is_empty() && params.len()? > 0 {
            return Err(wrong("the statement's parameters have no names, and a mapping was given"));
        }
        let named = |name: &String| match params.get_item(name) {
            Ok(param) => value(&param),
            Err(_) => Err(wrong(format!("the parameter :{name} was not given"))),
        };
        names.iter().map(named).collect()
    }

    fn names(
        &self,
        connection: &gadus::Connection,
        py: Python<'_>,
        sql: &str,
    ) -> PyResult<Arc<[String]>> {
        let mut known = self.names.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = known.get(sql) {
            return Ok(names.clone());
        }
        let statement = connection.prepare(sql).map_err(|error| exception(py, &error))?;
        let names = Arc::<[String]>::from(statement.parameter_names());
        if known.len() >= NAMED_STATEMENTS_MAX {
            known.clear();
        }
        known.insert(sql.to_owned(), names.clone());
        Ok(names)
    }

    fn control(
        &self,
        py: Python<'_>,
        control: impl FnOnce(&gadus::Connection) -> gadus::Result<()> + Send,
    ) -> PyResult<()> {
        let connection = self.open(py)?.connection;
        let done = interruptible(py, &self.watched(&connection), || control(&connection))?;
        done.map_err(|error| exception(py, &error))
    }
}
