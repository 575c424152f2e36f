//! `min` and `max`, under their own names: of floating-point numbers NaN is the greatest, and infinities count.
//!
//! - DataFusion's states of groups begin with the greatest finite number, and take NaN for less than what came before.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};
use std::mem::size_of;
use std::sync::Arc;

/// Returns the aggregates, to be registered in the places of DataFusion's.
pub(crate) fn extremes() -> [Arc<AggregateUDF>; 2] {
    let extreme =
        |inner, is_least| Arc::new(AggregateUDF::new_from_impl(Extreme { inner, is_least }));
    [extreme(min_udaf(), true), extreme(max_udaf(), false)]
}

/// Returns the least values of groups.
pub(crate) fn least() -> Arc<AggregateUDF> {
    let [least, _] = extremes();
    least
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Extreme {
    inner: Arc<AggregateUDF>,
    is_least: bool,
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.inner.create_sliding_accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(match args.return_field.data_type() {
            DataType::Float32 => Box::new(Extremes::<Float32Type>::new(self.is_least)),
            DataType::Float64 => Box::new(Extremes::<Float64Type>::new(self.is_least)),
            _ => return self.inner.create_groups_accumulator(args),
        })
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.inner.value_from_stats(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }
}

/// Least or greatest numbers of groups; none of groups without numbers.
#[derive(Debug)]
struct Extremes<T: ArrowPrimitiveType> {
    is_least: bool,
    numbers: Vec<Option<T::Native>>,
}

impl<T: ArrowPrimitiveType> Extremes<T>
where
    T::Native: PartialOrd,
{
    fn new(is_least: bool) -> Self {
        Self { is_least, numbers: Vec::new() }
    }

    fn add(&mut self, group: usize, number: T::Native) {
        let known = &mut self.numbers[group];
        let is_nan = |number: T::Native| number.partial_cmp(&number).is_none();
        let is_other = match *known {
            None => true,
            Some(known) if self.is_least => number < known || is_nan(known),
            Some(known) => number > known || is_nan(number),
        };
        if is_other {
            *known = Some(number);
        }
    }
}

impl<T: ArrowPrimitiveType> GroupsAccumulator for Extremes<T>
where
    T::Native: PartialOrd,
{
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.numbers.resize(count, None);
        let numbers = values[0].as_primitive::<T>();
        let is_kept = |row: usize| filter.is_none_or(|kept| kept.is_valid(row) && kept.value(row));
        for (row, &group) in groups.iter().enumerate() {
            if numbers.is_valid(row) && is_kept(row) {
                self.add(group, numbers.value(row));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let numbers = emit.take_needed(&mut self.numbers);
        Ok(Arc::new(PrimitiveArray::<T>::from_iter(numbers)))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.update_batch(states, groups, None, count)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let Some(kept) = filter else { return Ok(values.to_vec()) };
        let is_left_out = kept.iter().map(|is_kept| Some(is_kept != Some(true)));
        Ok(vec![nullif(&values[0], &is_left_out.collect::<BooleanArray>())?])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.numbers.capacity() * size_of::<Option<T::Native>>()
    }
}
