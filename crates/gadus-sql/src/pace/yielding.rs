//! Yield points behind operators that give many batches for one of their input.
//!
//! - DataFusion's sources yield after a number of batches. An operator that gives a million batches for one
//!   of its input (a join whose rows meet all of the other side, a recursion, lists unnested) reaches its
//!   source too rarely for that; rows without columns cost so little that a consumer counts them for
//!   minutes without a yield. Sources count batches, too: a hundred of long texts take seconds to compute with.
//! - Time decides, not rows: what a batch costs depends on who consumes it.

use super::stream::TURN;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::RecordBatchStream;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{Stream, StreamExt};
use gadus_base::{Instant, clock};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Batches of an operator, which yields when its consumer has had the thread for a turn.
struct Yielding {
    input: SendableRecordBatchStream,
    /// Start of the turn: the first poll since the last yield.
    turn: Option<Instant>,
}

/// Puts yield points behind an operator.
pub(crate) fn yielding(input: SendableRecordBatchStream) -> SendableRecordBatchStream {
    Box::pin(Yielding { input, turn: None })
}

impl Stream for Yielding {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let turn = *self.turn.get_or_insert_with(|| clock().now());
        if turn.elapsed() > TURN {
            self.turn = None;
            // After all tasks that wait for the thread.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = self.input.poll_next_unpin(context);
        if next.is_pending() {
            self.turn = None;
        }
        next
    }
}

impl RecordBatchStream for Yielding {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}
