//! Aggregates over frames that move, where DataFusion's have no values that leave, or keep something of them.

mod flags;
mod floats;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Aggregate over a frame that moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    And,
    Or,
    /// Sum of double precision.
    Sum,
    /// Sum of single precision, which is of that precision.
    SingleSum,
    Average,
}

/// Aggregate as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Moving {
    kind: Kind,
    signature: Signature,
}

/// Returns the aggregate of a name over frames that move; `None` if DataFusion's is right for them.
pub(crate) fn moving_aggregate(name: &str, values: &DataType) -> Option<Arc<AggregateUDF>> {
    let kind = match (name, values) {
        ("bool_and" | "every", DataType::Boolean) => Kind::And,
        ("bool_or", DataType::Boolean) => Kind::Or,
        ("sum", DataType::Float64) => Kind::Sum,
        ("sum", DataType::Float32) => Kind::SingleSum,
        ("avg", DataType::Float32 | DataType::Float64) => Kind::Average,
        _ => return None,
    };
    let signature = Signature::any(1, Volatility::Immutable);
    Some(Arc::new(AggregateUDF::new_from_impl(Moving { kind, signature })))
}

impl AggregateUDFImpl for Moving {
    fn name(&self) -> &str {
        match self.kind {
            Kind::And => "bool_and",
            Kind::Or => "bool_or",
            Kind::Sum | Kind::SingleSum => "sum",
            Kind::Average => "avg",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::And | Kind::Or => DataType::Boolean,
            Kind::Sum | Kind::Average => DataType::Float64,
            Kind::SingleSum => DataType::Float32,
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[frame]", args.name);
        Ok(vec![Arc::new(Field::new(name, self.return_type(&[])?, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(match self.kind {
            Kind::And | Kind::Or => Box::new(flags::Frame::new(self.kind)),
            Kind::Sum | Kind::SingleSum | Kind::Average => Box::new(floats::Frame::new(self.kind)),
        })
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(args)
    }
}
