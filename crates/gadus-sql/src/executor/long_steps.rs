//! Rows of plans whose steps take long, made in tasks of their own: a statement does not wait for them once it is
//! cancelled.
//!
//! - A step computes a batch, which may be one value of a gigabyte: nothing within it asks whether the statement goes
//!   on. A cancelled statement fails at once, and a thread goes on until the step ends.
//! - Each step is a task, which begins when its rows are asked for: rows that are made ahead would take memory.
//! - Steps of other plans are made where they are asked for, without a hand-over, until one takes long.

use super::task::in_task;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use gadus_base::clock;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Time of a step after which the next ones are made in tasks: a thousand times what a hand-over costs.
const LONG: Duration = Duration::from_millis(10);

/// Returns rows for which a cancelled statement does not wait, with what makes them.
pub(crate) fn apart_if_long(
    rows: SendableRecordBatchStream,
    is_long: bool,
) -> SendableRecordBatchStream {
    Box::pin(LongSteps { schema: rows.schema(), is_long, step: Some(Step::Here(rows)) })
}

struct LongSteps {
    schema: SchemaRef,
    is_long: bool,
    /// None behind the last row.
    step: Option<Step>,
}

enum Step {
    Here(SendableRecordBatchStream),
    InTask(BoxFuture<'static, Result<Made>>),
}

/// Batch of a step, with the stream that makes the next one.
type Made = (Option<Result<RecordBatch>>, SendableRecordBatchStream);

impl LongSteps {
    fn poll_here(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<RecordBatch>>> {
        let Some(Step::Here(rows)) = &mut self.step else { return Poll::Ready(None) };
        let began = clock().now();
        let polled = rows.poll_next_unpin(context);
        self.is_long = began.elapsed() > LONG;
        polled
    }
}

impl Stream for LongSteps {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut making = match self.step.take() {
            None => return Poll::Ready(None),
            here @ Some(Step::Here(_)) if !self.is_long => {
                self.step = here;
                return self.poll_here(context);
            }
            Some(Step::Here(mut rows)) => in_task(
                async move {
                    let batch = rows.next().await;
                    Ok::<_, DataFusionError>((batch, rows))
                }
                .boxed(),
            ),
            Some(Step::InTask(making)) => making,
        };
        let Poll::Ready(made) = making.poll_unpin(context) else {
            self.step = Some(Step::InTask(making));
            return Poll::Pending;
        };
        let (batch, rows) = made?;
        self.step = batch.is_some().then_some(Step::Here(rows));
        Poll::Ready(batch)
    }
}

impl RecordBatchStream for LongSteps {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
