//! EXTRACT, `date_part` and `date_trunc`.

use super::items::Item::{Date, Field, Float, Interval, Text, Time, Timestamp, TimestampTz};
use super::items::{Item, Kind};
use super::kernel::{Computed, Context, Entry, Fault, call_of};
use arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;

pub(super) const ENTRIES: &[Entry] =
    &[Entry::strict("date_part", date_part), Entry::strict("date_trunc", truncated)];

static EXTRACT: Entry = Entry::strict("extract", extracted);

/// Returns EXTRACT as an exact number: a decimal if its digits are known, else a numeric.
pub(crate) fn extract(arguments: Vec<Expr>, scale: Option<i8>) -> Expr {
    call_of(&EXTRACT, arguments, scale.map_or(Kind::Numeric, Kind::Decimal))
}

/// Returns the digits after the decimal point that a field has for all values of a type; `None` if they differ, or if the
/// field of an infinity is one.
pub(crate) fn decimal_scale(field: &str, data_type: &DataType) -> Option<i8> {
    let scale = match field.to_ascii_lowercase().as_str() {
        "second" | "seconds" => 6,
        "millisecond" | "milliseconds" => 3,
        "microsecond" | "microseconds" | "minute" | "hour" | "day" | "month" | "quarter"
        | "week" | "dow" | "isodow" | "doy" => 0,
        "epoch" if matches!(Kind::of(data_type), Some(Kind::Time | Kind::Interval)) => 6,
        "year" if Kind::of(data_type) == Some(Kind::Interval) => 0,
        _ => return None,
    };
    Some(scale)
}

/// Arrow type of the decimals of a scale that fields are.
pub(super) fn extracted<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [Some(Text(name)), Some(value)] = *of else { return Err(Fault::Arguments) };
    let field = context.field(name);
    let settings = context.settings();
    let found = match value {
        Date(value) => value.extract(&field)?,
        Time(value) => Some(value.extract(&field)?),
        Timestamp(value) => value.extract(&field)?,
        TimestampTz(value) => value.extract(&field, settings)?,
        Interval(value) => Some(value.extract(&field)?),
        _ => return Err(Fault::Arguments),
    };
    Ok(found.map(Field))
}

fn date_part<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [Some(Text(name)), Some(value)] = *of else { return Err(Fault::Arguments) };
    let field = context.field(name);
    let settings = context.settings();
    let found = match value {
        Date(value) => value.date_part(&field)?,
        Time(value) => Some(value.date_part(&field)?),
        Timestamp(value) => value.date_part(&field)?,
        TimestampTz(value) => value.date_part(&field, settings)?,
        Interval(value) => Some(value.date_part(&field)?),
        _ => return Err(Fault::Arguments),
    };
    Ok(found.map(Float))
}

fn truncated<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [Some(Text(name)), Some(value), ref rest @ ..] = *of else { return Err(Fault::Arguments) };
    let field = context.field(name);
    Ok(Some(match (value, rest) {
        (Timestamp(value), []) => Timestamp(value.truncate(&field)?),
        (TimestampTz(value), []) => TimestampTz(value.truncate(&field, context.settings())?),
        (TimestampTz(value), [Some(Text(zone))]) => {
            TimestampTz(value.truncate_in_zone(&field, &context.zone(zone)?)?)
        }
        (Interval(value), []) => Interval(value.truncate(&field)?),
        _ => return Err(Fault::Arguments),
    }))
}
