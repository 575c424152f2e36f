//! Points in time, as microseconds since 1970, made of their parts.

mod calendar;
pub(crate) mod julian;
mod make;
#[cfg(test)]
mod tests;

pub use make::{make_timestamp, timestamp_of_seconds};

pub(crate) use calendar::{MICROSECONDS_PER_DAY, days_in_month, is_julian, is_timestamp};
pub(crate) use julian::UNIX_EPOCH_JULIAN;
