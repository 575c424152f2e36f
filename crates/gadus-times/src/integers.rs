//! Conversions of numbers that C makes silently, each by its name.

/// Returns the lowest 32 bits, as C converts a long integer.
pub(crate) fn low_bits(value: i64) -> i32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Returns an integer that is known to be small: a field of a clock or a calendar.
pub(crate) fn small(value: i64) -> i32 {
    debug_assert!(i32::try_from(value).is_ok());
    low_bits(value)
}

/// Returns the integral part of a number; a number beyond the range saturates.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn truncated(value: f64) -> i64 {
    value as i64
}

/// Returns the integral part of a number; a number beyond the range saturates.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn truncated_i32(value: f64) -> i32 {
    value as i32
}

/// Returns the nearest number.
#[allow(clippy::cast_precision_loss)] // as PostgreSQL computes
pub(crate) fn float(value: i64) -> f64 {
    value as f64
}
