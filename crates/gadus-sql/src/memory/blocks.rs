//! Rows of an input by blocks that fit into memory, and rows of a join under the schema that was announced.

use super::compact::compact;
use super::{PlanPool, SPILL_BYTES_MIN};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};

/// Part of its room that a block has at least, however much the rest of the plan holds: for each block, all rows of
/// the other input are read.
const BLOCK_PART_MIN: u64 = 4;

/// Room for the rows of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    bytes: u64,
    /// Bytes that there is room for however much the rest of the plan holds.
    bytes_min: u64,
    /// Bytes that each row takes beside its values.
    row_bytes: usize,
}

impl Room {
    /// Creates room for rows that are all of an input, or are spilled.
    pub(super) fn for_all(bytes: u64, row_bytes: usize) -> Self {
        Self { bytes, bytes_min: SPILL_BYTES_MIN, row_bytes }
    }

    /// Creates room for some of the rows of an input.
    pub(super) fn for_some(bytes: u64, row_bytes: usize) -> Self {
        let bytes_min = (bytes / BLOCK_PART_MIN).max(SPILL_BYTES_MIN);
        Self { bytes, bytes_min, row_bytes }
    }

    /// True if there is no more room beside such rows.
    fn is_full(&self, bytes: u64, rows: usize, task: &TaskContext) -> bool {
        let bytes = bytes.saturating_add((rows * self.row_bytes) as u64);
        let of_plan = PlanPool::of(task).map_or(bytes, PlanPool::held);
        bytes >= self.bytes || bytes >= self.bytes_min && of_plan >= self.bytes
    }
}

/// The next rows of an input.
pub(super) struct Block {
    pub(super) rows: SendableRecordBatchStream,
    /// True if the input has no more rows.
    pub(super) is_last: bool,
}

/// Reads rows until there is no more room, at least one batch.
pub(super) async fn read_block(
    input: &mut SendableRecordBatchStream,
    room: Room,
    task: &TaskContext,
) -> Result<Block> {
    let held = MemoryConsumer::new("JoinBlock").register(task.memory_pool());
    let (mut batches, mut rows) = (Vec::new(), 0);
    let mut counter = RecordBatchMemoryCounter::new();
    let is_last = loop {
        let Some(batch) = input.next().await.transpose()? else { break true };
        let batch = compact(batch)?;
        let bytes = counter.count_batch(&batch);
        held.grow(bytes);
        rows += batch.num_rows();
        batches.push((batch, bytes));
        if room.is_full(counter.memory_usage() as u64, rows, task) {
            break false;
        }
    };
    // What takes a batch counts it from then on.
    let batches = stream::iter(batches).map(move |(batch, bytes)| {
        held.shrink(bytes);
        Ok(batch)
    });
    let rows = Box::pin(RecordBatchStreamAdapter::new(input.schema(), batches));
    Ok(Block { rows, is_last })
}

/// Returns rows under another schema: joins of other types may differ in what they know of NULLs.
pub(super) fn with_schema(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().to_vec();
    with_columns(schema, columns, batch.num_rows())
}

/// Returns rows of a full join for right rows that have met no left ones.
pub(super) fn unmatched_right(
    schema: &SchemaRef,
    left: &Schema,
    projection: Option<&[usize]>,
    right: &RecordBatch,
) -> Result<RecordBatch> {
    let rows = right.num_rows();
    let nulls = left.fields().iter().map(|field| new_null_array(field.data_type(), rows));
    let mut columns = nulls.chain(right.columns().iter().cloned()).collect::<Vec<_>>();
    if let Some(projection) = projection {
        columns = projection.iter().map(|&column| columns[column].clone()).collect();
    }
    with_columns(schema, columns, rows)
}

fn with_columns(schema: &SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
}
