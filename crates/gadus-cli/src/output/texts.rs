//! Values as texts, for formats that have no others of their kind.

use super::BatchWriter;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use gadus::{INTERVAL, json_texts, type_with_texts, with_texts};
use std::sync::Arc;

/// A writer that is given texts where there is what its format has not.
pub(super) struct Texts<W> {
    writer: W,
    missing: Missing,
}

/// What a format has not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Intervals,
    IntervalsAndIdentifiers,
    /// Lists, structures and maps are given as the JSON that they are.
    NestedAsWell,
}

impl<W: BatchWriter> Texts<W> {
    pub(super) fn of_intervals(writer: W) -> Self {
        Self { writer, missing: Missing::Intervals }
    }

    pub(super) fn of_identifiers(writer: W) -> Self {
        Self { writer, missing: Missing::IntervalsAndIdentifiers }
    }

    pub(super) fn of_identifiers_and_nested(writer: W) -> Self {
        Self { writer, missing: Missing::NestedAsWell }
    }

    /// The type of the texts that values are given as; none where they are given as they are.
    fn texts(&self, data_type: &DataType) -> Option<DataType> {
        match self.missing {
            Missing::Intervals if *data_type != INTERVAL => None,
            Missing::NestedAsWell if data_type.is_nested() => Some(DataType::Utf8View),
            _ => type_with_texts(data_type),
        }
    }

    fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let field = |field: &Arc<Field>| match self.texts(field.data_type()) {
            Some(texts) => Arc::new(Field::new(field.name(), texts, field.is_nullable())),
            None => field.clone(),
        };
        let fields = schema.fields().iter().map(field).collect::<Vec<_>>();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }
}

impl<W: BatchWriter> BatchWriter for Texts<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        let schema = self.schema(schema);
        self.writer.start(&schema)
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let schema = self.schema(&batch.schema());
        let is_json = |column: &ArrayRef| {
            self.missing == Missing::NestedAsWell && column.data_type().is_nested()
        };
        let texts = |column: &ArrayRef| match self.texts(column.data_type()) {
            Some(_) if is_json(column) => json_texts(column),
            Some(_) => with_texts(column),
            None => Ok(column.clone()),
        };
        let columns = batch.columns().iter().map(texts).collect::<Result<_, _>>()?;
        self.writer.batch(&RecordBatch::try_new(schema, columns)?)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()
    }
}
