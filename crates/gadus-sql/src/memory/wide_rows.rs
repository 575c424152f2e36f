//! Rows that are too wide for the batches of a plan.
//!
//! - Joins, sorts, windows, aggregates and repartitioning give batches of as many rows as the session says, however
//!   wide those are: 8,192 rows of a megabyte would be one batch of 8 GiB, which no account refuses in time.
//! - So their inputs are watched. Where a batch of rows as wide as the widest one seen so far would take too much of
//!   the memory limit, the plan is made again with fewer rows per batch ([`replan`](super::replan)). Once rows have
//!   been given to the client, the statement fails instead (53200).
//! - Joins may give a row many times, so a full batch is judged. Other operators give each row once at most, so what
//!   they have been given is judged where it is less than a batch: a few long lists need no other plan. Aggregates
//!   without groups give one row, and are not watched.
//! - Scans, projections and filters give batches as large as what they read, which is bounded by bytes.

#[cfg(test)]
mod tests;

use super::pool::PlanPool;
use super::spill::MERGED_MAX;
use crate::error;
use crate::value_limits::largest_and_all;
use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use gadus_base::ByteCount;

/// A full batch of rows of average width may take this part of the memory limit, or this where it is more.
const AVERAGE: Share = Share { part: 256, bytes_min: 1 << 20 };

/// The same of a full batch of the widest rows, which come together where rows are sorted by what makes them wide.
const WIDEST: Share = Share { part: 16, bytes_min: 4 << 20 };

/// A plan that is made again has batches smaller by this factor: later rows may be wider, and a merge of spilled runs
/// holds up to eight times a batch of each run, measured: two that were read ahead, one that is read in pieces, of which
/// each doubles its memory, and the one that is merged.
const MARGIN: u64 = 8;

/// A part of the memory limit.
struct Share {
    part: u64,
    bytes_min: u64,
}

impl Share {
    fn of(&self, limit: ByteCount) -> u64 {
        (limit.0 / self.part).max(self.bytes_min)
    }
}

/// The rows that an operator has been given so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Widths {
    rows: u64,
    /// Of all of them.
    bytes: u64,
    /// At least that of the widest row: that of the widest values of all columns of a batch.
    widest: u64,
}

impl Widths {
    fn add(&mut self, batch: &RecordBatch) {
        let mut widest = 0_u64;
        for column in batch.columns() {
            let (widest_value, bytes) = largest_and_all(column);
            widest = widest.saturating_add(widest_value);
            self.bytes = self.bytes.saturating_add(bytes);
        }
        self.rows += batch.num_rows() as u64;
        self.widest = self.widest.max(widest);
    }

    /// Returns the rows of a full batch at most; once rows have been given to the client, only those of which batches
    /// would be too large in fact.
    fn batch_rows(self, limit: ByteCount, has_given: bool) -> u64 {
        let average = (self.bytes / self.rows.max(1)).max(1);
        match has_given {
            true => WIDEST.of(limit) / average,
            false => (AVERAGE.of(limit) / average).min(WIDEST.of(limit) / self.widest.max(1)),
        }
    }
}

/// How often an operator may give a row of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Once, soon after it has come.
    AtOnce,
    OnceAtMost,
    ManyTimes,
}

/// Watches the rows of the input of an operator that passes them on.
pub(super) fn watched_passing(
    rows: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    watched_as(Given::AtOnce, rows, task)
}

/// Watches the rows of the input of an operator that gives each of them once at most.
pub(super) fn watched(
    rows: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    watched_as(Given::OnceAtMost, rows, task)
}

/// Watches the rows of a join's input.
pub(super) fn watched_of_join(
    rows: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    watched_as(Given::ManyTimes, rows, task)
}

fn watched_as(
    given: Given,
    rows: SendableRecordBatchStream,
    task: &TaskContext,
) -> SendableRecordBatchStream {
    let batch_rows = task.session_config().batch_size() as u64;
    // Where rows are given again, single ones are watched, too.
    if PlanPool::of(task).is_none() || batch_rows <= 1 && given == Given::AtOnce {
        return rows;
    }
    let (schema, runtime, mut widths) = (rows.schema(), task.runtime_env(), Widths::default());
    let rows = rows.map(move |batch| {
        let (batch, pool) = (batch?, PlanPool::in_runtime(&runtime));
        widths.add(&batch);
        if let Some(pool) = pool {
            let full = match given {
                Given::AtOnce | Given::OnceAtMost => batch_rows.min(widths.rows),
                Given::ManyTimes => batch_rows,
            };
            check(widths, full, batch_rows, pool)?;
        }
        Ok(batch)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}

/// Returns how many spilled runs of rows up to such a width are merged at a time.
fn merged_runs(widest: u64, limit: ByteCount) -> usize {
    let runs = MERGED_MAX as u64 * AVERAGE.of(limit) / MARGIN / widest.max(1);
    usize::try_from(runs).unwrap_or(MERGED_MAX).clamp(2, MERGED_MAX)
}

/// Refuses rows of which a batch would be too large, and single rows of which two do not fit a merge.
fn check(widths: Widths, full: u64, batch_rows: u64, pool: &PlanPool) -> Result<()> {
    let limit = pool.limit();
    let most = widths.batch_rows(limit, pool.has_given());
    // Single rows come by merges of fewer runs, as long as two of them fit.
    if full <= most || batch_rows <= 1 && widths.widest <= WIDEST.of(limit) {
        return Ok(());
    }
    let fewer = usize::try_from(most / MARGIN).unwrap_or(usize::MAX).max(1);
    pool.ask_for_smaller_batches(fewer, merged_runs(widths.widest, limit));
    // No operator is to take it for memory that it was refused, and to spill.
    Err(DataFusionError::External(Box::new(error::limit(format!(
        "out of memory: batches of {full} rows of up to {}; gadus.memory_limit is {limit}, raise it",
        ByteCount(widths.widest)
    )))))
}
