//! Formats for programs, by Arrow's own writers.

use std::io::Write;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::WriterBuilder as JsonBuilder;
use arrow::json::writer::{JsonArray, LineDelimited, Writer as JsonWriter};

use super::numbers::Numbers;
use super::{BatchWriter, POINT_FORMAT, POINT_WITH_ZONE_FORMAT};

/// Comma-separated values; the header is written even when there are no rows.
///
/// Encodes into memory first: the encoder would turn an I/O error into text, and the program could
/// not tell a reader that went away from a full disk.
#[derive(Debug)]
pub(super) struct Csv<W> {
    output: W,
    encoded: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output, encoded: Vec::new() }
    }

    fn write(&mut self, batch: &RecordBatch, header: bool) -> Result<(), ArrowError> {
        self.encoded.clear();
        let builder = CsvBuilder::new().with_header(header);
        let builder = builder.with_timestamp_format(POINT_FORMAT.to_owned());
        let builder = builder.with_timestamp_tz_format(POINT_WITH_ZONE_FORMAT.to_owned());
        builder.build(&mut self.encoded).write(batch)?;
        self.output.write_all(&self.encoded)?;
        Ok(())
    }
}

impl<W: Write> BatchWriter for Csv<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        self.write(&RecordBatch::new_empty(schema.clone()), true)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.write(batch, false)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        Ok(())
    }
}

/// One JSON array.
pub(super) struct Json<W: Write> {
    writer: JsonWriter<W, JsonArray>,
}

impl<W: Write> Json<W> {
    pub(super) fn new(output: W) -> Self {
        let builder = JsonBuilder::new().with_explicit_nulls(true);
        Self { writer: builder.with_encoder_factory(Arc::new(Numbers)).build(output) }
    }
}

impl<W: Write> BatchWriter for Json<W> {
    fn start(&mut self, _: &SchemaRef) -> Result<(), ArrowError> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.writer.write(batch)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()?;
        writeln!(self.writer.get_mut())?;
        Ok(())
    }
}

/// One JSON object per line.
pub(super) struct JsonLines<W: Write> {
    writer: JsonWriter<W, LineDelimited>,
}

impl<W: Write> JsonLines<W> {
    pub(super) fn new(output: W) -> Self {
        let builder = JsonBuilder::new().with_explicit_nulls(true);
        Self { writer: builder.with_encoder_factory(Arc::new(Numbers)).build(output) }
    }
}

impl<W: Write> BatchWriter for JsonLines<W> {
    fn start(&mut self, _: &SchemaRef) -> Result<(), ArrowError> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        self.writer.write(batch)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()
    }
}

/// An Arrow IPC stream.
pub(super) struct Arrow<W: Write> {
    state: ArrowState<W>,
}

/// The stream begins with the schema, so its writer exists from the start on.
enum ArrowState<W: Write> {
    Waiting(W),
    Writing(Box<StreamWriter<W>>),
    Ended,
}

impl<W: Write> Arrow<W> {
    pub(super) fn new(output: W) -> Self {
        Self { state: ArrowState::Waiting(output) }
    }
}

impl<W: Write> BatchWriter for Arrow<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        if let ArrowState::Waiting(output) = std::mem::replace(&mut self.state, ArrowState::Ended) {
            self.state = ArrowState::Writing(Box::new(StreamWriter::try_new(output, schema)?));
        }
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match &mut self.state {
            ArrowState::Writing(writer) => writer.write(batch),
            _ => unreachable!("a batch comes between start and finish"),
        }
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        match &mut self.state {
            ArrowState::Writing(writer) => writer.finish(),
            _ => unreachable!("finish comes after start"),
        }
    }
}
