//! Limits of the type, which are PostgreSQL's.
//!
//! - A finite value is below 10^[`INTEGER_DIGITS_MAX`] and has at most [`SCALE_MAX`] digits of a fraction, so that it
//!   takes at most 61 KiB.

/// Digits before the decimal point: 32768 groups of four.
pub const INTEGER_DIGITS_MAX: u32 = 131_072;
/// Digits after the decimal point.
pub const SCALE_MAX: u16 = 16_383;
/// Digits of a type modifier's precision.
pub const PRECISION_MAX: u16 = 1_000;
/// Least and greatest scale of a type modifier.
pub const MODIFIER_SCALES: std::ops::RangeInclusive<i16> = -1_000..=1_000;

/// Significant digits that an inexact result has at least.
pub(crate) const SIGNIFICANT_DIGITS_MIN: i64 = 16;
/// Scale that an inexact result has at most.
pub(crate) const RESULT_SCALE_MAX: i64 = 1_000;
/// Exponent of e from which on a power overflows.
pub(crate) const EXPONENT_MAX: f64 = 6_000.0;
/// Decimal digits that PostgreSQL computes with at a time; scales of results depend on it.
pub(crate) const GROUP_DIGITS: i64 = 4;

const _: () = assert!(INTEGER_DIGITS_MAX as i64 % GROUP_DIGITS == 0);
