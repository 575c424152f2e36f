//! Statements that are outstanding together.

use crate::connection::Connection;
use crate::cursor::Cursor;
use crate::errors::{exception, wrong};
use crate::interrupts::interruptible;
use gadus::{Outcome, Result, Value};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString, PyTuple};

/// Runs statements, all outstanding at once.
pub(crate) fn execute_batch<'py>(
    connection: &Bound<'py, Connection>,
    statements: &Bound<'py, PyAny>,
    return_exceptions: bool,
) -> PyResult<Bound<'py, PyList>> {
    let py = connection.py();
    let open = connection.get().open(py)?.connection;
    let mut texts = Vec::<(String, Vec<Value>)>::new();
    for statement in statements.try_iter()? {
        let (sql, params) = parts(&statement?)?;
        let values = connection.get().values(&open, py, &sql, params.as_ref())?;
        texts.push((sql, values));
    }
    let outcomes = interruptible(py, &connection.get().watched(&open), || {
        let statements = texts.iter().map(|(sql, values)| (sql.as_str(), values.as_slice()));
        Ok(open.execute_many(statements))
    })?;
    let outcomes = outcomes.map_err(|error| exception(py, &error))?;
    let results = PyList::empty(py);
    for outcome in outcomes {
        match cursor(py, connection.as_unbound(), outcome) {
            Ok(cursor) => results.append(cursor)?,
            Err(error) if return_exceptions => results.append(error.value(py))?,
            Err(error) => return Err(error),
        }
    }
    Ok(results)
}

/// Begins a statement; returns a `concurrent.futures.Future` of its cursor.
pub(crate) fn submit<'py>(
    connection: &Bound<'py, Connection>,
    sql: &str,
    params: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static FUTURE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = connection.py();
    let open = connection.get().open(py)?.connection;
    let values = connection.get().values(&open, py, sql, params)?;
    let future = FUTURE.import(py, "concurrent.futures", "Future")?.call0()?;
    let (told, owner) = (future.clone().unbind(), connection.clone().unbind());
    let begun = py.detach(|| {
        open.submit(sql, &values).tell(move |outcome| {
            // Nobody is told where the interpreter has ended.
            let _ = Python::try_attach(|py| tell(py, &told, &owner, outcome));
        })
    });
    begun.map_err(|error| exception(py, &error))?;
    Ok(future)
}

/// Tells a future what its statement gave.
fn tell(
    py: Python<'_>,
    future: &Py<PyAny>,
    connection: &Py<Connection>,
    outcome: Result<Outcome>,
) -> PyResult<()> {
    let future = future.bind(py);
    if !future.call_method0("set_running_or_notify_cancel")?.is_truthy()? {
        return Ok(());
    }
    match cursor(py, connection, outcome) {
        Ok(cursor) => future.call_method1("set_result", (cursor,))?,
        Err(error) => future.call_method1("set_exception", (error.value(py),))?,
    };
    Ok(())
}

fn cursor(
    py: Python<'_>,
    connection: &Py<Connection>,
    outcome: Result<Outcome>,
) -> PyResult<Cursor> {
    let outcome = outcome.map_err(|error| exception(py, &error))?;
    Cursor::with(py, connection, outcome)
}

/// A statement's text and parameters: `(sql, params)`, `(sql,)` or `sql`.
fn parts<'py>(statement: &Bound<'py, PyAny>) -> PyResult<(String, Option<Bound<'py, PyAny>>)> {
    if let Ok(sql) = statement.cast::<PyString>() {
        return Ok((sql.extract()?, None));
    }
    let pair = statement.cast::<PyTuple>().ok().filter(|pair| matches!(pair.len(), 1 | 2));
    let Some(pair) = pair else {
        return Err(wrong("a statement of a batch is a text, or a tuple of text and parameters"));
    };
    let params = if pair.len() == 2 { Some(pair.get_item(1)?) } else { None };
    Ok((pair.get_item(0)?.extract()?, params))
}
