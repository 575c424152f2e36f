//! Intervals: what they are written as, how they are computed with, and what is asked of them, as PostgreSQL has it.
//!
//! - They are Arrow's of months, days and nanoseconds. The engine reads and writes their texts; what else DataFusion does
//!   with them is right where it is not replaced here.
//! - Literals are respelled before anything is planned, so that the planner sees constants: it reads fewer forms than
//!   PostgreSQL.
//! - Nothing wraps: what leaves the range is an error.

mod aggregates;
mod arithmetic;
mod calendar;
mod casts;
mod functions;
mod operators;
mod parts;
mod spelling;
mod truncated;

pub(crate) use aggregates::{average, total};
pub(crate) use casts::{beside, called};
pub(crate) use functions::interval_functions;
pub(crate) use operators::{IntervalOperators, checked, dates_compared, parts_asked};
pub(crate) use spelling::{fields_of, respell};
pub(crate) use truncated::date_trunc;

use crate::error::input;
use crate::uuids::with_columns;
use crate::value::is_text;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, DurationMicrosecondType, TimeUnit};
use datafusion::logical_expr::LogicalPlan;
use gadus_engine::{
    Error, ErrorKind, INTERVAL, Interval, IntervalArray, IntervalError, IntervalFields, Reason,
    Result, interval_texts,
};
use std::sync::Arc;

/// Whether values of a type are intervals.
fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_))
}

/// Intervals of texts, or texts of intervals, where the other is wanted; none where neither is.
pub(crate) fn converted(array: &ArrayRef, to: &DataType) -> Result<Option<ArrayRef>> {
    let from = array.data_type();
    Ok(match (from, to) {
        (from, to) if is_text(from) && *to == INTERVAL => Some(intervals(array, false)?),
        (DataType::Interval(_), to) if is_text(to) => {
            let plain = arrow::compute::cast(array, &INTERVAL)?;
            let texts: ArrayRef = Arc::new(interval_texts(plain.as_primitive()));
            Some(arrow::compute::cast(&texts, to)?)
        }
        (DataType::Duration(_), to) if *to == INTERVAL => Some(spans(array)?),
        _ => None,
    })
}

/// A plan whose intervals are texts, for Parquet, whose writer has none of them.
pub(crate) fn with_texts_of_intervals(plan: LogicalPlan) -> Result<LogicalPlan> {
    with_columns(plan, |field, value| {
        is_interval(field.data_type()).then(|| functions::as_text(value()))
    })
}

/// The interval that a text is, as PostgreSQL reads it.
///
/// # Errors
/// `Input` of a text that is none, `OutOfRange` of one that is too long.
pub fn interval_of_text(text: &str) -> Result<Interval> {
    Interval::parse(text, IntervalFields::default()).map_err(|error| no_interval(text, error))
}

/// The intervals that texts are; what is none is NULL if it may be.
fn intervals(texts: &ArrayRef, or_null: bool) -> Result<ArrayRef> {
    let texts = arrow::compute::cast(texts, &DataType::Utf8View)?;
    let mut intervals = IntervalArray::builder(texts.len());
    for text in texts.as_string_view() {
        match text.map(interval_of_text) {
            Some(Ok(interval)) => intervals.append_value(interval.to_arrow()),
            Some(Err(error)) if !or_null => return Err(error),
            _ => intervals.append_null(),
        }
    }
    Ok(Arc::new(intervals.finish()))
}

/// Durations, which are time alone, as intervals.
fn spans(durations: &ArrayRef) -> Result<ArrayRef> {
    let durations = arrow::compute::cast(durations, &DataType::Duration(TimeUnit::Microsecond))?;
    let durations = durations.as_primitive::<DurationMicrosecondType>();
    let span = |microseconds| Interval { microseconds, ..Interval::default() }.within_range();
    let intervals =
        durations.iter().map(|duration| duration.map(span).transpose().map_err(|_| out_of_range()));
    let intervals = intervals.map(|span| span.map(|span| span.map(Interval::to_arrow)));
    Ok(Arc::new(intervals.collect::<Result<IntervalArray>>()?))
}

/// The error of a text that is no interval.
fn no_interval(text: &str, error: IntervalError) -> Error {
    let shown = text.chars().take(60).collect::<String>();
    match error {
        IntervalError::Syntax => {
            let message = format!("invalid input syntax for type interval: \"{shown}\"");
            input(message).because(Reason::InvalidDatetime)
        }
        IntervalError::Field => {
            let message = format!("interval field value out of range: \"{shown}\"");
            Error::new(ErrorKind::OutOfRange, message).because(Reason::IntervalOverflow)
        }
        IntervalError::Range => out_of_range(),
    }
}

fn out_of_range() -> Error {
    let message =
        "interval out of range: months and days have 32 bits, and the time is at most 292 years";
    Error::new(ErrorKind::OutOfRange, message).because(Reason::DatetimeOverflow)
}
