//! Templates of points in time and intervals: `to_char`, `to_timestamp` and `to_date`.
//!
//! - `template` reads a template, `write` writes by it, `read` reads fields by it, and `resolve` makes a point in time
//!   of fields.
//! - Names of days and months are English, as in the C locale. Time zones are the caller's.

mod keys;
mod read;
mod resolve;
mod template;
#[cfg(test)]
mod tests;
mod write;

pub use resolve::{to_date, to_timestamp};
pub use write::{Span, Zone, interval_to_char, timestamp_to_char};
