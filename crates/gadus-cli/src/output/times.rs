//! Dates, times, timestamps and intervals as texts, in the zone and the styles of a connection.

use super::{BatchWriter, Format};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use gadus::{TextSettings, with_json_times, with_time_texts};
use std::sync::Arc;

/// Writer that is given such texts in the place of times.
pub(crate) struct Times<W> {
    writer: W,
    settings: Arc<TextSettings>,
    is_json: bool,
}

impl<W: BatchWriter> Times<W> {
    /// Writes rows in the zone and the styles of a connection; JSON has ISO 8601's form.
    pub(crate) fn new(writer: W, format: Format, settings: Arc<TextSettings>) -> Self {
        Self { writer, settings, is_json: matches!(format, Format::Json | Format::Jsonl) }
    }

    fn texts(&self, array: &ArrayRef) -> Option<ArrayRef> {
        match self.is_json {
            true => with_json_times(array, &self.settings),
            false => with_time_texts(array, &self.settings),
        }
    }
}

/// Returns a schema with the types of columns.
fn schema_of(schema: &Schema, types: impl Iterator<Item = DataType>) -> SchemaRef {
    let fields = schema.fields().iter().zip(types).map(|(field, data_type)| {
        match *field.data_type() == data_type {
            true => field.clone(),
            false => Arc::new(Field::new(field.name(), data_type, field.is_nullable())),
        }
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

impl<W: BatchWriter> BatchWriter for Times<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        let empty = RecordBatch::new_empty(schema.clone());
        let columns = empty.columns().iter();
        let types = columns.map(|column| {
            self.texts(column)
                .map_or_else(|| column.data_type().clone(), |texts| texts.data_type().clone())
        });
        let schema = schema_of(schema, types);
        self.writer.start(&schema)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let columns = batch.columns().iter();
        let columns = columns
            .map(|column| self.texts(column).unwrap_or_else(|| column.clone()))
            .collect::<Vec<_>>();
        let types = columns.iter().map(|column| column.data_type().clone());
        let schema = schema_of(&batch.schema(), types);
        self.writer.batch(&RecordBatch::try_new(schema, columns)?)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()
    }
}
