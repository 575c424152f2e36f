//! Cursors: statements of a connection, and the rows they gave.
//!
//! - Rows are made as they are fetched, and become Python objects some hundred at a time. What was not
//!   fetched as objects can still leave as Arrow data.

use crate::batches::{Gathered, capsule};
use crate::connection::Connection;
use crate::description::description;
use crate::errors::misuse;
use crate::fetching::Fetching;
use crate::interrupts::Watched;
use gadus::Outcome;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyCapsule, PyList, PyString, PyTuple};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs statements, and hands out their rows.
#[pyclass(module = "gadus", frozen)]
pub(crate) struct Cursor {
    connection: Py<Connection>,
    state: Mutex<State>,
    arraysize: AtomicUsize,
}

/// What the last statement gave.
#[derive(Default)]
struct State {
    closed: bool,
    rows: Given,
    description: Option<Py<PyList>>,
    /// Rows that it changed; none where it was a query, or nobody knows.
    changed: Option<u64>,
}

/// The rows of a statement.
#[derive(Default)]
enum Given {
    #[default]
    Nothing,
    Rows(Box<Fetching>),
    /// A thread is fetching some of them.
    Busy,
}

#[pymethods]
impl Cursor {
    /// Runs a statement; returns this cursor.
    #[pyo3(signature = (sql, params = None))]
    fn execute<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        params: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        slf.get().run(slf.py(), sql, params)?;
        Ok(slf)
    }

    /// Runs a statement once for each set of parameters, in one transaction; returns this cursor.
    fn executemany<'py>(
        slf: Bound<'py, Self>,
        sql: &str,
        params: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        slf.get().run_for_each(slf.py(), sql, params)?;
        Ok(slf)
    }

    /// The next row; None behind the last.
    fn fetchone(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        self.fetch(py, |rows| rows.next(py))
    }

    /// The next rows, `arraysize` unless told.
    #[pyo3(signature = (size = None))]
    fn fetchmany(&self, py: Python<'_>, size: Option<usize>) -> PyResult<Vec<Py<PyTuple>>> {
        let size = size.unwrap_or_else(|| self.arraysize());
        self.fetch(py, |rows| {
            let next = std::iter::from_fn(|| rows.next(py).transpose());
            next.take(size).collect()
        })
    }

    /// All rows that are left.
    fn fetchall(&self, py: Python<'_>) -> PyResult<Vec<Py<PyTuple>>> {
        self.fetch(py, |rows| rows.all(py))
    }

    /// The next rows, which stay to be fetched: as many, or those of one batch.
    fn _peek(&self, py: Python<'_>, rows: usize) -> PyResult<Vec<Py<PyTuple>>> {
        self.fetch(py, |fetching| fetching.peek(py, rows))
    }

    /// The rows that are left, all read, as something that has an Arrow stream.
    fn _gather(&self, py: Python<'_>) -> PyResult<Gathered> {
        let gathered = self.fetch(py, |fetching| fetching.gather(py))?;
        self.lock(py).rows = Given::Nothing;
        Ok(gathered)
    }

    /// A preview of the rows.
    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(slf.get().lock(slf.py()).rows, Given::Rows(_)) {
            return Ok(PyString::new(slf.py(), "<gadus.Cursor>").into_any());
        }
        slf.py().import("gadus._display")?.call_method1("text", (slf,))
    }

    /// A preview of the rows, for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !matches!(slf.get().lock(slf.py()).rows, Given::Rows(_)) {
            return Ok(None);
        }
        slf.py().import("gadus._display")?.call_method1("as_html", (slf,)).map(Some)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyTuple>>> {
        self.fetchone(py)
    }

    /// The rows that are left, as an Arrow stream: the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer keep its own schema.
        let _ = requested_schema;
        let rows = self.take(py)?;
        self.lock(py).rows = Given::Nothing;
        let (first, rows) = rows.rest()?;
        capsule(py, first, rows)
    }

    /// The rows that are left, as a `pyarrow.Table`.
    fn arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_arrow")
    }

    /// The rows that are left, as a `pyarrow.Table`.
    fn fetch_arrow_table<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_arrow")
    }

    /// The rows that are left, as a `pyarrow.RecordBatchReader` that reads them as it is asked.
    fn fetch_record_batch<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_record_batches")
    }

    /// The rows that are left, as a `pandas.DataFrame`.
    fn df<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_pandas")
    }

    /// The rows that are left, as a `polars.DataFrame`.
    fn pl<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_polars")
    }

    /// The rows that are left, as a dictionary of numpy arrays.
    fn fetchnumpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_python(slf, "to_numpy")
    }

    /// Name, type, and whether it may be NULL, of each column; None where the last statement gave no rows.
    #[getter]
    fn description(&self, py: Python<'_>) -> Option<Py<PyList>> {
        self.lock(py).description.as_ref().map(|list| list.clone_ref(py))
    }

    /// How many rows the last statement changed; -1 where that is not known, as for a query.
    #[getter]
    fn rowcount(&self, py: Python<'_>) -> i64 {
        self.lock(py).changed.and_then(|rows| i64::try_from(rows).ok()).unwrap_or(-1)
    }

    /// Rows that `fetchmany` gives unless told.
    #[getter]
    fn arraysize(&self) -> usize {
        self.arraysize.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_arraysize(&self, rows: usize) {
        self.arraysize.store(rows, Ordering::Relaxed);
    }

    /// The connection that this is a cursor of.
    #[getter]
    fn connection(&self, py: Python<'_>) -> Py<Connection> {
        self.connection.clone_ref(py)
    }

    /// Tables have no row number of their own: None.
    #[getter]
    fn lastrowid(&self) -> Option<i64> {
        None
    }

    /// Without effect: DB-API 2.0 has it.
    fn setinputsizes(&self, sizes: &Bound<'_, PyAny>) {
        let _ = sizes;
    }

    /// Without effect: DB-API 2.0 has it.
    #[pyo3(signature = (size, column = None))]
    fn setoutputsize(&self, size: &Bound<'_, PyAny>, column: Option<&Bound<'_, PyAny>>) {
        let _ = (size, column);
    }

    /// Gives up the rows that are left; the cursor runs nothing any more.
    fn close(&self, py: Python<'_>) {
        let closed = State { closed: true, ..State::default() };
        let before = std::mem::replace(&mut *self.lock(py), closed);
        before.rows.give_up(py);
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        let _ = exception;
        self.close(py);
    }
}

impl Cursor {
    pub(crate) fn new(connection: Py<Connection>) -> Self {
        Self { connection, state: Mutex::default(), arraysize: AtomicUsize::new(1) }
    }

    /// A cursor with what a statement gave.
    pub(crate) fn with(
        py: Python<'_>,
        connection: &Py<Connection>,
        outcome: Outcome,
    ) -> PyResult<Self> {
        let cursor = Self::new(connection.clone_ref(py));
        cursor.keep(py, outcome)?;
        Ok(cursor)
    }

    pub(crate) fn run(
        &self,
        py: Python<'_>,
        sql: &str,
        params: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.forget(py)?;
        let outcome = self.connection.get().run(py, sql, params)?;
        self.keep(py, outcome)
    }

    pub(crate) fn run_for_each(
        &self,
        py: Python<'_>,
        sql: &str,
        sets: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.forget(py)?;
        let changed = self.connection.get().run_for_each(py, sql, sets)?;
        self.lock(py).changed = Some(changed);
        Ok(())
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up what the last statement gave.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.lock(py);
        if state.closed {
            return Err(closed());
        }
        let before = std::mem::take(&mut *state);
        drop(state);
        before.rows.give_up(py);
        Ok(())
    }

    fn keep(&self, py: Python<'_>, outcome: Outcome) -> PyResult<()> {
        let mut kept = State::default();
        match outcome {
            Outcome::Rows(rows) => {
                kept.changed = rows.changed().map(|(_, rows)| rows);
                kept.description = Some(description(py, rows.schema())?.unbind());
                let connection = self.connection.get();
                let watched = connection.watched(&connection.open(py)?.connection);
                let watched = Watched { handle: watched.handle.for_rows(&rows), ..watched };
                kept.rows = Given::Rows(Box::new(Fetching::new(rows, watched)));
            }
            Outcome::Changed { rows, .. } => kept.changed = Some(rows),
            Outcome::Done(_) => {}
        }
        *self.lock(py) = kept;
        Ok(())
    }

    /// Takes the rows out, so that nobody is locked out while objects are made: that may run any code.
    fn take(&self, py: Python<'_>) -> PyResult<Box<Fetching>> {
        let mut state = self.lock(py);
        match std::mem::replace(&mut state.rows, Given::Busy) {
            Given::Rows(rows) => Ok(rows),
            Given::Busy => Err(misuse("another thread is fetching rows of this cursor")),
            Given::Nothing => {
                state.rows = Given::Nothing;
                if state.closed {
                    return Err(closed());
                }
                Err(misuse(
                    "there are no rows to fetch: the last statement was no query, or there was none",
                ))
            }
        }
    }

    fn fetch<T>(
        &self,
        py: Python<'_>,
        fetch: impl FnOnce(&mut Fetching) -> PyResult<T>,
    ) -> PyResult<T> {
        let mut rows = self.take(py)?;
        let fetched = fetch(&mut rows);
        let mut state = self.lock(py);
        // Unless the cursor was closed, or runs another statement, meanwhile.
        if matches!(state.rows, Given::Busy) {
            state.rows = Given::Rows(rows);
        }
        fetched
    }
}

impl Given {
    fn give_up(self, py: Python<'_>) {
        if let Self::Rows(rows) = self {
            rows.give_up(py);
        }
    }
}

/// What `gadus._frames` makes of a cursor.
fn in_python<'py>(cursor: &Bound<'py, Cursor>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    cursor.py().import("gadus._frames")?.call_method1(function, (cursor,))
}

fn closed() -> PyErr {
    misuse("the cursor is closed")
}
