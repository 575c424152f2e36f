//! Test data from a seed: the same rows on every machine, at any size, without a download.

pub(crate) mod bookings;
pub(crate) mod hits;
pub(crate) mod statements;
pub(crate) mod tpch;
mod weighted;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

/// A generated table.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// The statement that creates it, without a semicolon; its types fit `schema`.
    pub(crate) create_table: String,
    pub(crate) schema: SchemaRef,
    /// How many rows the batches hold together: exact, or for lineitem an estimate.
    pub(crate) rows: u64,
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
}
