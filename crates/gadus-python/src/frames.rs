//! Python's data as tables: registered, or found among the caller's variables.

use crate::batches::read;
use crate::errors::{exception, wrong};
use gadus::Connection;
use gadus::arrow::array::RecordBatch;
use gadus::arrow::datatypes::SchemaRef;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The batches of Arrow data or a data frame; none where an object is neither.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<Option<(SchemaRef, Vec<RecordBatch>)>> {
    static STREAM_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let stream = STREAM_OF.import(data.py(), "gadus._frames", "stream_of")?.call1((data,))?;
    if stream.is_none() { Ok(None) } else { read(&stream).map(Some) }
}

/// Gives data a name.
pub(crate) fn register(
    py: Python<'_>,
    connection: &Connection,
    name: &str,
    data: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let Some((schema, batches)) = batches(data)? else {
        let class = data.get_type().name()?;
        return Err(wrong(format!("{name} is a {class}: neither Arrow data nor a data frame")));
    };
    connection.register(name, schema, batches).map_err(|error| exception(py, &error))
}

/// Variables of the calling Python function, or of its module, that a statement reads as tables: by the names
/// that it has in the place of tables that do not exist.
pub(crate) fn of_caller(
    py: Python<'_>,
    connection: &Connection,
    sql: &str,
) -> PyResult<Vec<(String, SchemaRef, Vec<RecordBatch>)>> {
    // A text that is no statement was refused with a better error.
    let unknown = connection.unknown_tables(sql).unwrap_or_default();
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
    let mut found = Vec::new();
    for name in unknown {
        for scope in ["f_locals", "f_globals"] {
            let Ok(data) = frame.getattr(scope)?.get_item(&name) else { continue };
            // Anything else has the name by chance.
            if let Some((schema, batches)) = batches(&data)? {
                found.push((name, schema, batches));
            }
            break;
        }
    }
    Ok(found)
}
