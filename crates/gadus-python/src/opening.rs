//! `gadus.connect`.

use crate::connection::Connection;
use crate::errors::{misuse, unopened};
use gadus::{ByteCount, Database, Durability, Options};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// What sqlite3 and duckdb call a database in memory, too.
const IN_MEMORY: &str = ":memory:";

/// Opens a database, or creates it.
///
/// `path` is a file, or ":memory:" for a database that is gone when its last connection is. Any number of
/// processes may have a file open at once; `exclusive=True` keeps others out.
#[pyfunction]
#[pyo3(signature = (path = None, *, read_only = false, create = true, exclusive = false,
    autocommit = true, durability = None, threads = None, cache = None, lock_folder = None,
    spill_folder = None))]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // they are keywords in Python
pub(crate) fn connect(
    py: Python<'_>,
    path: Option<PathBuf>,
    read_only: bool,
    create: bool,
    exclusive: bool,
    autocommit: bool,
    durability: Option<&str>,
    threads: Option<usize>,
    cache: Option<&Bound<'_, PyAny>>,
    lock_folder: Option<PathBuf>,
    spill_folder: Option<PathBuf>,
) -> PyResult<Connection> {
    let mut options = Options::new().read_only(read_only).create(create).exclusive(exclusive);
    if let Some(name) = durability {
        options = options.durability(durability_named(name)?);
    }
    if let Some(threads) = threads {
        options = options.threads(threads);
    }
    if let Some(cache) = cache {
        options = options.cache(bytes(cache)?);
    }
    if let Some(folder) = lock_folder {
        options = options.lock_folder(folder);
    }
    if let Some(folder) = spill_folder {
        options = options.spill_folder(folder);
    }
    let path = path.filter(|path| ![IN_MEMORY, ""].map(Path::new).contains(&path.as_path()));
    let opened = py.detach(|| match path {
        Some(path) => Database::open(path, options),
        None => Database::open_in_memory(options),
    });
    let database = opened.map_err(|error| unopened(py, &error))?;
    if let Some(warning) = database.warning() {
        let category = py.import("gadus")?.getattr("Warning")?;
        py.import("warnings")?.call_method1("warn", (warning, category, 2))?;
    }
    let in_notebook = py.import("gadus._display")?.call_method0("in_notebook")?.extract()?;
    Ok(Connection::new(database, autocommit, in_notebook))
}

fn durability_named(name: &str) -> PyResult<Durability> {
    match name.to_ascii_lowercase().as_str() {
        "sync" => Ok(Durability::Sync),
        "relaxed" => Ok(Durability::Relaxed),
        "off" => Ok(Durability::Off),
        other => Err(misuse(format!("durability is sync, relaxed or off, not {other}"))),
    }
}

/// A count, or a text like "256MiB".
fn bytes(object: &Bound<'_, PyAny>) -> PyResult<ByteCount> {
    if let Ok(count) = object.extract::<u64>() {
        return Ok(ByteCount(count));
    }
    let text: String = object.extract()?;
    text.parse().map_err(|error| misuse(format!("cache: {error}")))
}
