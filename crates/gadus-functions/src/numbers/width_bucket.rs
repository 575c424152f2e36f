//! `width_bucket`: the bucket of a histogram that a value falls into.

use super::decimal::{Decimal, overflow};
use crate::error::{FunctionError, OUT_OF_RANGE, Result, WIDTH_BUCKET};

/// Returns the bucket of a double among `count` ones of equal width; 0 below the first bound, `count + 1` above the last.
///
/// # Errors
/// 2201G of wrong bounds or counts, 22003 beyond 32 bits.
pub fn width_bucket_double(value: f64, low: f64, high: f64, count: i32) -> Result<i32> {
    check_count(count)?;
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(refused("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(refused("lower and upper bounds must be finite"));
    }
    let (value, low, high) = match low > high {
        true => (-value, -low, -high),
        false => (value, low, high),
    };
    if low == high {
        return Err(refused("lower bound cannot equal upper bound"));
    }
    if value < low {
        return Ok(0);
    }
    if value >= high {
        return count.checked_add(1).ok_or_else(out_of_range);
    }
    let bucket = f64::from(count) * (value - low) / (high - low) + 1.0;
    // PostgreSQL does not check the conversion, which gives the least integer of what does not fit.
    #[expect(clippy::cast_possible_truncation)]
    let bucket = if bucket < 2_147_483_648.0 { bucket as i32 } else { i32::MIN };
    Ok(bucket)
}

/// Returns the bucket of an exact decimal among `count` ones of equal width.
///
/// # Errors
/// 2201G of wrong bounds or counts, 22003 beyond 32 bits, or if bounds and value have no common scale within 38 digits.
pub fn width_bucket_numeric(
    value: Decimal,
    low: Decimal,
    high: Decimal,
    count: i32,
) -> Result<i32> {
    check_count(count)?;
    let fractions = (value.scale.max(low.scale), high.scale.max(low.scale));
    let scale = fractions.0.max(fractions.1);
    let scaled = |decimal: Decimal| {
        let factor = 10_i128.checked_pow(u32::from(scale - decimal.scale));
        let scaled = factor.and_then(|factor| decimal.unscaled.checked_mul(factor));
        // Half of the range, so that differences fit.
        scaled.filter(|scaled| scaled.unsigned_abs() < 1 << 126).ok_or_else(overflow)
    };
    let (value, low, high) = (scaled(value)?, scaled(low)?, scaled(high)?);
    let (value, low, high) = match low > high {
        true => (-value, -low, -high),
        false => (value, low, high),
    };
    if low == high {
        return Err(refused("lower bound cannot equal upper bound"));
    }
    if value < low {
        return Ok(0);
    }
    if value >= high {
        return count.checked_add(1).ok_or_else(out_of_range);
    }
    let (distance, width) = ((value - low).unsigned_abs(), (high - low).unsigned_abs());
    let (bucket, rest) = share(count, distance, width);
    let digits = quotient_digits(&product(count, distance), &width.to_string(), scale);
    let digits = digits.max(fractions.0.into()).max(fractions.1.into());
    // PostgreSQL rounds the quotient before it takes the integer below.
    let missing = 10_u128.checked_pow(digits).and_then(|unit| unit.checked_mul(2));
    let is_rounded_up = missing.is_some_and(|unit| width / unit >= width - rest);
    let bucket = bucket.checked_add(1 + i32::from(is_rounded_up));
    bucket.ok_or_else(out_of_range)
}

/// Returns the number of thresholds, in ascending order, that a value is at or above.
#[must_use]
pub fn width_bucket_list(thresholds: usize, is_above: impl Fn(usize) -> bool) -> i32 {
    let (mut low, mut high) = (0, thresholds);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_above(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    i32::try_from(low).unwrap_or(i32::MAX)
}

/// Divides `count * distance` by `width`, bit by bit, because the product may not fit.
fn share(count: i32, distance: u128, width: u128) -> (i32, u128) {
    let (mut quotient, mut rest) = (0, 0);
    let add = |quotient: i32, rest: u128, summand: u128| match summand >= width - rest {
        true => (quotient + 1, summand - (width - rest)),
        false => (quotient, rest + summand),
    };
    for bit in (0..31).rev() {
        (quotient, rest) = add(quotient * 2, rest, rest);
        if count >> bit & 1 == 1 {
            (quotient, rest) = add(quotient, rest, distance);
        }
    }
    (quotient, rest)
}

/// Multiplies, and returns the digits.
fn product(count: i32, distance: u128) -> String {
    const LIMB: u128 = 1_000_000_000_000_000_000;
    let count = u128::from(count.unsigned_abs());
    let low = distance % LIMB * count;
    let high = distance / LIMB * count + low / LIMB;
    let digits = format!("{high}{:018}", low % LIMB);
    digits.trim_start_matches('0').to_owned()
}

/// Returns the digits of the fraction to which PostgreSQL computes a quotient: it has sixteen significant ones at least,
/// and is computed in groups of four digits.
fn quotient_digits(dividend: &str, divisor: &str, scale: u8) -> u32 {
    let leading = |digits: &str| {
        let power = i32::try_from(digits.len()).unwrap_or(0) - 1 - i32::from(scale);
        let length = usize::try_from(power.rem_euclid(4)).unwrap_or(0) + 1;
        let group = format!("{digits:0<4}")[..length].parse::<u32>().unwrap_or(0);
        (power.div_euclid(4), group)
    };
    let ((weight, group), (weight_below, group_below)) = (leading(dividend), leading(divisor));
    let weight = weight - weight_below - i32::from(group <= group_below);
    u32::try_from(16 - weight * 4).unwrap_or(0)
}

fn check_count(count: i32) -> Result<()> {
    match count {
        1.. => Ok(()),
        _ => Err(refused("count must be greater than zero")),
    }
}

fn refused(message: &str) -> FunctionError {
    FunctionError::new(WIDTH_BUCKET, message)
}

fn out_of_range() -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, "integer out of range")
}
