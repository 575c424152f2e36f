//! Values as texts, for formats that have no others of their kind.

use super::BatchWriter;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use gadus::{json_texts, type_with_uuid_texts, with_uuid_texts};
use std::sync::Arc;

/// A writer that is given texts where there are identifiers.
pub(super) struct Texts<W> {
    writer: W,
    /// Whether lists, structures and maps are given as the JSON that they are.
    nested: bool,
}

impl<W: BatchWriter> Texts<W> {
    pub(super) fn of_identifiers(writer: W) -> Self {
        Self { writer, nested: false }
    }

    pub(super) fn of_identifiers_and_nested(writer: W) -> Self {
        Self { writer, nested: true }
    }

    fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let field = |field: &Arc<Field>| {
            let texts = match self.nested && field.data_type().is_nested() {
                true => Some(DataType::Utf8View),
                false => type_with_uuid_texts(field.data_type()),
            };
            match texts {
                Some(texts) => Arc::new(Field::new(field.name(), texts, field.is_nullable())),
                None => field.clone(),
            }
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
        let texts = |column: &ArrayRef| match self.nested && column.data_type().is_nested() {
            true => json_texts(column),
            false => with_uuid_texts(column),
        };
        let columns = batch.columns().iter().map(texts).collect::<Result<_, _>>()?;
        self.writer.batch(&RecordBatch::try_new(schema, columns)?)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.writer.finish()
    }
}
