//! ORDER BY, LIMIT and OFFSET of compiled queries.

use super::Operand;
use crate::value::Value;
use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{SortColumn, SortOptions, lexsort_to_indices, take_record_batch};
use gadus_engine::Result;
use std::sync::Arc;

/// In what order rows leave, and which of them. None of it where all parts are empty.
#[derive(Debug, Default)]
pub(crate) struct Order {
    pub(super) by: Vec<SortBy>,
    pub(super) limit: Option<Operand>,
    pub(super) offset: Option<Operand>,
}

/// What rows are ordered by; whoever compiled it knows what its columns are.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortBy {
    pub(super) column: usize,
    pub(super) options: SortOptions,
}

/// The rows that leave, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cut {
    pub(super) skip: usize,
    pub(super) count: Option<usize>,
}

impl Order {
    pub(super) fn is_none(&self) -> bool {
        self.by.is_empty() && self.limit.is_none() && self.offset.is_none()
    }

    /// LIMIT and OFFSET with their values; none where these are no numbers of rows.
    pub(super) fn cut(&self, parameters: &[Value]) -> Result<Option<Cut>> {
        let number = |operand: &Operand| {
            Ok::<_, gadus_engine::Error>(match operand.value(parameters)? {
                Value::Integer(number) => usize::try_from(number).ok(),
                _ => None,
            })
        };
        let limit = self.limit.as_ref().map(number).transpose()?;
        let offset = self.offset.as_ref().map(number).transpose()?;
        Ok(match (limit, offset) {
            (Some(None), _) | (_, Some(None)) => None,
            (limit, offset) => {
                Some(Cut { skip: offset.flatten().unwrap_or(0), count: limit.flatten() })
            }
        })
    }

    /// The rows of a batch that leave, in their order. `column` finds what they are ordered by; equal
    /// rows stay in their order.
    pub(super) fn apply(
        &self,
        batch: &RecordBatch,
        cut: Cut,
        column: impl Fn(usize) -> ArrayRef,
    ) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let (skip, count) = (cut.skip.min(rows), cut.count.unwrap_or(rows));
        let count = count.min(rows - skip);
        if self.by.is_empty() {
            return Ok(batch.slice(skip, count));
        }
        let sort =
            |by: &SortBy| SortColumn { values: column(by.column), options: Some(by.options) };
        let places = UInt32Array::from_iter_values((0_u32..).take(rows));
        let last = SortColumn { values: Arc::new(places), options: None };
        let columns = self.by.iter().map(sort).chain([last]).collect::<Vec<_>>();
        let sorted = lexsort_to_indices(&columns, Some(skip + count))?;
        Ok(take_record_batch(batch, &sorted.slice(skip, count))?)
    }

    /// For EXPLAIN: what follows the rest.
    pub(super) fn explained(&self) -> &'static str {
        match (self.by.is_empty(), self.limit.is_some() || self.offset.is_some()) {
            (true, false) => "",
            (true, true) => ", the first of them",
            (false, false) => ", sorted",
            (false, true) => ", the first of them in order",
        }
    }
}

impl Cut {
    /// How many rows it is about in all; none where that has no bound.
    pub(super) fn rows(self) -> Option<usize> {
        self.count.and_then(|count| self.skip.checked_add(count))
    }
}
