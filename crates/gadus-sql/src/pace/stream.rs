//! How batches are cut.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::RecordBatchStream;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{Stream, StreamExt};
use gadus_base::{Instant, clock};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// How long an operator may keep the thread: far less than people notice, far more than a turn costs.
pub(crate) const TURN: Duration = Duration::from_millis(2);

/// How many times as large the next slice may be: the rows of one may cost more than those before.
const GROWTH_MAX: u128 = 8;

/// Rows that are not cut any more.
const ROWS_MAX: usize = 1 << 16;

pub(super) struct PacedStream {
    input: SendableRecordBatchStream,
    /// Of the current batch, what was not given yet.
    rest: Option<RecordBatch>,
    pace: Pace,
    /// How many rows the last slice has, and when it was given.
    given: Option<(usize, Instant)>,
    /// Since when the join has the thread.
    turn: Option<Instant>,
}

/// How many rows a slice has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) rows: usize,
}

impl Pace {
    /// With one row: a single one may meet all of the other side.
    pub(super) const fn new() -> Self {
        Self { rows: 1 }
    }

    /// Takes in how long a slice took, so that the next takes half a turn. Whoever reads the join's rows may have waited meanwhile, which makes slices smaller than they
    /// need to be, for a few slices.
    pub(super) fn took(&mut self, rows: usize, time: Duration) {
        let (half, nanoseconds) = (TURN.as_nanos() / 2, time.as_nanos().max(1));
        if time > TURN {
            let parts = usize::try_from(nanoseconds.div_ceil(half)).unwrap_or(usize::MAX);
            self.rows = (rows / parts).max(1);
        } else if rows >= self.rows {
            let times = usize::try_from((half / nanoseconds).clamp(1, GROWTH_MAX)).unwrap_or(1);
            self.rows = (self.rows * times).min(ROWS_MAX);
        }
    }
}

impl PacedStream {
    pub(super) fn new(input: SendableRecordBatchStream) -> Self {
        Self { input, rest: None, pace: Pace::new(), given: None, turn: None }
    }

    /// The next slice of a batch.
    fn slice(&mut self, batch: RecordBatch) -> RecordBatch {
        let rows = self.pace.rows.min(batch.num_rows());
        self.rest = (rows < batch.num_rows()).then(|| batch.slice(rows, batch.num_rows() - rows));
        let now = clock().now();
        self.given = Some((rows, now));
        self.turn.get_or_insert(now);
        match self.rest {
            Some(_) => batch.slice(0, rows),
            None => batch,
        }
    }
}

impl Stream for PacedStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some((rows, given)) = self.given.take() {
            self.pace.took(rows, given.elapsed());
            // Slices that are each within a turn are not together.
            if self.turn.is_some_and(|began| began.elapsed() > TURN) {
                self.turn = None;
                // Behind all tasks that wait for the thread.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(Ok(self.slice(rest))));
        }
        let next = self.input.poll_next_unpin(context);
        if next.is_pending() {
            self.turn = None;
        }
        next.map_ok(|batch| self.slice(batch))
    }
}

impl RecordBatchStream for PacedStream {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}
