//! Filters that come to a scan while the plan runs: of the keys that a join has gathered, of the rows that a sort still takes.
//!
//! - They let pass at least what is wanted, and at first everything: rows that do not pass are left out, as a join would do
//!   later, at more cost.
//! - A filter that lets nearly all rows pass is looked at seldom.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::common::cast::as_boolean_array;
use datafusion::error::Result;
use datafusion::physical_expr::utils::conjunction;
use datafusion::physical_plan::PhysicalExpr;
use std::sync::Arc;

/// Rows of which it is seen how many a filter lets pass.
const LOOKED_ROWS: usize = 16_384;

/// The part of them, in percent, of which a filter must take some away to be worth its time.
const USELESS_PERCENT: usize = 80;

/// Batches that a filter which is not worth its time leaves alone, before it is looked at again: it may have changed.
const LEFT_ALONE: usize = 16;

/// The filters of a scan, as one of its partitions uses them.
pub(super) struct Dynamic {
    filter: Arc<dyn PhysicalExpr>,
    seen: usize,
    passed: usize,
    /// Batches that it leaves alone.
    rest: usize,
}

impl Dynamic {
    /// None where there are no filters.
    pub(super) fn of(filters: &[Arc<dyn PhysicalExpr>]) -> Option<Self> {
        let filter = (!filters.is_empty()).then(|| conjunction(filters.iter().cloned()))?;
        Some(Self { filter, seen: 0, passed: 0, rest: 0 })
    }

    /// The rows of a batch that pass.
    pub(super) fn passing(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.rest > 0 {
            self.rest -= 1;
            return Ok(batch);
        }
        let rows = batch.num_rows();
        let passes = self.filter.evaluate(&batch)?.into_array(rows)?;
        let passes: &BooleanArray = as_boolean_array(&passes)?;
        let passing = passes.true_count();
        self.seen += rows;
        self.passed += passing;
        if self.seen >= LOOKED_ROWS {
            if self.passed * 100 >= self.seen * USELESS_PERCENT {
                self.rest = LEFT_ALONE;
            }
            (self.seen, self.passed) = (0, 0);
        }
        match passing == rows {
            true => Ok(batch),
            false => Ok(filter_record_batch(&batch, passes)?),
        }
    }
}
