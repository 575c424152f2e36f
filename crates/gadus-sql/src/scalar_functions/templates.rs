//! `to_char`, `to_number`, `to_timestamp` and `to_date`.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use crate::executor::statement_times;
use gadus_functions::number_templates as numbers;
use gadus_functions::time_templates::{self as times, Span, Zone};
use gadus_functions::{FunctionError, Result as Computed};
use gadus_times::Timestamp as LocalTime;

use Kind::{Bigint, Double, Integer, Interval, Numeric, Text, Timestamp, TimestampUtc};

/// Microseconds of a second.
const SECOND: i64 = 1_000_000;

#[rustfmt::skip]
pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "to_char", overloads: &[
        Overload::strict(&[Timestamp, Text], Text, local_time),
        Overload::strict(&[TimestampUtc, Text], Text, point_in_time),
        Overload::strict(&[Interval, Text], Text, interval),
        Overload::strict(&[Integer, Text], Text, |of| answer(numbers::integer_to_char(of.integer(0)?, of.text(1)))),
        Overload::strict(&[Bigint, Text], Text, |of| answer(numbers::bigint_to_char(of.bigint(0), of.text(1)))),
        Overload::strict(&[Double, Text], Text, |of| answer(numbers::double_to_char(of.double(0), of.text(1)))),
        Overload::strict(&[Numeric, Text], Text, |of| answer(numbers::decimal_to_char(of.decimal(0), of.text(1)))),
    ] },
    Function { name: "to_number", overloads: &[
        Overload::strict(&[Text, Text], Kind::Scaled(numbers::fraction_digits), |of| {
            answer(numbers::to_number(of.text(0), of.text(1)))
        }),
    ] },
    Function { name: "gadus_numeric_to_char", overloads: &[
        Overload::strict(&[Text, Text], Text, |of| answer(numbers::numeric_to_char(of.text(0), of.text(1)))),
    ] },
    // The text has the digits that were read.
    Function { name: "gadus_text_to_number", overloads: &[
        Overload::strict(&[Text, Text], Text, |of| {
            let number = numbers::to_number(of.text(0), of.text(1))?;
            answer(Ok(number.map(|number| number.to_string())))
        }),
    ] },
    Function { name: "to_timestamp", overloads: &[
        Overload::strict(&[Double], TimestampUtc, seconds),
        Overload::strict(&[Text, Text], TimestampUtc, read_point_in_time),
    ] },
    Function { name: "to_date", overloads: &[
        Overload::strict(&[Text, Text], Kind::Date, |of| answer(times::to_date(of.text(0), of.text(1)))),
    ] },
];

/// Returns true for the microseconds that stand for an infinity.
fn is_infinite(microseconds: i64) -> bool {
    matches!(microseconds, i64::MIN | i64::MAX)
}

fn local_time(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    match of.bigint(0) {
        infinity if is_infinite(infinity) => answer(Ok(None::<String>)),
        time => answer(times::timestamp_to_char(time, None, of.text(1))),
    }
}

/// Writes a point in time in the zone of the session.
fn point_in_time(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let time = of.bigint(0);
    if is_infinite(time) {
        return answer(Ok(None::<String>));
    }
    let (statement, seconds) = (statement_times(), time.div_euclid(SECOND));
    let zone = &statement.settings.time_zone;
    let offset_seconds = zone.offset_at(seconds);
    let zone = Zone { offset_seconds, abbreviation: zone.abbreviation_at(seconds) };
    let local = time.saturating_add(i64::from(offset_seconds) * SECOND);
    answer(times::timestamp_to_char(local, Some(zone), of.text(1)))
}

/// Reads a point in time; one without an offset is in the zone of the session.
fn read_point_in_time(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let (time, has_offset) = times::to_timestamp(of.text(0), of.text(1))?;
    if has_offset {
        return answer(Ok(time));
    }
    let statement = statement_times();
    let found = LocalTime::from_unix_microseconds(time)
        .and_then(|local| local.to_timestamptz(&statement.settings));
    let found = found.map(|point| point.to_unix_microseconds());
    answer(match found {
        Ok(Some(point)) => Ok(point),
        _ => Err(FunctionError::timestamp_out_of_range()),
    })
}

fn interval(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let interval = of.interval(0);
    let span =
        Span { months: interval.months, days: interval.days, microseconds: interval.microseconds };
    answer(times::interval_to_char(span, of.text(1)))
}

fn seconds(of: &Arguments<'_>) -> Computed<Answer> {
    answer(gadus_functions::times::timestamp_of_seconds(of.double(0)))
}
