//! Arithmetic of dates, times and intervals.
//!
//! - Months are added first, then days, then microseconds: each on the result of the one before.
//! - Days and months of a `timestamptz` are those of the session's zone; microseconds are elapsed time.

mod age;
mod dates;
mod intervals;
mod justify;
mod scale;
#[cfg(test)]
mod tests;
mod times;
mod timestamps;
