//! Literals.

use super::casts::read_constant;
use super::columns::Written;
use super::error_of_times;
use super::items::{Item, Kind};
use crate::error::from_datafusion;
use crate::executor::statement_times;
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use gadus_engine::Result;
use gadus_times::{Interval, IntervalModifier, TimestampTz};

/// Reads a literal; `None` for other types, and for a text whose value depends on the time.
pub(crate) fn literal(text: &str, data_type: &DataType) -> Option<Result<ScalarValue>> {
    let kind = Kind::of(data_type).filter(|kind| kind.is_time())?;
    let array = read_constant(text, kind)?;
    Some(array.and_then(|array| ScalarValue::try_from_array(&array, 0).map_err(from_datafusion)))
}

/// Reads a literal of an interval type with fields, packed as PostgreSQL packs them.
pub(crate) fn interval_literal(text: &str, packed: i32) -> Result<ScalarValue> {
    let settings = &statement_times().settings;
    let read = IntervalModifier::from_packed(packed)
        .and_then(|modifier| Interval::parse(text, modifier, settings));
    let mut written = Written::new(Kind::Interval, 1);
    let value = read.map_err(|error| error_of_times(&error))?;
    written.push(Item::Interval(value)).map_err(from_datafusion)?;
    ScalarValue::try_from_array(&written.finish(), 0).map_err(from_datafusion)
}

/// Returns the local time, in microseconds since 1970, of the beginning of a day in the session's zone; `None` for other
/// points in time.
pub(crate) fn midnight(microseconds: i64) -> Option<i64> {
    let settings = &statement_times().settings;
    let time = TimestampTz::from_unix_microseconds(microseconds).ok()?;
    let date = time.to_date(settings).ok()?;
    let begins = date.to_timestamptz(settings).ok()?;
    (begins == time).then_some(())?;
    date.to_timestamp().ok()?.to_unix_microseconds()
}
