//! `sum` and `avg` of floating-point numbers over frames that move.
//!
//! - A frame's values are summed anew, from the first to the last as PostgreSQL does: a value that has left the frame
//!   leaves nothing behind, not even NaN or what it rounded away.
//! - Of long frames the sums of whole blocks are kept.

use super::Kind;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;
use std::collections::VecDeque;

/// Values of a block.
const BLOCK: u64 = 1_024;

/// Values of a frame, without NULLs.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    /// Number of values that came before the first one.
    first: u64,
    values: VecDeque<f64>,
    /// Number of the first block of which the sum is kept.
    first_block: u64,
    blocks: VecDeque<f64>,
}

impl Frame {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, first: 0, values: VecDeque::new(), first_block: 0, blocks: VecDeque::new() }
    }

    fn push(&mut self, value: f64) {
        self.values.push_back(value);
        let end = self.first + self.values.len() as u64;
        if !end.is_multiple_of(BLOCK) {
            return;
        }
        let block = end / BLOCK - 1;
        if block * BLOCK < self.first {
            return;
        }
        if self.blocks.is_empty() {
            self.first_block = block;
        }
        self.blocks.push_back(self.part(block * BLOCK, end));
    }

    fn pop(&mut self) {
        self.values.pop_front();
        self.first += 1;
        while !self.blocks.is_empty() && self.first_block * BLOCK < self.first {
            self.blocks.pop_front();
            self.first_block += 1;
        }
    }

    fn add(&self, sum: f64, value: f64) -> f64 {
        match self.kind == Kind::SingleSum {
            #[allow(clippy::cast_possible_truncation)] // sums of single precision are rounded to it
            true => f64::from((sum + value) as f32),
            false => sum + value,
        }
    }

    /// Sums the values of some numbers.
    fn part(&self, from: u64, to: u64) -> f64 {
        let place = |number: u64| usize::try_from(number - self.first).unwrap_or(usize::MAX);
        let values = self.values.range(place(from)..place(to));
        values.fold(0.0, |sum, value| self.add(sum, *value))
    }

    fn sum(&self) -> f64 {
        let end = self.first + self.values.len() as u64;
        let blocks =
            self.first_block * BLOCK..(self.first_block + self.blocks.len() as u64) * BLOCK;
        if self.blocks.len() < 2 {
            return self.part(self.first, end);
        }
        let head = self.part(self.first, blocks.start);
        let whole = self.blocks.iter().fold(head, |sum, block| self.add(sum, *block));
        self.add(whole, self.part(blocks.end, end))
    }
}

impl Accumulator for Frame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = cast(&values[0], &DataType::Float64)?;
        values.as_primitive::<Float64Type>().iter().flatten().for_each(|value| self.push(value));
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        (values[0].null_count()..values[0].len()).for_each(|_| self.pop());
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // counts of rows; rounded sums
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = (!self.values.is_empty()).then(|| self.sum());
        Ok(match self.kind {
            Kind::Average => ScalarValue::Float64(sum.map(|sum| sum / self.values.len() as f64)),
            Kind::SingleSum => ScalarValue::Float32(sum.map(|sum| sum as f32)),
            _ => ScalarValue::Float64(sum),
        })
    }

    fn size(&self) -> usize {
        size_of_val(self) + (self.values.capacity() + self.blocks.capacity()) * size_of::<f64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("a moving frame has no parts")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("a moving frame has no parts")
    }
}
