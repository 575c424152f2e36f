//! `bool_and` and `bool_or` over frames that move, by the numbers of true and of false values.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfMovingFrames {
    is_or: bool,
    signature: Signature,
}

/// Returns the aggregate of a name over frames that move; `None` of another name.
pub(crate) fn moving_flags(name: &str) -> Option<Arc<AggregateUDF>> {
    let is_or = match name {
        "bool_or" => true,
        "bool_and" | "every" => false,
        _ => return None,
    };
    let signature = Signature::any(1, Volatility::Immutable);
    Some(Arc::new(AggregateUDF::new_from_impl(OfMovingFrames { is_or, signature })))
}

impl AggregateUDFImpl for OfMovingFrames {
    fn name(&self) -> &str {
        if self.is_or { "bool_or" } else { "bool_and" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[flag]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Boolean, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Frame { is_or: self.is_or, ..Frame::default() }))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(args)
    }
}

/// Numbers of values of a frame.
#[derive(Debug, Default)]
struct Frame {
    is_or: bool,
    is_true: u64,
    is_false: u64,
}

impl Frame {
    /// Returns the numbers of true and of false values.
    fn counts(values: &ArrayRef) -> (u64, u64) {
        let mut counts = (0, 0);
        for value in values.as_boolean().iter().flatten() {
            if value {
                counts.0 += 1;
            } else {
                counts.1 += 1;
            }
        }
        counts
    }
}

impl Accumulator for Frame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (is_true, is_false) = Self::counts(&values[0]);
        self.is_true += is_true;
        self.is_false += is_false;
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (is_true, is_false) = Self::counts(&values[0]);
        self.is_true -= is_true;
        self.is_false -= is_false;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let flag = if self.is_or { self.is_true > 0 } else { self.is_false == 0 };
        let has_values = self.is_true + self.is_false > 0;
        Ok(ScalarValue::Boolean(has_values.then_some(flag)))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("a moving frame has no parts")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("a moving frame has no parts")
    }
}
