//! The native part of the Python package `gadus`.
//!
//! - Connections and cursors of DB-API 2.0, over the embedded API alone. Whatever can take time runs
//!   without the interpreter's lock.
//! - Arrow data goes in and out through the Arrow `PyCapsule` interface, without a copy.
//! - Memory is jemalloc's; Python's own objects stay where Python has them.
//! - What needs other packages (pandas, polars, pyarrow, numpy) is Python: the folder `python/gadus`.

mod batches;
mod binding;
mod connection;
mod cursor;
mod description;
mod errors;
mod fetching;
mod frames;
mod interrupts;
mod objects;
mod opening;
mod outstanding;
mod progress;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _gadus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gadus_allocator::heed_limits();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<cursor::Cursor>()?;
    module.add_function(wrap_pyfunction!(opening::connect, module)?)?;
    errors::add_to(module)
}
