//! Results as they leave: a schema and a stream of Arrow batches.
//!
//! - The stream holds its snapshot and nothing of the session; it ends early when the session's
//!   statement is cancelled.

use crate::characters;
use crate::error::from_datafusion;
use crate::executor::{HandOff, WorkFor};
use crate::panics::caught_rows;
use crate::room::Roomy;
use crate::session::{Cancel, Flag, Headings};
use crate::statements::Metered;
use arrow::array::{RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use gadus_engine::Result;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The rows of a query; at their end it says so again and again.
pub struct RowStream {
    schema: SchemaRef,
    batches: BoxStream<'static, Result<RecordBatch>>,
    metered: Option<Metered>,
    /// Ends the statement that makes them; none where they are there already.
    cancel: Option<Arc<Cancel>>,
    changed: Option<(&'static str, u64)>,
}

/// Ends the statement that makes some rows, whatever their session does by then.
#[derive(Debug, Clone, Default)]
pub struct RowsCancel {
    cancel: Option<Arc<Cancel>>,
}

impl RowsCancel {
    /// Ends it, with the error kind `Cancelled`; nothing where it has ended.
    pub fn cancel(&self) {
        if let Some(cancel) = &self.cancel {
            cancel.cancel();
        }
    }

    /// The rows that are still to be made are those of another statement.
    pub(crate) fn continue_as(&self, flag: Arc<Flag>) {
        if let Some(cancel) = &self.cancel {
            cancel.replace(flag);
        }
    }
}

impl RowStream {
    /// Rows that are there already.
    pub(crate) fn ready(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self::of(schema, stream::iter(batches.into_iter().map(Ok)).boxed())
    }

    /// One row with one text.
    pub(crate) fn text(name: &str, text: &str) -> Result<Self> {
        Self::texts(name, vec![text])
    }

    /// A row for each text.
    pub(crate) fn texts(name: &str, texts: Vec<&str>) -> Result<Self> {
        let schema = Arc::new(Schema::new(vec![Field::new(name, DataType::Utf8, false)]));
        let column = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_new(schema.clone(), vec![column])?;
        Ok(Self::ready(schema, vec![batch]))
    }

    pub(crate) fn new(
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
        cancel: &Arc<Cancel>,
    ) -> Self {
        Self::guarded(schema, batches, Cancel::of(cancel.current()))
    }

    fn guarded(
        schema: SchemaRef,
        batches: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
        cancel: Arc<Cancel>,
    ) -> Self {
        let guarded = Cancel::guard(cancel.clone(), batches).fuse().boxed();
        Self { cancel: Some(cancel), ..Self::of(schema, guarded) }
    }

    fn of(schema: SchemaRef, batches: BoxStream<'static, Result<RecordBatch>>) -> Self {
        let batches = match characters::are_shown_otherwise(&schema) {
            true => batches.map(|batch| characters::shown_rows(&batch?)).boxed(),
            false => batches,
        };
        Self { schema, batches, metered: None, cancel: None, changed: None }
    }

    pub(crate) fn from_datafusion(stream: SendableRecordBatchStream, cancel: &Arc<Cancel>) -> Self {
        let schema = stream.schema();
        let cancel = Cancel::of(cancel.current());
        let work = Box::pin(caught_rows(stream.map_err(from_datafusion)));
        let batches = HandOff(WorkFor { cancel: cancel.clone(), work });
        Self::guarded(schema, batches, cancel)
    }

    /// The same rows, which drop `what` when they are read or dropped.
    pub(crate) fn holding(self, what: impl Send + 'static) -> Self {
        let held = stream::unfold((self.batches, what), |(mut batches, what)| async move {
            let batch = batches.next().await?;
            Some((batch, (batches, what)))
        });
        Self { batches: held.fuse().boxed(), ..self }
    }

    /// The same rows, of a deep plan.
    pub(crate) fn with_room(self) -> Self {
        Self { batches: Roomy(self.batches).boxed(), ..self }
    }

    /// The same rows under other headings.
    pub(crate) fn with_headings(self, headings: &Headings) -> Self {
        let schema = headings.over(&self.schema);
        if schema == self.schema {
            return self;
        }
        let renamed = schema.clone();
        let batches = self.batches.map(move |batch| {
            let batch = batch?;
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let columns = batch.columns().to_vec();
            Ok(RecordBatch::try_new_with_options(renamed.clone(), columns, &options)?)
        });
        Self { schema, batches: batches.boxed(), ..self }
    }

    /// The same rows, measured as they are read.
    pub(crate) fn metered(self, metered: Metered) -> Self {
        Self { metered: Some(metered), ..self }
    }

    /// The same rows, returned of those that a statement has changed.
    pub(crate) fn of_change(self, verb: &'static str, rows: u64) -> Self {
        Self { changed: Some((verb, rows)), ..self }
    }

    /// Of rows that RETURNING gives: the kind of statement, and how many rows it has changed.
    #[must_use]
    pub fn changed(&self) -> Option<(&'static str, u64)> {
        self.changed
    }

    /// What ends the statement that makes them.
    #[must_use]
    pub fn canceller(&self) -> RowsCancel {
        RowsCancel { cancel: self.cancel.clone() }
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; none at the end.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.try_next().await
    }

    /// All batches.
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        self.try_collect().await
    }
}

impl Stream for RowStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(metered) = &mut this.metered else { return this.batches.poll_next_unpin(context) };
        let polled = metered.poll(|| this.batches.poll_next_unpin(context));
        if matches!(polled, Poll::Ready(None)) {
            this.metered = None;
        }
        polled
    }
}

impl std::fmt::Debug for RowStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowStream").field("schema", &self.schema).finish_non_exhaustive()
    }
}
