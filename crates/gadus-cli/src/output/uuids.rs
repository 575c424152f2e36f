//! Identifiers as texts, for formats that are read.

use super::BatchWriter;
use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use gadus::{UUID, uuid_texts};
use std::sync::Arc;

/// A writer that is given texts where there are identifiers.
pub(super) struct UuidTexts<W>(pub(super) W);

impl<W: BatchWriter> BatchWriter for UuidTexts<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        self.0.start(&with_texts(schema))
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let schema = with_texts(&batch.schema());
        let columns = batch.columns().iter().map(|column| match *column.data_type() == UUID {
            true => Arc::new(uuid_texts(column.as_fixed_size_binary())) as ArrayRef,
            false => column.clone(),
        });
        self.0.batch(&RecordBatch::try_new(schema, columns.collect())?)
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        self.0.finish()
    }
}

fn with_texts(schema: &SchemaRef) -> SchemaRef {
    let field = |field: &Arc<Field>| match *field.data_type() == UUID {
        true => Arc::new(Field::new(field.name(), DataType::Utf8View, field.is_nullable())),
        false => field.clone(),
    };
    let fields = schema.fields().iter().map(field).collect::<Vec<_>>();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
