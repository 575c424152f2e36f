//! Exact decimals of up to 38 digits.

use crate::error::{DIVISION_BY_ZERO, FunctionError, OUT_OF_RANGE, Result};
use std::fmt;

/// Exact decimal: an integer, and how many of its digits are a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The digits as an integer.
    pub unscaled: i128,
    /// Digits of the fraction.
    pub scale: u8,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = usize::from(self.scale);
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.unscaled < 0 { "-" } else { "" };
        match scale {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

/// Divides and truncates to an integer.
///
/// # Errors
/// 22012 of a division by zero, 22003 if the result has more than 38 digits.
pub fn div(dividend: Decimal, divisor: Decimal) -> Result<i128> {
    if divisor.unscaled == 0 {
        return Err(FunctionError::new(DIVISION_BY_ZERO, "division by zero"));
    }
    let (one, other) = (dividend.unscaled.unsigned_abs(), divisor.unscaled.unsigned_abs());
    let is_negative = (dividend.unscaled < 0) != (divisor.unscaled < 0);
    let quotient = if dividend.scale > divisor.scale {
        let factor = 10_u128.checked_pow(u32::from(dividend.scale - divisor.scale));
        // A divisor beyond 128 bits is larger than any dividend.
        factor.and_then(|factor| other.checked_mul(factor)).map_or(0, |other| one / other)
    } else {
        let (mut quotient, mut remainder) = (one / other, one % other);
        for _ in dividend.scale..divisor.scale {
            let (digit, rest) = next_digit(remainder, other);
            remainder = rest;
            let longer = quotient.checked_mul(10).and_then(|tens| tens.checked_add(digit));
            quotient = longer.ok_or_else(overflow)?;
        }
        quotient
    };
    let quotient = i128::try_from(quotient).map_err(|_| overflow())?;
    Ok(if is_negative { -quotient } else { quotient })
}

/// Returns the fewest digits of a fraction that hold a value exactly.
#[must_use]
pub fn min_scale(value: Decimal) -> i32 {
    i32::from(trim_scale(value).scale)
}

/// Removes zeros at the end of a fraction.
#[must_use]
pub fn trim_scale(value: Decimal) -> Decimal {
    let mut trimmed = value;
    while trimmed.scale > 0 && trimmed.unscaled % 10 == 0 {
        trimmed = Decimal { unscaled: trimmed.unscaled / 10, scale: trimmed.scale - 1 };
    }
    trimmed
}

/// Returns ten times a remainder, divided by what it is the remainder of: ten times it may not fit.
fn next_digit(remainder: u128, divisor: u128) -> (u128, u128) {
    let (mut digit, mut sum) = (0, 0_u128);
    for _ in 0..10 {
        let missing = divisor - sum;
        if remainder >= missing {
            (digit, sum) = (digit + 1, remainder - missing);
        } else {
            sum += remainder;
        }
    }
    (digit, sum)
}

/// Refuses a number of more digits than a decimal has.
pub(super) fn overflow() -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, "value overflows numeric format")
}
