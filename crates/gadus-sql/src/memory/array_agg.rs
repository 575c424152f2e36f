//! `array_agg`, under its own name, that counts the texts it holds.
//!
//! - It keeps its input, of whose views DataFusion counts sixteen bytes each: texts of a megabyte would never
//!   reach the memory limit.
//! - With DISTINCT or ORDER BY it keeps values of its own, which are counted.

use crate::value_limits::bytes_of_views;
use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::array_agg::array_agg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature,
};
use std::sync::Arc;

/// The function, to be registered in the place of DataFusion's.
pub(crate) fn counted_array_agg() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(CountedArrayAgg { inner: array_agg_udaf() }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CountedArrayAgg {
    inner: Arc<AggregateUDF>,
}

impl AggregateUDFImpl for CountedArrayAgg {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        beneficial_ordering: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = AggregateUDF::clone(&self.inner);
        let inner = inner.with_beneficial_ordering(beneficial_ordering)?;
        Ok(inner.map(|inner| Arc::new(Self { inner: Arc::new(inner) }) as _))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let keeps_input = !args.is_distinct && args.order_bys.is_empty();
        let inner = self.inner.accumulator(args)?;
        Ok(if keeps_input { Box::new(Counted { inner, texts: 0 }) } else { inner })
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Reversed(counted_array_agg())
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let inner = self.inner.create_groups_accumulator(args)?;
        Ok(Box::new(CountedGroups { inner, texts: 0, groups: 0 }))
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }
}

/// One list.
#[derive(Debug)]
struct Counted {
    inner: Box<dyn Accumulator>,
    texts: usize,
}

impl Accumulator for Counted {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.texts += values.iter().map(|values| bytes_of_views(values)).sum::<usize>();
        self.inner.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.texts += states.iter().map(|states| bytes_of_views(states)).sum::<usize>();
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let gone = values.iter().map(|values| bytes_of_views(values)).sum();
        self.texts = self.texts.saturating_sub(gone);
        self.inner.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.inner.evaluate()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn size(&self) -> usize {
        self.inner.size() + self.texts
    }
}

/// A list for each group.
struct CountedGroups {
    inner: Box<dyn GroupsAccumulator>,
    texts: usize,
    groups: usize,
}

impl CountedGroups {
    fn add(&mut self, values: &[ArrayRef], groups: usize) {
        self.texts += values.iter().map(|values| bytes_of_views(values)).sum::<usize>();
        self.groups = self.groups.max(groups);
    }

    /// Groups leave, with their part of the texts.
    fn emit(&mut self, emitted: EmitTo) {
        let left = match emitted {
            EmitTo::All => 0,
            EmitTo::First(first) => self.groups.saturating_sub(first),
        };
        self.texts = self.texts / self.groups.max(1) * left;
        self.groups = left;
    }
}

impl GroupsAccumulator for CountedGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        groups: usize,
    ) -> Result<()> {
        self.add(values, groups);
        self.inner.update_batch(values, group_indices, filter, groups)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        groups: usize,
    ) -> Result<()> {
        self.add(values, groups);
        self.inner.merge_batch(values, group_indices, groups)
    }

    fn evaluate(&mut self, emitted: EmitTo) -> Result<ArrayRef> {
        self.emit(emitted);
        self.inner.evaluate(emitted)
    }

    fn state(&mut self, emitted: EmitTo) -> Result<Vec<ArrayRef>> {
        self.emit(emitted);
        self.inner.state(emitted)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(values, filter)
    }

    fn size(&self) -> usize {
        self.inner.size() + self.texts
    }
}

#[cfg(test)]
mod tests;
