//! Arrow data in and out, by the Arrow `PyCapsule` interface: nothing is copied.
//!
//! - Arrow has no numerics of any number of digits: those leave as doubles.

#![allow(unsafe_code)]

use crate::errors::{misuse, wrong};
use gadus::arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use gadus::arrow::datatypes::SchemaRef;
use gadus::arrow::error::ArrowError;
use gadus::arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use gadus::{Rows, schema_with_doubles, with_doubles};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// What the interface calls a stream.
const STREAM: &CStr = c"arrow_array_stream";

/// All batches of whatever gives an Arrow stream.
pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let py = object.py();
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>().map_err(|_| misuse("no Arrow stream"))?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream by the interface's contract; it is moved out, which
    // leaves a released one behind for the capsule to drop.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    let reader = reader.map_err(|error| failed(&error))?;
    let schema = reader.schema();
    // Whoever makes the batches takes the interpreter's lock where he needs it.
    let batches = py.detach(move || reader.collect::<Result<Vec<_>, _>>());
    Ok((schema, batches.map_err(|error| failed(&error))?))
}

fn failed(error: &ArrowError) -> PyErr {
    wrong(format!("the Arrow stream cannot be read: {error}"))
}

/// A capsule of an Arrow stream: some rows, and those that come behind them.
pub(crate) fn capsule(
    py: Python<'_>,
    first: RecordBatch,
    rows: Rows,
) -> PyResult<Bound<'_, PyCapsule>> {
    let first = Some(first).filter(|batch| batch.num_rows() > 0);
    let stream = FFI_ArrowArrayStream::new(Box::new(Leaving { first, rows }));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// Rows that have all been read, for whoever reads Arrow streams.
#[pyclass(module = "gadus", frozen)]
pub(crate) struct Gathered {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Gathered {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl Gathered {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(|batch| with_doubles(&batch));
        let reader = RecordBatchIterator::new(batches, schema_with_doubles(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }
}

/// Rows as Arrow reads them.
struct Leaving {
    first: Option<RecordBatch>,
    rows: Rows,
}

impl Iterator for Leaving {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.first.take() {
            return Some(with_doubles(&batch));
        }
        let rows = &mut self.rows;
        // Whoever asks may hold the interpreter's lock, which those who make the rows may want.
        let batch = Python::try_attach(|py| py.detach(|| rows.next_batch()));
        let batch = batch.unwrap_or_else(|| rows.next_batch());
        // The text of an error goes to C, where it ends with a zero.
        let failed = |error: gadus::Error| {
            ArrowError::ComputeError(error.to_string().replace('\0', "\u{fffd}"))
        };
        match batch.map_err(failed) {
            Ok(batch) => batch.map(|batch| with_doubles(&batch)),
            Err(error) => Some(Err(error)),
        }
    }
}

impl RecordBatchReader for Leaving {
    fn schema(&self) -> SchemaRef {
        schema_with_doubles(self.rows.schema())
    }
}
