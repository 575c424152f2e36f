//! A Parquet file, compressed by Zstandard.
//!
//! - Rows of a row group wait in memory until it is full.

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::BatchWriter;

/// The writer exists once the schema is known.
pub(super) struct Parquet<W: Write + Send> {
    waiting: Option<W>,
    writer: Option<ArrowWriter<W>>,
}

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(output: W) -> Self {
        Self { waiting: Some(output), writer: None }
    }

    fn writer(&mut self) -> &mut ArrowWriter<W> {
        self.writer.as_mut().expect("a batch and the end come after the start")
    }
}

impl<W: Write + Send> BatchWriter for Parquet<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        let output = self.waiting.take().expect("the start comes once");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(output, schema.clone(), Some(properties));
        self.writer = Some(writer.map_err(to_arrow)?);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.writer().write(batch).map_err(to_arrow)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer().finish().map_err(to_arrow).map(|_| ())
    }
}

/// An I/O error stays one: the program must know when its reader went away.
fn to_arrow(error: ParquetError) -> ArrowError {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => ArrowError::from(*cause),
            Err(cause) => ArrowError::from_external_error(cause),
        },
        other => ArrowError::from_external_error(Box::new(other)),
    }
}
