//! Variances and standard deviations of floating-point numbers, by the algorithm of PostgreSQL's: Youngs and Cramer.
//!
//! - Of NaN and infinities the variance is NaN.

use crate::error::to_datafusion;
use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use gadus_engine::{Error, ErrorKind};
use std::collections::VecDeque;
use std::sync::Arc;

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfFloats {
    name: &'static str,
    is_of_sample: bool,
    is_deviation: bool,
    signature: Signature,
}

/// Aggregates: name, of a sample, standard deviation.
const AGGREGATES: &[(&str, bool, bool)] = &[
    ("var_pop", false, false),
    ("var_samp", true, false),
    ("variance", true, false),
    ("stddev_pop", false, true),
    ("stddev_samp", true, true),
    ("stddev", true, true),
];

/// Returns the aggregate of a name.
pub(crate) fn float_variance(name: &str) -> Option<Arc<AggregateUDF>> {
    let (name, is_of_sample, is_deviation) =
        AGGREGATES.iter().find(|(known, ..)| *known == name)?;
    let signature = Signature::any(1, Volatility::Immutable);
    let (is_of_sample, is_deviation) = (*is_of_sample, *is_deviation);
    let function = OfFloats { name, is_of_sample, is_deviation, signature };
    Some(Arc::new(AggregateUDF::new_from_impl(function)))
}

impl AggregateUDFImpl for OfFloats {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |part: &str| {
            Arc::new(Field::new(format!("{}[{part}]", args.name), DataType::Float64, false))
        };
        Ok(vec![field("count"), field("sum"), field("squares")])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) of doubles", self.name);
        }
        Ok(Box::new(self.moments()))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) over a moving frame", self.name);
        }
        Ok(Box::new(Moving { moments: self.moments(), values: VecDeque::new() }))
    }
}

impl OfFloats {
    fn moments(&self) -> Moments {
        let (is_of_sample, is_deviation) = (self.is_of_sample, self.is_deviation);
        Moments { is_of_sample, is_deviation, ..Moments::default() }
    }
}

/// Aggregate over a frame that moves: computed anew for each row, because what was added cannot be taken away exactly.
#[derive(Debug)]
struct Moving {
    moments: Moments,
    /// Values of the frame, the first one first.
    values: VecDeque<f64>,
}

impl Accumulator for Moving {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.extend(floats(&values[0])?.iter().flatten());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let count = floats(&values[0])?.iter().flatten().count();
        self.values.drain(..count.min(self.values.len()));
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        (self.moments.count, self.moments.sum, self.moments.squares) = (0.0, 0.0, 0.0);
        for value in &self.values {
            self.moments.add(*value)?;
        }
        self.moments.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * size_of::<f64>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        not_impl_err!("parts of a moving frame")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        not_impl_err!("parts of a moving frame")
    }
}

/// Count, sum, and sum of the squares of the differences from the mean.
#[derive(Debug, Default)]
struct Moments {
    is_of_sample: bool,
    is_deviation: bool,
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) -> Result<()> {
        let before = self.sum;
        self.count += 1.0;
        self.sum += value;
        if self.count == 1.0 {
            if !value.is_finite() {
                self.squares = f64::NAN;
            }
            return Ok(());
        }
        let difference = value * self.count - self.sum;
        self.squares += difference * difference / (self.count * (self.count - 1.0));
        if self.sum.is_infinite() || self.squares.is_infinite() {
            if before.is_finite() && value.is_finite() {
                return Err(overflow());
            }
            self.squares = f64::NAN;
        }
        Ok(())
    }

    fn merge(&mut self, count: f64, sum: f64, squares: f64) -> Result<()> {
        if count == 0.0 {
            return Ok(());
        }
        if self.count == 0.0 {
            (self.count, self.sum, self.squares) = (count, sum, squares);
            return Ok(());
        }
        let difference = self.sum / self.count - sum / count;
        let total = self.count + count;
        let between = self.count * count * difference * difference / total;
        let merged = self.squares + squares + between;
        if merged.is_infinite() && self.squares.is_finite() && squares.is_finite() {
            return Err(overflow());
        }
        (self.count, self.sum, self.squares) = (total, self.sum + sum, merged);
        Ok(())
    }
}

fn overflow() -> datafusion::error::DataFusionError {
    to_datafusion(Error::new(ErrorKind::OutOfRange, "value out of range: overflow"))
}

impl Accumulator for Moments {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in floats(&values[0])?.iter().flatten() {
            self.add(value)?;
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let least = if self.is_of_sample { 1.0 } else { 0.0 };
        if self.count <= least {
            return Ok(ScalarValue::Float64(None));
        }
        let variance = self.squares / (self.count - least);
        let result = if self.is_deviation { variance.sqrt() } else { variance };
        Ok(ScalarValue::Float64(Some(result)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let parts = [self.count, self.sum, self.squares];
        Ok(parts.map(|part| ScalarValue::Float64(Some(part))).to_vec())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [counts, sums, squares] = states else {
            return not_impl_err!("a state of {} parts", states.len());
        };
        let (counts, sums, squares) = (floats(counts)?, floats(sums)?, floats(squares)?);
        for row in 0..counts.len() {
            self.merge(counts.value(row), sums.value(row), squares.value(row))?;
        }
        Ok(())
    }
}

fn floats(array: &ArrayRef) -> Result<Float64Array> {
    Ok(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
}
