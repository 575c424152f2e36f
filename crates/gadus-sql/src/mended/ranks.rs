//! Ranks as BIGINT: DataFusion counts them without a sign, of which a minus is refused and a difference is a decimal.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_window::ntile::ntile_udwf;
use datafusion::functions_window::rank::{dense_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs,
};
use datafusion::logical_expr::window_state::WindowAggState;
use datafusion::logical_expr::{
    Documentation, LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, WindowUDF,
    WindowUDFImpl,
};
use datafusion::physical_plan::PhysicalExpr;
use std::ops::Range;
use std::sync::Arc;

/// `row_number()`, `rank()`, `dense_rank()` and `ntile(n)`.
pub(crate) fn signed_ranks() -> impl Iterator<Item = Arc<WindowUDF>> {
    let ranks = [row_number_udwf(), rank_udwf(), dense_rank_udwf(), ntile_udwf()];
    ranks.into_iter().map(|rank| Arc::new(WindowUDF::new_from_impl(Signed(rank))))
}

/// A rank that has a sign.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Signed(Arc<WindowUDF>);

impl WindowUDFImpl for Signed {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn expressions(&self, args: ExpressionArgs) -> Vec<Arc<dyn PhysicalExpr>> {
        self.0.expressions(args)
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(SignedEvaluator(self.0.partition_evaluator_factory(args)?)))
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        let field = self.0.field(args)?;
        Ok(Arc::new(field.as_ref().clone().with_data_type(DataType::Int64)))
    }

    fn sort_options(&self) -> Option<datafusion::arrow::compute::SortOptions> {
        self.0.sort_options()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.0.coerce_types(types)
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        match self.0.reverse_expr() {
            // It would be without a sign.
            ReversedUDWF::Reversed(_) => ReversedUDWF::NotSupported,
            other => other,
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }

    fn limit_effect(&self, args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.0.inner().limit_effect(args)
    }
}

/// Gives what another one does, with a sign.
#[derive(Debug)]
struct SignedEvaluator(Box<dyn PartitionEvaluator>);

fn signed(ranks: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(ranks, &DataType::Int64)?)
}

impl PartitionEvaluator for SignedEvaluator {
    fn memoize(&mut self, state: &mut WindowAggState) -> Result<()> {
        self.0.memoize(state)
    }

    fn get_range(&self, index: usize, rows: usize) -> Result<Range<usize>> {
        self.0.get_range(index, rows)
    }

    fn is_causal(&self) -> bool {
        self.0.is_causal()
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        signed(&self.0.evaluate_all(values, rows)?)
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        self.0.evaluate(values, range)?.cast_to(&DataType::Int64)
    }

    fn evaluate_all_with_rank(&self, rows: usize, ranks: &[Range<usize>]) -> Result<ArrayRef> {
        signed(&self.0.evaluate_all_with_rank(rows, ranks)?)
    }

    fn supports_bounded_execution(&self) -> bool {
        self.0.supports_bounded_execution()
    }

    fn uses_window_frame(&self) -> bool {
        self.0.uses_window_frame()
    }

    fn include_rank(&self) -> bool {
        self.0.include_rank()
    }
}
