//! Results as they leave: a schema and a stream of Arrow batches.
//!
//! - The stream holds its snapshot and nothing of the session; it ends early when the session's
//!   statement is cancelled.

use crate::error::from_datafusion;
use crate::session::Cancel;
use arrow::array::{RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use gadus_engine::Result;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The rows of a query.
pub struct RowStream {
    schema: SchemaRef,
    batches: BoxStream<'static, Result<RecordBatch>>,
}

impl RowStream {
    /// Rows that are there already.
    pub(crate) fn ready(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches: stream::iter(batches.into_iter().map(Ok)).boxed() }
    }

    /// One row with one text.
    pub(crate) fn text(name: &str, text: &str) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]));
        let column = Arc::new(StringArray::from(vec![text]));
        let batch = RecordBatch::try_new(schema.clone(), vec![column])?;
        Ok(Self::ready(schema, vec![batch]))
    }

    pub(crate) fn new(
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
        cancel: &Arc<Cancel>,
    ) -> Self {
        Self { schema, batches: Cancel::guard(cancel, batches).boxed() }
    }

    pub(crate) fn from_datafusion(stream: SendableRecordBatchStream, cancel: &Arc<Cancel>) -> Self {
        let schema = stream.schema();
        Self::new(schema, stream.map_err(from_datafusion), cancel)
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; none at the end.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.batches.try_next().await
    }

    /// All batches.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        self.batches.try_collect().await
    }
}

impl Stream for RowStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.poll_next_unpin(context)
    }
}

impl std::fmt::Debug for RowStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}
