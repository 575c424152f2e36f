//! Evaluates window expressions whose frames are bounded, row by row, on rows that are sorted by PARTITION BY.
//!
//! - DataFusion's operator for such expressions joins each batch to the rows that it holds. Texts are views, and what is
//!   joined of views holds the texts of all rows that ever came: `lag` of a text held all texts of its input.
//! - Here rows are held from the start of the next row's frame on, and results until all expressions have theirs. Both
//!   are compacted, and counted.

use super::output::{ResultColumn, Results};
use crate::memory::compact::{compact, compact_column};
use crate::value_limits::bytes_of_values;
use arrow::array::{Array, RecordBatch};
use arrow::compute::{SortColumn, concat};
use datafusion::common::Result;
use datafusion::common::utils::{evaluate_partition_ranges, get_row_at_idx};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::window_state::PartitionBatchState;
use datafusion::physical_expr::window::{
    PartitionBatches, PartitionKey, PartitionWindowAggStates, WindowEvalContext,
};
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::windows::{StandardWindowExpr, WindowExpr};
use std::sync::Arc;

/// The rows that frames need, and what expressions know of them.
pub(super) struct Frames {
    expressions: Vec<Arc<dyn WindowExpr>>,
    partition_by: Vec<Arc<dyn PhysicalExpr>>,
    /// In order; all but the last one have ended.
    partitions: PartitionBatches,
    /// States of each expression, one for each partition in the same order.
    states: Vec<PartitionWindowAggStates>,
    /// The values of a frame are held so often: an aggregate may have a copy of them.
    copies: usize,
    account: MemoryReservation,
}

impl Frames {
    pub(super) fn new(expressions: &[Arc<dyn WindowExpr>], account: MemoryReservation) -> Self {
        let partition_by = expressions.first().map_or(&[][..], |window| window.partition_by());
        let aggregates =
            expressions.iter().any(|window| !window.as_any().is::<StandardWindowExpr>());
        Self {
            expressions: expressions.to_vec(),
            partition_by: partition_by.to_vec(),
            partitions: PartitionBatches::default(),
            states: expressions.iter().map(|_| PartitionWindowAggStates::default()).collect(),
            copies: if aggregates { 2 } else { 1 },
            account,
        }
    }

    /// Adds rows, and returns the results that are known with them: those of the next rows.
    pub(super) fn add(&mut self, columns: &RecordBatch) -> Result<Option<Results>> {
        for (key, rows) in self.divided(columns)? {
            match self.partitions.get_mut(&key) {
                Some(known) => known.extend(&rows)?,
                None => {
                    self.partitions.insert(key, PartitionBatchState::new_with_batch(rows));
                }
            }
        }
        let ended = self.partitions.len().saturating_sub(1);
        self.partitions.values_mut().take(ended).for_each(|partition| partition.is_end = true);
        self.evaluate()
    }

    /// Returns the last results: there are no more rows.
    pub(super) fn end(&mut self) -> Result<Option<Results>> {
        self.partitions.values_mut().for_each(|partition| partition.is_end = true);
        self.evaluate()
    }

    fn divided(&self, columns: &RecordBatch) -> Result<Vec<(PartitionKey, RecordBatch)>> {
        let rows = columns.num_rows();
        if rows == 0 {
            return Ok(Vec::new());
        }
        let keys = self.partition_by.iter().map(|key| key.evaluate(columns)?.into_array(rows));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let sorted = keys.iter().map(|values| SortColumn { values: values.clone(), options: None });
        let ranges = evaluate_partition_ranges(rows, &sorted.collect::<Vec<_>>())?;
        let divided = ranges.into_iter().map(|range| {
            Ok((get_row_at_idx(&keys, range.start)?, columns.slice(range.start, range.len())))
        });
        divided.collect()
    }

    fn evaluate(&mut self) -> Result<Option<Results>> {
        for (expression, states) in self.expressions.iter().zip(&mut self.states) {
            let context = WindowEvalContext::default();
            expression.evaluate_stateful(&self.partitions, states, &context)?;
        }
        let known = self.known();
        let rows = known.iter().sum();
        let columns = match rows {
            0 => Vec::new(),
            _ => {
                let columns = self.states.iter_mut().map(|states| take_results(states, &known));
                columns.collect::<Result<_>>()?
            }
        };
        self.forget()?;
        let results = || Results::new(columns, Vec::new(), rows, self.account.new_empty());
        (rows > 0).then(results).transpose()
    }

    /// Returns the number of rows of each partition for which all expressions have results.
    fn known(&self) -> Vec<usize> {
        let of_partition = |place| {
            let states = self.states.iter().filter_map(|states| states.get_index(place));
            states.map(|(_, known)| known.state.out_col.len()).min().unwrap_or(0)
        };
        (0..self.partitions.len()).map(of_partition).collect()
    }

    /// Drops partitions that have ended, and rows of the last one that are in no frame of a row to come.
    fn forget(&mut self) -> Result<()> {
        self.partitions.retain(|_, partition| !partition.is_end);
        self.states.iter_mut().for_each(|states| states.retain(|_, known| !known.state.is_end));
        let states = self.states.iter_mut().flat_map(PartitionWindowAggStates::values_mut);
        let mut states = states.map(|known| &mut known.state).collect::<Vec<_>>();
        let mut bytes = states.iter().map(|state| bytes_of_values(&state.out_col)).sum::<usize>();
        if let Some(last) = self.partitions.values_mut().next() {
            let starts = states
                .iter()
                .map(|state| state.window_frame_range.start.min(state.last_calculated_index));
            let passed = starts.min().unwrap_or(0);
            let rows = last.record_batch.num_rows() - passed;
            last.record_batch = compact(last.record_batch.slice(passed, rows))?;
            states.iter_mut().for_each(|state| state.prune_state(passed));
            bytes += last.record_batch.columns().iter().map(bytes_of_values).sum::<usize>()
                * self.copies;
        }
        self.account.try_resize(bytes)
    }
}

/// Takes the first results of each partition.
fn take_results(states: &mut PartitionWindowAggStates, rows: &[usize]) -> Result<ResultColumn> {
    let taken = states.values_mut().zip(rows).map(|(known, rows)| {
        let results = &mut known.state.out_col;
        let taken = results.slice(0, *rows);
        *results = compact_column(results.slice(*rows, results.len() - rows));
        compact_column(taken)
    });
    let taken = taken.collect::<Vec<_>>();
    let all = taken.iter().map(|results| &**results as &dyn Array).collect::<Vec<_>>();
    Ok(ResultColumn::Rows(match taken.as_slice() {
        [one] => one.clone(),
        _ => concat(&all)?,
    }))
}
