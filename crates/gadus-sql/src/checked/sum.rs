//! `sum`, under its own name, with a check.
//!
//! - Sums are computed in a type that no number of rows overflows; only a total that does not fit
//!   its own type is an error, whatever the order of the rows.
//! - The computing, and all that cannot overflow, is DataFusion's.

use crate::error::to_datafusion;
use arrow::array::{ArrayRef, AsArray, BooleanArray, Decimal128Array};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, UInt64Type};
use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature,
};
use gadus_engine::{Error, ErrorKind};
use std::sync::Arc;

/// The function, to be registered in the place of DataFusion's.
pub(crate) fn checked_sum() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::new_from_impl(CheckedSum { sum: Sum::new() }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedSum {
    sum: Sum,
}

/// The type that a sum of this type is computed in, where it is another. Decimals of fewer digits
/// are sums of values that ten thousand million rows do not overflow.
fn wide(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Int64 | DataType::UInt64 => Some(DataType::Decimal128(38, 0)),
        DataType::Decimal128(38, scale) => Some(DataType::Decimal256(76, *scale)),
        _ => None,
    }
}

/// Lets DataFusion's function sum as another type.
fn widened<'a>(args: &AccumulatorArgs<'a>, to: DataType) -> AccumulatorArgs<'a> {
    AccumulatorArgs {
        return_field: Arc::new(Field::new(args.name, to, true)),
        schema: args.schema,
        ignore_nulls: args.ignore_nulls,
        order_bys: args.order_bys,
        is_reversed: args.is_reversed,
        name: args.name,
        is_distinct: args.is_distinct,
        exprs: args.exprs,
        expr_fields: args.expr_fields,
    }
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        self.sum.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.sum.return_type(arguments)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let Some(wide) = wide(args.return_type()) else { return self.sum.state_fields(args) };
        self.sum.state_fields(StateFieldsArgs {
            return_field: Arc::new(Field::new(args.name, wide, true)),
            ..args
        })
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let narrow = args.return_type().clone();
        if let Some(wide) = wide(&narrow) {
            let inner = self.sum.accumulator(widened(&args, wide.clone()))?;
            return Ok(Box::new(WideSum { inner, wide, narrow }));
        }
        self.sum.accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let narrow = args.return_type().clone();
        match wide(&narrow) {
            Some(wide) => {
                let inner = self.sum.create_groups_accumulator(widened(&args, wide.clone()))?;
                Ok(Box::new(WideGroups { inner, wide, narrow }))
            }
            None => self.sum.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let narrow = args.return_type().clone();
        let Some(wide) = wide(&narrow) else { return self.sum.create_sliding_accumulator(args) };
        if args.is_distinct {
            return not_impl_err!("sum(DISTINCT …) over a moving frame");
        }
        let inner = self.sum.create_sliding_accumulator(widened(&args, wide.clone()))?;
        Ok(Box::new(WideSum { inner, wide, narrow }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.sum.set_monotonicity(data_type)
    }
}

/// Values as those that are summed.
fn widen(values: &[ArrayRef], wide: &DataType) -> Result<Vec<ArrayRef>> {
    let widened = values.iter().map(|values| match values.data_type() {
        // Each fits, which the cast would test for each.
        DataType::Int64 => Ok(exact(values.as_primitive::<Int64Type>().unary(i128::from))),
        DataType::UInt64 => Ok(exact(values.as_primitive::<UInt64Type>().unary(i128::from))),
        _ => cast(values, wide),
    });
    Ok(widened.collect::<Result<_, _>>()?)
}

/// Whole numbers as decimals of 38 digits.
fn exact(values: Decimal128Array) -> ArrayRef {
    Arc::new(values.with_data_type(DataType::Decimal128(38, 0)))
}

/// A total in its own type, or an error.
fn narrowed(total: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    match cast_with_options(total, to, &strict) {
        Ok(total) => Ok(total),
        Err(_) => Err(to_datafusion(Error::new(
            ErrorKind::OutOfRange,
            format!("a sum leaves the range of its type, {}", shown(to)),
        ))),
    }
}

fn shown(data_type: &DataType) -> String {
    match data_type {
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt64 => "BIGINT UNSIGNED".to_owned(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision}, {scale})"),
        other => other.to_string(),
    }
}

/// One sum.
#[derive(Debug)]
struct WideSum {
    inner: Box<dyn Accumulator>,
    wide: DataType,
    narrow: DataType,
}

impl Accumulator for WideSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.update_batch(&widen(values, &self.wide)?)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let total = narrowed(&self.inner.evaluate()?.to_array()?, &self.narrow)?;
        ScalarValue::try_from_array(&total, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.inner.retract_batch(&widen(values, &self.wide)?)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }
}

/// A sum for each group.
struct WideGroups {
    inner: Box<dyn GroupsAccumulator>,
    wide: DataType,
    narrow: DataType,
}

impl GroupsAccumulator for WideGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        count: usize,
    ) -> Result<()> {
        self.inner.update_batch(&widen(values, &self.wide)?, groups, filter, count)
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        narrowed(&self.inner.evaluate(emit)?, &self.narrow)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit)
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], count: usize) -> Result<()> {
        self.inner.merge_batch(states, groups, count)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(&widen(values, &self.wide)?, filter)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}
