//! The functions of intervals: those that statements call, and those that operators and casts become.

use super::arithmetic::{self, Computed};
use super::parts::Part;
use super::{calendar, converted, date_trunc, intervals, out_of_range};
use crate::error::{input, to_datafusion};
use arrow::array::types::IntervalMonthDayNanoType;
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::types::{NativeType, logical_date, logical_string};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    Coercion, ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignatureClass, Volatility,
};
use gadus_engine::{Error, ErrorKind, INTERVAL, Interval, IntervalArray, IntervalError, Reason};
use std::sync::Arc;

/// What a function gives depends on its arguments alone.
const VOLATILITY: Volatility = Volatility::Immutable;

/// A function of values of the same row that is NULL where one of them is.
#[derive(Debug, PartialEq, Eq, Hash)]
struct OfRows {
    name: &'static str,
    what: What,
    signature: Signature,
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// The interval that a text or a duration is; NULL where it is none, if that may be.
    Read {
        or_null: bool,
    },
    /// The text of an interval.
    Text,
    Sum,
    Difference,
    Product,
    Quotient,
    /// What is between two points in time, in days and the time.
    Between,
    /// The same by the calendar.
    Age,
    JustifyHours,
    JustifyDays,
    JustifyInterval,
    /// Years, months, weeks, days, hours, minutes and seconds.
    Make,
    /// A number of these months, days and microseconds.
    Count(Interval),
    /// What a part is.
    Part(Part),
    /// What is left of an interval.
    Truncate,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Read { or_null: false } => "as_interval",
            Self::Read { or_null: true } => "try_as_interval",
            Self::Text => "interval_as_text",
            Self::Sum => "interval_sum",
            Self::Difference => "interval_difference",
            Self::Product => "interval_product",
            Self::Quotient => "interval_quotient",
            Self::Between => "time_between",
            Self::Age => "age",
            Self::JustifyHours => "justify_hours",
            Self::JustifyDays => "justify_days",
            Self::JustifyInterval => "justify_interval",
            Self::Make => "make_interval",
            Self::Count(_) => "interval_of",
            Self::Part(_) => "interval_part",
            Self::Truncate => "interval_trunc",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8View,
            Self::Part(part) => part.data_type(),
            _ => INTERVAL,
        }
    }

    /// A call with values of the types that it takes.
    pub(super) fn of(self, values: Vec<Expr>) -> Expr {
        let signature = Signature::any(values.len(), VOLATILITY);
        let function = ScalarUDF::from(OfRows { name: self.name(), what: self, signature });
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), values))
    }

    /// What it gives for each row; for constants one value.
    pub(super) fn of_columns(self, values: &[ColumnarValue], rows: usize) -> Result<ColumnarValue> {
        let is_one = values.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { rows };
        let values = values.iter().map(|value| value.to_array(rows)).collect::<Result<Vec<_>>>()?;
        let computed = self.compute(&values).map_err(to_datafusion)?;
        if computed.len() != rows {
            return internal_err!("{} gave {} rows of {rows}", self.name(), computed.len());
        }
        if is_one {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&computed, 0)?));
        }
        Ok(ColumnarValue::Array(computed))
    }

    fn compute(self, values: &[ArrayRef]) -> std::result::Result<ArrayRef, Error> {
        match (self, values) {
            (Self::Read { or_null: true }, [texts]) => intervals(texts, true),
            (Self::Read { or_null: false }, [values]) => wanted(values, &INTERVAL),
            (Self::Text, [values]) => wanted(values, &DataType::Utf8View),
            (Self::Sum, [left, right]) => of_two(left, right, arithmetic::sum),
            (Self::Difference, [left, right]) => of_two(left, right, arithmetic::difference),
            (Self::Product, [interval, factor]) => scaled(interval, factor, arithmetic::product),
            (Self::Quotient, [interval, divisor]) => {
                let divisors = divisor.as_primitive::<Float64Type>();
                if divisors.iter().flatten().any(|divisor| divisor == 0.0) {
                    let error = Error::new(ErrorKind::OutOfRange, "division by zero");
                    return Err(error.because(Reason::DivisionByZero));
                }
                scaled(interval, divisor, arithmetic::quotient)
            }
            (Self::Between, [later, earlier]) => of_times(later, earlier, arithmetic::between),
            (Self::Age, [later, earlier]) => of_times(later, earlier, calendar::age),
            (Self::JustifyHours, [interval]) => of_one(interval, arithmetic::justify_hours),
            (Self::JustifyDays, [interval]) => of_one(interval, arithmetic::justify_days),
            (Self::JustifyInterval, [interval]) => of_one(interval, arithmetic::justify_interval),
            (Self::Make, values) => made(values),
            (Self::Count(unit), [counts]) => {
                let count = |count: f64| arithmetic::product(unit, count);
                computed(counts.as_primitive::<Float64Type>(), count)
            }
            (Self::Part(part), [interval]) => Ok(part_of(part, interval.as_primitive())),
            (Self::Truncate, [names, interval]) => truncated(names, interval.as_primitive()),
            _ => Err(input(format!("{} has other arguments", self.name()))),
        }
    }
}

/// The functions that statements call.
pub(crate) fn interval_functions() -> Vec<Arc<ScalarUDF>> {
    let of = |name, what, types: Vec<DataType>| {
        let signature = Signature::exact(types, VOLATILITY);
        Arc::new(ScalarUDF::from(OfRows { name, what, signature }))
    };
    let signature = Signature::coercible(vec![point_in_time(), point_in_time()], VOLATILITY);
    let age = ScalarUDF::from(OfRows { name: "age", what: What::Age, signature });
    let (number, whole) = (DataType::Float64, DataType::Int64);
    let made = std::iter::repeat_n(whole, 6).chain([number]).collect();
    let mut functions = vec![
        Arc::new(age),
        of("justify_hours", What::JustifyHours, vec![INTERVAL]),
        of("justify_days", What::JustifyDays, vec![INTERVAL]),
        of("justify_interval", What::JustifyInterval, vec![INTERVAL]),
        of("make_interval", What::Make, made),
    ];
    // DuckDB's.
    let months = |months| Interval { months, ..Interval::default() };
    let days = |days| Interval { days, ..Interval::default() };
    let time = |microseconds| Interval { microseconds, ..Interval::default() };
    const SECOND: i64 = arithmetic::SECOND;
    let counted = [
        ("to_millennia", months(12_000)),
        ("to_centuries", months(1_200)),
        ("to_decades", months(120)),
        ("to_years", months(12)),
        ("to_months", months(1)),
        ("to_weeks", days(7)),
        ("to_days", days(1)),
        ("to_hours", time(3_600 * SECOND)),
        ("to_minutes", time(60 * SECOND)),
        ("to_seconds", time(SECOND)),
        ("to_milliseconds", time(SECOND / 1_000)),
        ("to_microseconds", time(1)),
    ];
    let counts = counted.map(|(name, unit)| of(name, What::Count(unit), vec![DataType::Float64]));
    functions.extend(counts);
    functions.push(date_trunc());
    functions
}

/// A point in time of any unit, or what is meant as one.
fn point_in_time() -> Coercion {
    let others = vec![
        TypeSignatureClass::Native(logical_date()),
        TypeSignatureClass::Native(logical_string()),
    ];
    let time = NativeType::Timestamp(TimeUnit::Microsecond, None);
    Coercion::new_implicit(TypeSignatureClass::Timestamp, others, time)
}

/// A cast of texts or durations to intervals.
pub(super) fn as_interval(value: Expr, or_null: bool) -> Expr {
    What::Read { or_null }.of(vec![value])
}

/// A cast of intervals to texts.
pub(super) fn as_text(value: Expr) -> Expr {
    What::Text.of(vec![value])
}

impl ScalarUDFImpl for OfRows {
    fn name(&self) -> &'static str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.what.data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.what.of_columns(&args.args, args.number_rows)
    }
}

type Rows = std::result::Result<ArrayRef, Error>;

fn wanted(values: &ArrayRef, to: &DataType) -> Rows {
    converted(values, to)?.ok_or_else(|| input(format!("{} is no interval", values.data_type())))
}

/// An interval for each value.
fn computed<T: ArrowPrimitiveType>(
    values: &PrimitiveArray<T>,
    compute: impl Fn(T::Native) -> Computed,
) -> Rows {
    let values = values.iter().map(|value| value.map(&compute).transpose());
    collected(values)
}

fn collected(
    values: impl Iterator<Item = std::result::Result<Option<Interval>, IntervalError>>,
) -> Rows {
    let values = values.map(|interval| interval.map(|interval| interval.map(Interval::to_arrow)));
    let array = values.collect::<std::result::Result<IntervalArray, _>>();
    Ok(Arc::new(array.map_err(|_| out_of_range())?))
}

fn of_one(values: &ArrayRef, compute: impl Fn(Interval) -> Computed) -> Rows {
    let values = values.as_primitive::<IntervalMonthDayNanoType>();
    computed(values, |value| compute(Interval::from_arrow(value)))
}

/// An interval for each two values.
fn pairs<A: ArrowPrimitiveType, B: ArrowPrimitiveType>(
    left: &ArrayRef,
    right: &ArrayRef,
    compute: impl Fn(A::Native, B::Native) -> Computed,
) -> Rows {
    let both = left.as_primitive::<A>().iter().zip(right.as_primitive::<B>());
    collected(
        both.map(|(left, right)| {
            left.zip(right).map(|(left, right)| compute(left, right)).transpose()
        }),
    )
}

fn of_two(
    left: &ArrayRef,
    right: &ArrayRef,
    compute: impl Fn(Interval, Interval) -> Computed,
) -> Rows {
    pairs::<IntervalMonthDayNanoType, IntervalMonthDayNanoType>(left, right, |left, right| {
        compute(Interval::from_arrow(left), Interval::from_arrow(right))
    })
}

fn scaled(interval: &ArrayRef, by: &ArrayRef, compute: impl Fn(Interval, f64) -> Computed) -> Rows {
    pairs::<IntervalMonthDayNanoType, Float64Type>(interval, by, |interval, by| {
        compute(Interval::from_arrow(interval), by)
    })
}

fn of_times(later: &ArrayRef, earlier: &ArrayRef, compute: impl Fn(i64, i64) -> Computed) -> Rows {
    let plain = |times: &ArrayRef| {
        arrow::compute::cast(times, &DataType::Timestamp(TimeUnit::Microsecond, None))
    };
    let (later, earlier) = (plain(later)?, plain(earlier)?);
    pairs::<TimestampMicrosecondType, TimestampMicrosecondType>(&later, &earlier, compute)
}

/// Intervals of years, months, weeks, days, hours, minutes and seconds.
fn made(values: &[ArrayRef]) -> Rows {
    let [wholes @ .., seconds] = values else { return Err(input("make_interval has no values")) };
    let seconds = seconds.as_primitive::<Float64Type>();
    let wholes = wholes.iter().map(|array| array.as_primitive::<Int64Type>()).collect::<Vec<_>>();
    let make = |row: usize| {
        let values = wholes.iter().map(|array| array.is_valid(row).then(|| array.value(row)));
        let values = values.collect::<Option<Vec<_>>>();
        values
            .filter(|_| seconds.is_valid(row))
            .map(|of| made_of(&of, seconds.value(row)))
            .transpose()
    };
    collected((0..seconds.len()).map(make))
}

fn made_of(wholes: &[i64], seconds: f64) -> Computed {
    let [years, months, weeks, days, hours, minutes] = *wholes else {
        return Err(IntervalError::Range);
    };
    let sum = |many: i64, unit: i64, few: i64| many.checked_mul(unit)?.checked_add(few);
    let narrow = |sum: Option<i64>| sum.and_then(|sum| i32::try_from(sum).ok());
    let months = narrow(sum(years, 12, months)).ok_or(IntervalError::Range)?;
    let days = narrow(sum(weeks, 7, days)).ok_or(IntervalError::Range)?;
    let time = sum(hours, 60, minutes).and_then(|minutes| {
        sum(minutes, 60 * arithmetic::SECOND, arithmetic::of_seconds(seconds).ok()?)
    });
    Interval { months, days, microseconds: time.ok_or(IntervalError::Range)? }.within_range()
}

fn part_of(part: Part, intervals: &IntervalArray) -> ArrayRef {
    let intervals = intervals.iter().map(|interval| interval.map(Interval::from_arrow));
    match part.data_type() {
        DataType::Float64 => {
            let parts = intervals.map(|interval| interval.map(|interval| part.double(interval)));
            Arc::new(parts.collect::<PrimitiveArray<Float64Type>>())
        }
        _ => {
            let parts = intervals.map(|interval| interval.map(|interval| part.whole(interval)));
            Arc::new(parts.collect::<PrimitiveArray<Int64Type>>())
        }
    }
}

fn truncated(names: &ArrayRef, intervals: &IntervalArray) -> Rows {
    let names = arrow::compute::cast(names, &DataType::Utf8View)?;
    let both = names.as_string_view().iter().zip(intervals);
    let truncated = both.map(|(name, interval)| {
        let both = name.zip(interval.map(Interval::from_arrow));
        both.map(|(name, interval)| Part::named(name)?.truncate(interval)).transpose()
    });
    let truncated = truncated.map(|interval| interval.map(|one| one.map(Interval::to_arrow)));
    Ok(Arc::new(truncated.collect::<std::result::Result<IntervalArray, Error>>()?))
}
