//! Functions of points in time.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use crate::executor::statement_times;
use gadus_functions::{FunctionError, times};
use gadus_times::{Timestamp, TimestampTz};

const PARTS: &[Kind] =
    &[Kind::Integer, Kind::Integer, Kind::Integer, Kind::Integer, Kind::Integer, Kind::Double];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "make_timestamp",
        overloads: &[Overload::strict(PARTS, Kind::Timestamp, made_of_parts)],
    },
    Function {
        name: "make_timestamptz",
        overloads: &[Overload::strict(PARTS, Kind::TimestampUtc, made_in_zone)],
    },
    Function {
        name: "isfinite",
        overloads: &[
            Overload::strict(&[Kind::Date], Kind::Boolean, is_finite_date),
            Overload::strict(&[Kind::Timestamp], Kind::Boolean, is_finite),
            Overload::strict(&[Kind::TimestampUtc], Kind::Boolean, is_finite),
            Overload::strict(&[Kind::Interval], Kind::Boolean, |_| answer(Ok(true))),
        ],
    },
];

/// Returns true for a value that is neither infinity: the least and the greatest value are.
fn is_finite(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    answer(Ok(!matches!(of.bigint(0), i64::MIN | i64::MAX)))
}

/// Returns true for a date that is neither infinity.
fn is_finite_date(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let days = of.bigint(0);
    answer(Ok(days != i64::from(i32::MIN) && days != i64::from(i32::MAX)))
}

/// Makes a point in time of local time in the zone of the session.
fn made_in_zone(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let (year, month, day) = (of.integer(0)?, of.integer(1)?, of.integer(2)?);
    let (hour, minute) = (of.integer(3)?, of.integer(4)?);
    let local = times::make_timestamp(year, month, day, hour, minute, of.double(5))?;
    let statement = statement_times();
    let found = Timestamp::from_unix_microseconds(local)
        .and_then(|local| local.to_timestamptz(&statement.settings));
    answer(match found.map(TimestampTz::to_unix_microseconds) {
        Ok(Some(point)) => Ok(point),
        _ => Err(FunctionError::timestamp_out_of_range()),
    })
}

fn made_of_parts(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let (year, month, day) = (of.integer(0)?, of.integer(1)?, of.integer(2)?);
    let (hour, minute) = (of.integer(3)?, of.integer(4)?);
    answer(times::make_timestamp(year, month, day, hour, minute, of.double(5)))
}
