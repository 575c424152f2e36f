//! Results: as batches, as rows, as a stream.
//!
//! - Rows are made as they are asked for; a result holds its snapshot, not its connection.

use crate::row::Row;
use crate::runtime;
use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::Stream;
use gadus_engine::{Error, Result};
use gadus_sql::{RowStream, RowsCancel};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::mpsc::{Receiver, channel};

/// Batches made ahead of their reader: one is read while the next is made.
const BATCHES_AHEAD: usize = 2;

/// The rows of a query: batches by [`Rows::next_batch`], or single rows by iterating.
#[derive(Debug)]
pub struct Rows {
    schema: SchemaRef,
    /// None when the statement gives no rows.
    stream: Option<RowStream>,
    /// The batch whose rows are handed out one by one, and the next of them.
    current: Arc<RecordBatch>,
    next_row: usize,
}

impl Rows {
    pub(crate) fn new(stream: RowStream) -> Self {
        let schema = stream.schema().clone();
        let current = Arc::new(RecordBatch::new_empty(schema.clone()));
        Self { schema, stream: Some(stream), current, next_row: 0 }
    }

    pub(crate) fn empty() -> Self {
        let schema: SchemaRef = Arc::new(Schema::empty());
        let current = Arc::new(RecordBatch::new_empty(schema.clone()));
        Self { schema, stream: None, current, next_row: 0 }
    }

    /// What ends the statement that makes them.
    pub(crate) fn canceller(&self) -> RowsCancel {
        self.stream.as_ref().map_or_else(RowsCancel::default, RowStream::canceller)
    }

    /// Of rows that RETURNING gives: INSERT, UPDATE or DELETE, and how many rows it has changed; none of those
    /// of a query.
    #[must_use]
    pub fn changed(&self) -> Option<(&'static str, u64)> {
        self.stream.as_ref().and_then(RowStream::changed)
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; none at the end. Rows already handed out one by one are left out.
    ///
    /// # Errors
    /// `Cancelled`, or what went wrong while the rows were made.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(rest) = self.rest_of_batch() {
            return Ok(Some(rest));
        }
        match &mut self.stream {
            Some(stream) => runtime::wait(stream.next_batch()),
            None => Ok(None),
        }
    }

    /// The same without blocking, on a runtime of tokio with several threads.
    ///
    /// # Errors
    /// As [`Rows::next_batch`].
    pub async fn next_batch_async(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(rest) = self.rest_of_batch() {
            return Ok(Some(rest));
        }
        match &mut self.stream {
            Some(stream) => stream.next_batch().await,
            None => Ok(None),
        }
    }

    /// The rows of the current batch that were not handed out.
    fn rest_of_batch(&mut self) -> Option<RecordBatch> {
        let rest = self.current.num_rows() - self.next_row;
        let batch = (rest > 0).then(|| self.current.slice(self.next_row, rest));
        self.next_row = self.current.num_rows();
        batch
    }

    /// All batches that are left.
    ///
    /// # Errors
    /// As [`Rows::next_batch`].
    pub fn collect_batches(mut self) -> Result<Vec<RecordBatch>> {
        std::iter::from_fn(|| self.next_batch().transpose()).collect()
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        while self.next_row == self.current.num_rows() {
            let Some(batch) = self.next_batch()? else { return Ok(None) };
            self.current = Arc::new(batch);
            self.next_row = 0;
        }
        let row = Row::new(self.current.clone(), self.next_row);
        self.next_row += 1;
        Ok(Some(row))
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.next_row();
        if row.is_err() {
            self.stream = None;
        }
        row.transpose()
    }
}

/// The batches of a query that runs on the database's threads, for any executor.
#[derive(Debug)]
pub struct BatchStream {
    schema: SchemaRef,
    /// Then none, for the end: without that, who makes them has broken off.
    batches: Receiver<Result<Option<RecordBatch>>>,
    is_at_end: bool,
}

impl BatchStream {
    /// Begins to make batches; ends when there are no more, or nobody listens.
    pub(crate) fn start(mut rows: RowStream) -> Result<Self> {
        let schema = rows.schema().clone();
        let (sender, batches) = channel(BATCHES_AHEAD);
        runtime::runtime()?.spawn(async move {
            loop {
                let batch = rows.next_batch().await;
                let is_last = !matches!(batch, Ok(Some(_)));
                if sender.send(batch).await.is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self { schema, batches, is_at_end: false })
    }

    pub(crate) fn empty() -> Self {
        let (_, batches) = channel(1);
        Self { schema: Arc::new(Schema::empty()), batches, is_at_end: true }
    }

    /// Names and types of the columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; none at the end.
    ///
    /// # Errors
    /// `Cancelled`, or what went wrong while the rows were made.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        std::future::poll_fn(|context| self.poll_batch(context)).await.transpose()
    }

    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        if self.is_at_end {
            return Poll::Ready(None);
        }
        let received = ready!(self.batches.poll_recv(context));
        let batch = received.unwrap_or_else(|| Err(Error::internal("a query broke off")));
        self.is_at_end = !matches!(batch, Ok(Some(_)));
        Poll::Ready(batch.transpose())
    }
}

impl Stream for BatchStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_batch(context)
    }
}
