//! Window functions over frames that DataFusion does not have: EXCLUDE, and RANGE with distances.
//!
//! - A call has its arguments first, then its FILTER, the keys of the order, and the offsets of the frame's ends.
//! - Of RANGE, an offset is the value at which the frame ends, for each row: the key, less or more the distance.
//! - Frames are found for a whole partition; an aggregate takes values away where it can, and starts anew elsewhere.

mod call;
mod ends;
mod evaluator;

pub(crate) use call::Call;
pub(crate) use ends::{End, Frame};

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, Signature, Volatility, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_plan::PhysicalExpr;
use evaluator::Evaluator;
use std::sync::Arc;

/// Call over a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Framed {
    pub(crate) call: Call,
    /// Number of its arguments.
    pub(crate) arguments: usize,
    pub(crate) has_filter: bool,
    /// Directions of the order's keys.
    pub(crate) sort: Vec<SortOptions>,
    pub(crate) frame: Frame,
}

impl Framed {
    /// Returns the function as DataFusion calls it.
    pub(crate) fn function(self) -> Arc<WindowUDF> {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Arc::new(WindowUDF::new_from_impl(Function { framed: self, signature }))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    framed: Framed,
    signature: Signature,
}

impl WindowUDFImpl for Function {
    fn name(&self) -> &str {
        self.framed.call.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let Some(fields) = args.input_fields().get(..self.framed.arguments) else {
            return internal_err!("a call over a frame misses arguments");
        };
        Ok(Box::new(Evaluator::new(self.framed.clone(), fields.to_vec())?))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let Some(fields) = args.input_fields().get(..self.framed.arguments) else {
            return internal_err!("a call over a frame misses arguments");
        };
        let field = self.framed.call.field(fields)?;
        Ok(Arc::new(field.as_ref().clone().with_name(args.name()).with_nullable(true)))
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn limit_effect(&self, _: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        LimitEffect::Unknown
    }
}
