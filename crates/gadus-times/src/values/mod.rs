//! Values of the six types, and their ways to and from plain integers.
//!
//! - Dates and timestamps count from 2000-01-01, as PostgreSQL stores them. Integers since 1970 in 64 bits end in the
//!   year 294247, PostgreSQL's type 29 years later: conversions to them say so.
//! - The least and the greatest integer are the infinities.
//! - A value beyond the range of its type is never constructed, but by rounding the last half second up.

mod date;
mod interval;
mod order;
#[cfg(test)]
mod tests;
mod time;
mod timestamp;

pub use date::Date;
pub use interval::Interval;
pub(crate) use interval::IntervalFields;
pub use time::{Time, TimeTz};
pub use timestamp::{Timestamp, TimestampTz};
