//! Keys of values, and values in a form whose order is that of their keys.

use super::Key;
use crate::enums::no_label;
use crate::error::to_datafusion;
use crate::one_value::of_one_value;
use datafusion::arrow::array::{
    ArrayRef, AsArray, BinaryBuilder, Decimal128Array, IntervalMonthDayNanoArray, StringViewArray,
    UInt32Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Field, FieldRef, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit, UInt32Type,
};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_engine::{ColumnType, Enum};
use std::sync::Arc;

const NANOSECONDS_A_DAY: i128 = 24 * 60 * 60 * 1_000_000_000;
const DAYS_A_MONTH: i128 = 30;

/// Digits of a length in nanoseconds: 2^31 months and as many days, and 2^63 nanoseconds, have 25.
const LENGTH_DIGITS: u8 = 38;

impl Key {
    /// The key of a value.
    pub(super) fn key(self, value: Expr) -> Expr {
        self.call(Step::Key, value)
    }

    /// The value in a form that is ordered by the key, and from which it can be had back.
    pub(super) fn ordered(self, value: Expr) -> Expr {
        self.call(Step::Ordered, value)
    }

    /// The value that has this form.
    pub(super) fn value(self, ordered: Expr) -> Expr {
        self.call(Step::Value, ordered)
    }

    fn call(self, step: Step, argument: Expr) -> Expr {
        let signature = Signature::any(1, Volatility::Immutable);
        let function = Arc::new(ScalarUDF::from(KeyFunction { key: self, step, signature }));
        Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![argument]))
    }
}

/// Whether an expression is a key of something.
pub(super) fn is_key(expr: &Expr) -> bool {
    let Expr::ScalarFunction(call) = expr else { return false };
    let function = call.func.inner().downcast_ref::<KeyFunction>();
    function.is_some_and(|function| function.step == Step::Key)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Key,
    Ordered,
    Value,
}

/// A function of one value, for one type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct KeyFunction {
    key: Key,
    step: Step,
    signature: Signature,
}

impl ScalarUDFImpl for KeyFunction {
    fn name(&self) -> &'static str {
        match (self.key, self.step) {
            (Key::Length, Step::Key) => "interval_length",
            (Key::Length, Step::Ordered) => "interval_ordered",
            (Key::Length, Step::Value) => "interval_of_ordered",
            (Key::Place(_), Step::Key | Step::Ordered) => "label_place",
            (Key::Place(_), Step::Value) => "label_at",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match (self.key, self.step) {
            (Key::Length, Step::Key) => DataType::Decimal128(LENGTH_DIGITS, 0),
            (Key::Length, Step::Ordered) => DataType::Binary,
            (Key::Length, Step::Value) => DataType::Interval(IntervalUnit::MonthDayNano),
            (Key::Place(_), Step::Key | Step::Ordered) => DataType::UInt32,
            (Key::Place(_), Step::Value) => DataType::Utf8View,
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        if let (Key::Place(of), Step::Value) = (self.key, self.step) {
            return Ok(Arc::new(ColumnType::Enum(of).field(self.name(), nullable)));
        }
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        let data_type = self.return_type(&types.collect::<Vec<_>>())?;
        Ok(Arc::new(Field::new(self.name(), data_type, nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let step = |array: &ArrayRef| match (self.key, self.step) {
            (Key::Length, Step::Key) => lengths(array),
            (Key::Length, Step::Ordered) => Ok(ordered_intervals(array)),
            (Key::Length, Step::Value) => Ok(intervals(array)),
            (Key::Place(of), Step::Key | Step::Ordered) => places(array, of),
            (Key::Place(of), Step::Value) => Ok(labels_at(array, of)),
        };
        of_one_value(&args, step)
    }
}

/// The length of an interval, in nanoseconds.
fn length(interval: IntervalMonthDayNano) -> i128 {
    let days = i128::from(interval.months) * DAYS_A_MONTH + i128::from(interval.days);
    days * NANOSECONDS_A_DAY + i128::from(interval.nanoseconds)
}

/// Returns the lengths by which intervals are compared.
pub(crate) fn lengths(intervals: &ArrayRef) -> Result<ArrayRef> {
    let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
    let lengths: Decimal128Array = intervals.unary::<_, Decimal128Type>(length);
    Ok(Arc::new(lengths.with_precision_and_scale(LENGTH_DIGITS, 0)?))
}

/// Bytes of an interval in order: of its length, and of its parts.
const ORDERED_BYTES: usize = size_of::<i128>() + PARTS_BYTES;
const PARTS_BYTES: usize = 16;

/// Intervals as bytes whose order is that of the lengths.
fn ordered_intervals(intervals: &ArrayRef) -> ArrayRef {
    let intervals = intervals.as_primitive::<IntervalMonthDayNanoType>();
    let mut ordered =
        BinaryBuilder::with_capacity(intervals.len(), intervals.len() * ORDERED_BYTES);
    for interval in intervals {
        match interval {
            Some(interval) => {
                // A sign bit upside down has negative numbers first.
                let mut bytes = (length(interval) ^ i128::MIN).to_be_bytes().to_vec();
                bytes.extend(interval.months.to_be_bytes());
                bytes.extend(interval.days.to_be_bytes());
                bytes.extend(interval.nanoseconds.to_be_bytes());
                ordered.append_value(bytes);
            }
            None => ordered.append_null(),
        }
    }
    Arc::new(ordered.finish())
}

fn intervals(ordered: &ArrayRef) -> ArrayRef {
    let intervals = ordered.as_binary::<i32>().iter().map(|bytes| bytes.and_then(interval));
    Arc::new(intervals.collect::<IntervalMonthDayNanoArray>())
}

fn interval(ordered: &[u8]) -> Option<IntervalMonthDayNano> {
    let (months, rest) = ordered.last_chunk::<PARTS_BYTES>()?.split_first_chunk()?;
    let (days, nanoseconds) = rest.split_first_chunk()?;
    Some(IntervalMonthDayNano {
        months: i32::from_be_bytes(*months),
        days: i32::from_be_bytes(*days),
        nanoseconds: i64::from_be_bytes(nanoseconds.try_into().ok()?),
    })
}

/// The places of labels; a text that is none, which rows of a query may give, is an error.
fn places(labels: &ArrayRef, of: &Enum) -> Result<ArrayRef> {
    let labels = cast(labels, &DataType::Utf8View)?;
    let place = |label: &str| {
        let place = of.place(label).and_then(|place| u32::try_from(place).ok());
        place.ok_or_else(|| to_datafusion(no_label(of, label)))
    };
    let places = labels.as_string_view().iter().map(|label| label.map(place).transpose());
    Ok(Arc::new(places.collect::<Result<UInt32Array>>()?))
}

fn labels_at(places: &ArrayRef, of: &Enum) -> ArrayRef {
    let label = |place: u32| of.labels().get(place as usize);
    let labels = places.as_primitive::<UInt32Type>().iter().map(|place| place.and_then(label));
    Arc::new(labels.collect::<StringViewArray>())
}
