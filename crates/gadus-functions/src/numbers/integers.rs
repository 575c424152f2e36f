//! Functions of integers.

use super::decimal::overflow;
use crate::error::{FunctionError, OUT_OF_RANGE, Result};

/// Largest number whose factorial has 38 digits.
const FACTORIAL_MAX: i64 = 33;

/// Returns the greatest common divisor.
///
/// # Errors
/// 22003 beyond 64 bits.
pub fn gcd(one: i64, other: i64) -> Result<i64> {
    i64::try_from(common_divisor(one, other)).map_err(|_| out_of_range())
}

/// Returns the least common multiple.
///
/// # Errors
/// 22003 beyond 64 bits.
pub fn lcm(one: i64, other: i64) -> Result<i64> {
    if one == 0 || other == 0 {
        return Ok(0);
    }
    let quotient = one.unsigned_abs() / common_divisor(one, other);
    let multiple = quotient.checked_mul(other.unsigned_abs());
    multiple.and_then(|multiple| i64::try_from(multiple).ok()).ok_or_else(out_of_range)
}

/// Returns the product of the numbers from 1 on.
///
/// # Errors
/// 22003 of negative numbers, and beyond 38 digits.
pub fn factorial(number: i64) -> Result<i128> {
    match number {
        ..0 => {
            let message = "factorial of a negative number is undefined";
            Err(FunctionError::new(OUT_OF_RANGE, message))
        }
        0..=FACTORIAL_MAX => Ok((1..=i128::from(number)).product()),
        _ => Err(overflow()),
    }
}

fn common_divisor(one: i64, other: i64) -> u64 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn out_of_range() -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, "bigint out of range")
}
