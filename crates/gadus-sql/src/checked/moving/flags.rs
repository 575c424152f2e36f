//! `bool_and` and `bool_or` over frames that move, by the numbers of true and of false values.

use super::Kind;
use arrow::array::{ArrayRef, AsArray};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;

/// Numbers of values of a frame.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    is_true: u64,
    is_false: u64,
}

impl Frame {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, is_true: 0, is_false: 0 }
    }

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
        let flag = if self.kind == Kind::Or { self.is_true > 0 } else { self.is_false == 0 };
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
