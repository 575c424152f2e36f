//! Casts between dates, times, timestamps and intervals, from texts and to texts.

use super::columns::{TimeColumn, Written};
use super::in_plan::is_in_utc;
use super::items::{Item, Kind};
use super::texts::write_item;
use super::{StatementTimes, error_of_times, of_times};
use crate::error::from_datafusion;
use crate::executor::{check_cancelled, is_planning, statement_times};
use crate::one_value::of_one_value;
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::logical_expr::expr::{Cast, ScalarFunction, TryCast};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility, lit,
};
use gadus_times::{
    Date, Interval, IntervalModifier, Settings, Time, TimesError, Timestamp, TimestampTz,
};
use std::sync::Arc;

/// Conversion of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Conversion {
    /// To another type; NULL for what has no such value if the flag says so.
    Cast(Kind, bool),
    /// To fewer digits of the seconds.
    Precision(Kind, u8),
    /// To the fields of an interval type, packed as PostgreSQL packs them.
    Fields(i32),
}

/// Conversion as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Converted {
    conversion: Conversion,
    signature: Signature,
}

/// Returns true for a cast that is one of dates, times, timestamps and intervals.
pub(crate) fn is_cast(from: &DataType, to: &DataType) -> bool {
    use Kind::{Date, Interval, Text, Time, Timestamp, TimestampTz};
    let (Some(from), Some(to)) = (Kind::of(from), Kind::of(to)) else { return false };
    match (from, to) {
        (Text, to) => to.is_time(),
        (from, Text) => from.is_time(),
        (Date, to) => matches!(to, Timestamp | TimestampTz),
        (Time, to) => to == Interval,
        (Timestamp, to) => matches!(to, Date | Time | TimestampTz),
        (TimestampTz, to) => matches!(to, Date | Time | Timestamp),
        (Interval, to) => to == Time,
        _ => false,
    }
}

/// Returns a cast; `None` if it is none of dates, times, timestamps and intervals.
pub(crate) fn cast(value: Expr, from: &DataType, to: &DataType, or_null: bool) -> Option<Expr> {
    let kind = Kind::of(to).filter(|_| is_cast(from, to))?;
    Some(call(Conversion::Cast(kind, or_null), value))
}

/// Returns a cast of a plan of texts as a function if it reads or writes a text, or depends on the zone of the session. It
/// is for after type coercion, which says from what to what is cast.
pub(crate) fn cast_in_plan(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let or_null = matches!(expr, Expr::TryCast(_));
    let (Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })) =
        &mut expr
    else {
        return Ok(Transformed::no(expr));
    };
    let (from, to) = (inner.get_type(schema)?, field.data_type().clone());
    let Some(kind) = Kind::of(&to).filter(|_| is_called(&from, &to)) else {
        return Ok(Transformed::no(expr));
    };
    let call = call(Conversion::Cast(kind, or_null), std::mem::take(&mut **inner));
    if kind.arrow() == to {
        return Ok(Transformed::yes(call));
    }
    // The cast stays, from one kind of texts, or one unit of time, to another.
    **inner = call;
    Ok(Transformed::yes(expr))
}

/// Returns true for casts that DataFusion does otherwise than PostgreSQL.
fn is_called(from: &DataType, to: &DataType) -> bool {
    if !is_cast(from, to) {
        return false;
    }
    let is_text = |data_type| Kind::of(data_type) == Some(Kind::Text);
    let is_zoned = |data_type| Kind::of(data_type) == Some(Kind::TimestampTz);
    // Values of files may have nanoseconds, which are shown.
    let is_fine = matches!(
        from,
        DataType::Timestamp(TimeUnit::Nanosecond, _) | DataType::Time64(TimeUnit::Nanosecond)
    );
    let is_shown = is_text(to) && !is_fine;
    is_text(from) || is_shown || ((is_zoned(from) || is_zoned(to)) && !is_text(to) && !is_in_utc())
}

/// Rounds the seconds of a value to a precision; `None` for values without seconds.
pub(crate) fn with_precision(value: Expr, data_type: &DataType, digits: u8) -> Option<Expr> {
    let kind = Kind::of(data_type)
        .filter(|kind| matches!(kind, Kind::Time | Kind::Timestamp | Kind::TimestampTz))?;
    Some(call(Conversion::Precision(kind, digits), value))
}

/// Cuts an interval to the fields of a type.
pub(crate) fn with_interval_modifier(value: Expr, packed: i32) -> Expr {
    call(Conversion::Fields(packed), value)
}

fn call(conversion: Conversion, value: Expr) -> Expr {
    if let Some(value) = constant(&conversion, &value) {
        return lit(value);
    }
    let signature = Signature::any(1, Volatility::Immutable);
    let function = ScalarUDF::from(Converted { conversion, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value]))
}

/// Returns a literal that is converted; `None` if that fails, or depends on the time.
fn constant(conversion: &Conversion, value: &Expr) -> Option<ScalarValue> {
    let Expr::Literal(value, _) = value else { return None };
    if value.try_as_str().flatten().is_some_and(names_time) {
        return None;
    }
    let converted = conversion.converted(&value.to_array().ok()?).ok()?;
    ScalarValue::try_from_array(&converted, 0).ok()
}

impl ScalarUDFImpl for Converted {
    fn name(&self) -> &str {
        match &self.conversion {
            Conversion::Cast(Kind::Date, _) => "to_date",
            Conversion::Cast(Kind::Time, _) => "to_time",
            Conversion::Cast(Kind::Timestamp, _) => "to_timestamp",
            Conversion::Cast(Kind::TimestampTz, _) => "to_timestamptz",
            Conversion::Cast(Kind::Interval, _) => "to_interval",
            Conversion::Cast(..) => "time_text",
            Conversion::Precision(..) => "with_precision",
            Conversion::Fields(_) => "with_fields",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.conversion {
            Conversion::Cast(kind, _) | Conversion::Precision(kind, _) => kind.arrow(),
            Conversion::Fields(_) => Kind::Interval.arrow(),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |array| self.conversion.converted(array))
    }
}

impl Conversion {
    fn converted(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let times = statement_times();
        match *self {
            Conversion::Cast(kind, or_null) => {
                converted(array, kind, &times, &|item, settings| match or_null {
                    true => Ok(to_kind(item, kind, settings).ok().flatten()),
                    false => to_kind(item, kind, settings),
                })
            }
            Conversion::Precision(kind, digits) => {
                converted(array, kind, &times, &|item, _| Ok(Some(rounded(item, digits))))
            }
            Conversion::Fields(packed) => {
                let modifier = IntervalModifier::from_packed(packed).map_err(of_times)?;
                converted(array, Kind::Interval, &times, &|item, _| {
                    let Item::Interval(span) = item else { return Ok(None) };
                    let cut = modifier.map_or(span, |modifier| modifier.apply(span));
                    Ok(Some(Item::Interval(cut)))
                })
            }
        }
    }
}

/// Casts an array, in the settings of the statement that this thread works for; `None` if it is no such cast.
pub(crate) fn cast_array(
    array: &ArrayRef,
    to: &DataType,
) -> Option<gadus_engine::Result<ArrayRef>> {
    let kind = Kind::of(to).filter(|_| is_cast(array.data_type(), to))?;
    let cast =
        converted(array, kind, &statement_times(), &|item, settings| to_kind(item, kind, settings));
    Some(cast.map_err(from_datafusion).and_then(|array| match array.data_type() == to {
        true => Ok(array),
        false => Ok(arrow::compute::cast(&array, to)?),
    }))
}

/// Value that a conversion gives; `None` for NULL.
type Given = std::result::Result<Option<Item<'static>>, TimesError>;

/// Rows between looks at cancellation.
const ROWS_BETWEEN_LOOKS: usize = 1_024;

fn converted(
    array: &ArrayRef,
    kind: Kind,
    times: &StatementTimes,
    convert: &dyn Fn(Item<'_>, &Settings) -> Given,
) -> Result<ArrayRef> {
    let column = TimeColumn::of(array)?;
    let (mut written, mut text) = (Written::new(kind, array.len()), String::new());
    for row in 0..array.len() {
        if row % ROWS_BETWEEN_LOOKS == 0 {
            check_cancelled()?;
        }
        let Some(item) = column.get(row)? else {
            written.push_null();
            continue;
        };
        if kind == Kind::Text {
            text.clear();
            write_item(item, &times.settings, &mut text);
            written.push(Item::Text(&text))?;
            continue;
        }
        if let Item::Text(text) = item
            && is_planning()
            && names_time(text)
        {
            return exec_err!("the time of a statement is no constant");
        }
        match convert(item, &times.settings).map_err(of_times)? {
            Some(item) => written.push(item)?,
            None => written.push_null(),
        }
    }
    Ok(written.finish())
}

/// Returns true for a text whose value depends on the time at which it is read.
pub(super) fn names_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["now", "today", "tomorrow", "yesterday"].iter().any(|word| text.contains(word))
}

/// Converts a value; `None` for an infinity that has no time of day.
fn to_kind(item: Item<'_>, kind: Kind, settings: &Settings) -> Given {
    Ok(match (item, kind) {
        (Item::Text(text), kind) => return read_item(text, kind, settings).map(Some),
        (Item::Date(date), Kind::Timestamp) => Some(Item::Timestamp(date.to_timestamp()?)),
        (Item::Date(date), Kind::TimestampTz) => {
            Some(Item::TimestampTz(date.to_timestamptz(settings)?))
        }
        (Item::Time(time), Kind::Interval) => Some(Item::Interval(time.to_interval())),
        (Item::Timestamp(time), Kind::Date) => Some(Item::Date(time.to_date())),
        (Item::Timestamp(time), Kind::Time) => time.to_time().map(Item::Time),
        (Item::Timestamp(time), Kind::TimestampTz) => {
            Some(Item::TimestampTz(time.to_timestamptz(settings)?))
        }
        (Item::TimestampTz(time), Kind::Date) => Some(Item::Date(time.to_date(settings)?)),
        (Item::TimestampTz(time), Kind::Time) => time.to_time(settings)?.map(Item::Time),
        (Item::TimestampTz(time), Kind::Timestamp) => {
            Some(Item::Timestamp(time.to_timestamp(settings)?))
        }
        (Item::Interval(span), Kind::Time) => Some(Item::Time(span.to_time())),
        _ => None,
    })
}

/// Reads a text as a value of a type.
pub(super) fn read_item(
    text: &str,
    kind: Kind,
    settings: &Settings,
) -> std::result::Result<Item<'static>, TimesError> {
    Ok(match kind {
        Kind::Date => Item::Date(Date::parse(text, settings)?),
        Kind::Time => Item::Time(Time::parse(text, settings)?),
        Kind::Timestamp => Item::Timestamp(Timestamp::parse(text, settings)?),
        Kind::TimestampTz => Item::TimestampTz(TimestampTz::parse(text, settings)?),
        _ => Item::Interval(Interval::parse(text, None, settings)?),
    })
}

fn rounded(item: Item<'_>, digits: u8) -> Item<'static> {
    match item {
        Item::Time(value) => Item::Time(value.with_precision(digits)),
        Item::Timestamp(value) => Item::Timestamp(value.with_precision(digits)),
        Item::TimestampTz(value) => Item::TimestampTz(value.with_precision(digits)),
        Item::Interval(value) => Item::Interval(value),
        Item::Date(value) => Item::Date(value),
        // No other value has a precision.
        _ => Item::Boolean(false),
    }
}

/// Reads a text as a value of a type, which it is once for all: `None` if that depends on the time.
pub(super) fn read_constant(text: &str, kind: Kind) -> Option<gadus_engine::Result<ArrayRef>> {
    if names_time(text) {
        return None;
    }
    let mut written = Written::new(kind, 1);
    let item = read_item(text, kind, &statement_times().settings);
    let pushed = item
        .map_err(|error| error_of_times(&error))
        .and_then(|item| written.push(item).map_err(from_datafusion));
    Some(pushed.map(|()| written.finish()))
}
