//! Filters whose batches are bounded by bytes.
//!
//! - DataFusion's filter gathers what passes to full batches of rows, however wide those are, and whatever buffers
//!   they point into. Here it gives what passes as it comes, and rows are gathered behind it: to full batches, or to
//!   as many bytes as a part of the memory limit.

use super::PlanPool;
use crate::pace::PassingExec;
use crate::value_limits::largest_and_all;
use arrow::array::RecordBatch;
use arrow::compute::BatchCoalescer;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;

/// The part of the memory limit that rows take which are gathered to one batch, or this where it is more.
const GATHERED_PART: u64 = 128;
const GATHERED_BYTES_MIN: u64 = 1 << 20;

/// Returns a filter that gathers rows by their bytes, too; none where the operator is no filter.
pub(super) fn bounded_filter(plan: &dyn ExecutionPlan) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(filter) = plan.downcast_ref::<FilterExec>() else { return Ok(None) };
    // With batches of one row each batch is full, and is given as it is.
    let filter = Arc::new(filter.with_batch_size(1)?);
    Ok(Some(Arc::new(PassingExec::new("GadusCoalesced", filter, coalesced))))
}

fn coalesced(rows: SendableRecordBatchStream, task: &TaskContext) -> SendableRecordBatchStream {
    let Some(pool) = PlanPool::of(task) else { return rows };
    let (schema, batch_rows) = (rows.schema(), task.session_config().batch_size());
    let coalescer = BatchCoalescer::new(schema.clone(), batch_rows);
    let gathering = Gathering {
        coalescer: coalescer.with_biggest_coalesce_batch_size(Some(batch_rows / 2)),
        bytes: 0,
        bytes_max: (pool.limit().0 / GATHERED_PART).max(GATHERED_BYTES_MIN),
    };
    let ends = rows.map_ok(Some).chain(stream::once(async { Ok(None) }));
    let batches = ends.scan(gathering, |gathering, batch| {
        let full = batch.and_then(|batch| gathering.push(batch));
        std::future::ready(Some(full.map(|full| stream::iter(full).map(Ok))))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, batches.try_flatten()))
}

struct Gathering {
    coalescer: BatchCoalescer,
    /// Of the rows that have been gathered.
    bytes: u64,
    bytes_max: u64,
}

impl Gathering {
    /// Takes a batch, none at the end, and returns those that are full.
    fn push(&mut self, batch: Option<RecordBatch>) -> Result<Vec<RecordBatch>> {
        match batch {
            Some(batch) => {
                self.bytes +=
                    batch.columns().iter().map(|column| largest_and_all(column).1).sum::<u64>();
                self.coalescer.push_batch(batch)?;
            }
            None => self.coalescer.finish_buffered_batch()?,
        }
        if self.bytes >= self.bytes_max {
            self.coalescer.finish_buffered_batch()?;
        }
        let full = std::iter::from_fn(|| self.coalescer.next_completed_batch()).collect::<Vec<_>>();
        if self.coalescer.is_empty() {
            self.bytes = 0;
        }
        Ok(full)
    }
}

#[cfg(test)]
mod tests {
    use super::Gathering;
    use arrow::array::{ArrayRef, RecordBatch, StringViewArray};
    use arrow::compute::BatchCoalescer;
    use std::sync::Arc;

    fn batch(rows: usize, bytes: usize) -> RecordBatch {
        let texts: ArrayRef = Arc::new(StringViewArray::from_iter_values(
            (0..rows).map(|row| format!("{row:0>bytes$}")),
        ));
        RecordBatch::try_from_iter([("texts", texts)]).unwrap()
    }

    #[test]
    fn a_batch_is_full_by_its_rows_or_by_its_bytes() {
        let coalescer = BatchCoalescer::new(batch(1, 1).schema(), 100);
        let coalescer = coalescer.with_biggest_coalesce_batch_size(Some(50));
        let mut gathering = Gathering { coalescer, bytes: 0, bytes_max: 10_000 };
        let mut rows_of = |batch: Option<RecordBatch>| {
            let full = gathering.push(batch).unwrap();
            full.iter().map(RecordBatch::num_rows).collect::<Vec<_>>()
        };
        assert_eq!(rows_of(Some(batch(40, 20))), Vec::<usize>::new());
        assert_eq!(rows_of(Some(batch(40, 20))), Vec::<usize>::new());
        assert_eq!(rows_of(Some(batch(40, 20))), [100]);
        assert_eq!(rows_of(Some(batch(1, 10_000))), [21]);
        assert_eq!(rows_of(Some(batch(3, 5_000))), [3]);
        assert_eq!(rows_of(Some(batch(3, 5))), Vec::<usize>::new());
        assert_eq!(rows_of(None), [3]);
        assert_eq!(rows_of(None), Vec::<usize>::new());
    }
}
