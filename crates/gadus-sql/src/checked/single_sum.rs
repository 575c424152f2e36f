//! `sum` of numbers of single precision, which is of that precision, as PostgreSQL adds them one by one.

use crate::error::to_datafusion;
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float32Type};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use gadus_engine::{Error, ErrorKind};
use std::sync::Arc;

/// Returns the aggregate.
pub(crate) fn single_sum() -> Arc<AggregateUDF> {
    let signature = Signature::exact(vec![DataType::Float32], Volatility::Immutable);
    Arc::new(AggregateUDF::new_from_impl(SingleSum { signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct SingleSum {
    signature: Signature,
}

impl AggregateUDFImpl for SingleSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float32)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        match args.is_distinct {
            true => not_impl_err!("sum(DISTINCT …) of real"),
            false => Ok(Box::new(Total(None))),
        }
    }
}

/// Sum so far; none of no values.
#[derive(Debug)]
struct Total(Option<f32>);

impl Accumulator for Total {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        for value in columns[0].as_primitive::<Float32Type>().iter().flatten() {
            let before = self.0.unwrap_or(0.0);
            let sum = before + value;
            if sum.is_infinite() && before.is_finite() && value.is_finite() {
                let error = Error::new(ErrorKind::OutOfRange, "value out of range: overflow");
                return Err(to_datafusion(error));
            }
            self.0 = Some(sum);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float32(self.0))
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }
}
