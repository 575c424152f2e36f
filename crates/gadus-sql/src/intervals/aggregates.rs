//! `sum` and `avg` of intervals, around the functions that other values have.
//!
//! - Sums are made in wider numbers, so that only a total that does not fit is an error, whatever the order of the rows.
//! - An average is PostgreSQL's quotient of the sum: fractions of months become days.

use super::arithmetic::quotient;
use super::{is_interval, out_of_range};
use crate::error::to_datafusion;
use arrow::array::types::IntervalMonthDayNanoType;
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef, Int64Type, IntervalUnit};
use datafusion::common::{Result, ScalarValue, internal_err, not_impl_err};
use datafusion::functions_aggregate::average::avg_udaf;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Coercion, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs, TypeSignature, TypeSignatureClass,
};
use gadus_engine::{INTERVAL, Interval};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Sums, where a function sums all else.
pub(crate) fn total(others: Arc<AggregateUDF>) -> Arc<AggregateUDF> {
    of_intervals(others, false)
}

/// Averages.
pub(crate) fn average() -> Arc<AggregateUDF> {
    of_intervals(avg_udaf(), true)
}

fn of_intervals(others: Arc<AggregateUDF>, is_average: bool) -> Arc<AggregateUDF> {
    let signature = others.signature();
    let interval = Coercion::new_exact(TypeSignatureClass::Interval);
    let both = vec![signature.type_signature.clone(), TypeSignature::Coercible(vec![interval])];
    let signature = Signature::one_of(both, signature.volatility);
    Arc::new(AggregateUDF::new_from_impl(OfIntervals { others, is_average, signature }))
}

/// A function that is another's for all but intervals.
#[derive(Debug, PartialEq, Eq)]
struct OfIntervals {
    others: Arc<AggregateUDF>,
    is_average: bool,
    signature: Signature,
}

/// By name alone: DataFusion hashes each aggregate of a select list as often as the list is long, and a signature
/// has many types.
impl Hash for OfIntervals {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.others.name().hash(state);
    }
}

impl OfIntervals {
    fn totals(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …) of intervals", self.name());
        }
        Ok(Box::new(Totals { is_average: self.is_average, ..Totals::default() }))
    }
}

fn gives_interval(args: &AccumulatorArgs<'_>) -> bool {
    is_interval(args.return_type())
}

impl AggregateUDFImpl for OfIntervals {
    fn name(&self) -> &str {
        self.others.name()
    }

    fn aliases(&self) -> &[String] {
        self.others.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Interval(_)] => Ok(INTERVAL),
            _ => self.others.return_type(arguments),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if !is_interval(args.return_type()) {
            return self.others.state_fields(args);
        }
        let field =
            |part: &str, of| Arc::new(Field::new(format!("{}[{part}]", args.name), of, false));
        Ok(vec![
            field("months", DataType::Int64),
            field("days", DataType::Int64),
            field("microseconds", TIME),
            field("count", DataType::Int64),
        ])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if gives_interval(&args) { self.totals(&args) } else { self.others.accumulator(args) }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !gives_interval(&args) && self.others.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.others.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        match gives_interval(&args) {
            true => self.totals(&args),
            false => self.others.create_sliding_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.others.order_sensitivity()
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.others.value_from_stats(statistics)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        match data_type {
            DataType::Interval(IntervalUnit::MonthDayNano) => SetMonotonicity::NotMonotonic,
            _ => self.others.inner().set_monotonicity(data_type),
        }
    }
}

/// The type in which microseconds are summed.
const TIME: DataType = DataType::Decimal128(38, 0);

/// What intervals come to, and how many they are.
#[derive(Debug, Default)]
struct Totals {
    is_average: bool,
    months: i64,
    days: i64,
    microseconds: i128,
    count: i64,
}

impl Totals {
    /// Adds intervals, or takes them back.
    fn add(&mut self, values: &[ArrayRef], sign: i64) -> Result<()> {
        let [values] = values else { return internal_err!("one column is summed") };
        let intervals = arrow::compute::cast(values, &INTERVAL)?;
        let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
        for interval in intervals.iter().flatten().map(Interval::from_arrow) {
            self.months += sign * i64::from(interval.months);
            self.days += sign * i64::from(interval.days);
            self.microseconds += i128::from(sign) * i128::from(interval.microseconds);
            self.count += sign;
        }
        Ok(())
    }

    fn total(&self) -> Option<Interval> {
        let narrow = |part: i64| i32::try_from(part).ok();
        let (months, days) = (narrow(self.months)?, narrow(self.days)?);
        let microseconds = i64::try_from(self.microseconds).ok()?;
        Interval { months, days, microseconds }.within_range().ok()
    }
}

impl Accumulator for Totals {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, -1)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.count == 0 {
            return Ok(ScalarValue::IntervalMonthDayNano(None));
        }
        #[allow(clippy::cast_precision_loss)] // fewer than 2^53 rows
        let divisor = self.count as f64;
        let value = self.total().and_then(|total| match self.is_average {
            true => quotient(total, divisor).ok(),
            false => Some(total),
        });
        let value = value.ok_or_else(|| to_datafusion(out_of_range()))?;
        Ok(ScalarValue::IntervalMonthDayNano(Some(value.to_arrow())))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![
            ScalarValue::Int64(Some(self.months)),
            ScalarValue::Int64(Some(self.days)),
            ScalarValue::Decimal128(Some(self.microseconds), 38, 0),
            ScalarValue::Int64(Some(self.count)),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [months, days, microseconds, count] = states else {
            return internal_err!("the state of a sum of intervals has four parts");
        };
        let sum = |part: &ArrayRef| part.as_primitive::<Int64Type>().iter().flatten().sum::<i64>();
        self.months += sum(months);
        self.days += sum(days);
        let microseconds = microseconds.as_primitive::<Decimal128Type>();
        self.microseconds += microseconds.iter().flatten().sum::<i128>();
        self.count += sum(count);
        Ok(())
    }
}
