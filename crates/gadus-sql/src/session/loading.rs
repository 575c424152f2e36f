//! Rows on their way into segments, in pieces between which the statement can be cancelled.

use crate::error::from_datafusion;
use crate::executor::check_cancelled;
use crate::value_limits::largest_and_all;
use arrow::array::RecordBatch;
use gadus_engine::{BulkWriter, Result};

/// Bytes that are loaded without a look at whether the statement was cancelled: some milliseconds of encoding.
const PIECE_BYTES: u64 = 8 << 20;

/// Gives a bulk load rows. A batch may be far larger than it is in memory: its texts may all be one.
pub(super) fn load(bulk: &mut BulkWriter, batch: &RecordBatch) -> Result<()> {
    let bytes = batch.columns().iter().map(|column| largest_and_all(column).1);
    let bytes = bytes.fold(0, u64::saturating_add);
    let rows = batch.num_rows();
    let pieces = usize::try_from(bytes.div_ceil(PIECE_BYTES)).unwrap_or(rows).clamp(1, rows.max(1));
    let piece_rows = rows.div_ceil(pieces).max(1);
    for first in (0..rows).step_by(piece_rows) {
        check_cancelled().map_err(from_datafusion)?;
        bulk.push(&batch.slice(first, piece_rows.min(rows - first)))?;
    }
    Ok(())
}
