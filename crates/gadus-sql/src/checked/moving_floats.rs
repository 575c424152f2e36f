//! `sum` and `avg` of floating-point numbers over frames that move.
//!
//! - A frame's values are summed anew, from the first to the last as PostgreSQL does: a value that has left the frame
//!   leaves nothing behind, not even NaN or what it rounded away.
//! - Of long frames the sums of whole blocks are kept.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Values of a block.
const BLOCK: u64 = 1_024;

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfMovingFrames {
    is_average: bool,
    /// True for a sum of single precision, which is of that precision.
    is_single: bool,
    signature: Signature,
}

/// Returns the aggregate of a name over frames that move; `None` if another aggregate is right for them.
pub(crate) fn moving_floats(name: &str, values: &DataType) -> Option<Arc<AggregateUDF>> {
    let is_average = match name {
        "sum" => false,
        "avg" => true,
        _ => return None,
    };
    let is_single = match values {
        DataType::Float32 => !is_average,
        DataType::Float64 => false,
        _ => return None,
    };
    let signature = Signature::any(1, Volatility::Immutable);
    let function = OfMovingFrames { is_average, is_single, signature };
    Some(Arc::new(AggregateUDF::new_from_impl(function)))
}

impl AggregateUDFImpl for OfMovingFrames {
    fn name(&self) -> &str {
        if self.is_average { "avg" } else { "sum" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(if self.is_single { DataType::Float32 } else { DataType::Float64 })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[sum]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Float64, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let (is_average, is_single) = (self.is_average, self.is_single);
        Ok(Box::new(Frame { is_average, is_single, ..Frame::default() }))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(args)
    }
}

/// Values of a frame, without NULLs.
#[derive(Debug, Default)]
struct Frame {
    is_average: bool,
    is_single: bool,
    /// Number of values that came before the first one.
    first: u64,
    values: VecDeque<f64>,
    /// Number of the first block of which the sum is kept.
    first_block: u64,
    blocks: VecDeque<f64>,
}

impl Frame {
    fn push(&mut self, value: f64) {
        self.values.push_back(value);
        let end = self.first + self.values.len() as u64;
        if end % BLOCK != 0 {
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
        match self.is_single {
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
        Ok(match (self.is_average, self.is_single) {
            (true, _) => ScalarValue::Float64(sum.map(|sum| sum / self.values.len() as f64)),
            (false, true) => ScalarValue::Float32(sum.map(|sum| sum as f32)),
            (false, false) => ScalarValue::Float64(sum),
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
