//! Functions of points in time.

use super::arguments::Arguments;
use super::overloads::{Function, Kind, Overload};
use super::results::{Answer, answer};
use gadus_functions::{FunctionError, times};

const PARTS: &[Kind] =
    &[Kind::Integer, Kind::Integer, Kind::Integer, Kind::Integer, Kind::Integer, Kind::Double];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "make_timestamp",
        overloads: &[Overload::strict(PARTS, Kind::Timestamp, made_of_parts)],
    },
    // The session's zone is UTC.
    Function {
        name: "make_timestamptz",
        overloads: &[Overload::strict(PARTS, Kind::TimestampUtc, made_of_parts)],
    },
    // No date, point in time or interval is infinite.
    Function {
        name: "isfinite",
        overloads: &[
            Overload::strict(&[Kind::Date], Kind::Boolean, |_| answer(Ok(true))),
            Overload::strict(&[Kind::Timestamp], Kind::Boolean, |_| answer(Ok(true))),
            Overload::strict(&[Kind::TimestampUtc], Kind::Boolean, |_| answer(Ok(true))),
            Overload::strict(&[Kind::Interval], Kind::Boolean, |_| answer(Ok(true))),
        ],
    },
];

fn made_of_parts(of: &Arguments<'_>) -> Result<Answer, FunctionError> {
    let (year, month, day) = (of.integer(0)?, of.integer(1)?, of.integer(2)?);
    let (hour, minute) = (of.integer(3)?, of.integer(4)?);
    answer(times::make_timestamp(year, month, day, hour, minute, of.double(5)))
}
