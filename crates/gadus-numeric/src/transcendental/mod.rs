//! Roots, exponentials, logarithms and powers.
//!
//! - Results equal PostgreSQL's to the last digit, so its intermediate scales are kept: a result that lies between two
//!   values is decided by the rounding of the terms before it.
//! - Each loop checks for a cancelled statement.

mod exp;
mod integer_power;
mod ln;
mod power;
mod sqrt;
#[cfg(test)]
mod tests;

use crate::limits::{RESULT_SCALE_MAX, SIGNIFICANT_DIGITS_MIN};

/// Decimal logarithm of 2, as PostgreSQL has it.
#[expect(clippy::approx_constant)] // estimates are truncated to integers, and those are to agree
const LOG10_2: f64 = 0.301_029_995_663_981;
/// Decimal logarithm of e, as PostgreSQL has it.
#[expect(clippy::approx_constant)]
const LOG10_E: f64 = 0.434_294_481_903_252;
/// Digits beyond those that the result has.
const GUARD_DIGITS: i64 = 8;

/// Returns the scale of a result that has a digit of 10^`weight`: sixteen significant digits, and at least the scale
/// of the operands.
fn result_scale(weight: i64, operand_scale: i64) -> i64 {
    (SIGNIFICANT_DIGITS_MIN - weight).max(operand_scale).clamp(0, RESULT_SCALE_MAX)
}

/// Truncates an estimate.
fn truncated(estimate: f64) -> i64 {
    // Conversion saturates.
    #[expect(clippy::cast_possible_truncation)]
    let truncated = estimate as i64;
    truncated
}
