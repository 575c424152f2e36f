//! Text of a value, as PostgreSQL writes it.

use super::{Numeric, Repr, decimal_digits};
use crate::powers;
use dashu_int::Sign;
use dashu_int::ops::UnsignedAbs;
use std::fmt::{self, Write};

/// Digits that a group of the decimal text has: the most that a double word's quotient can be split into at once.
const GROUP: usize = 19;

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small { unscaled, scale } => write_small(f, *unscaled, usize::from(*scale)),
            Repr::Large { unscaled, scale } => {
                if unscaled.sign() == Sign::Negative {
                    f.write_char('-')?;
                }
                let digits = decimal_digits(&unscaled.unsigned_abs());
                write_digits(f, &digits, usize::from(*scale))
            }
            Repr::Infinity => f.write_str("Infinity"),
            Repr::NegativeInfinity => f.write_str("-Infinity"),
            Repr::Nan => f.write_str("NaN"),
        }
    }
}

impl fmt::Debug for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn write_small(f: &mut fmt::Formatter<'_>, unscaled: i128, scale: usize) -> fmt::Result {
    let magnitude = unscaled.unsigned_abs();
    if unscaled < 0 {
        f.write_char('-')?;
    }
    if scale == 0 {
        return write!(f, "{magnitude}");
    }
    // Division of 64 bits is several times faster than that of 128.
    if let (Ok(small), 1..=GROUP) = (u64::try_from(magnitude), scale) {
        let power = 10_u64.pow(u32::try_from(scale).unwrap_or(0));
        return write!(f, "{}.{:0scale$}", small / power, small % power);
    }
    match powers::small_power(scale) {
        Some(power) => {
            let power = power.unsigned_abs();
            write!(f, "{}.{:0scale$}", magnitude / power, magnitude % power)
        }
        None => write_digits(f, &magnitude.to_string(), scale),
    }
}

/// Writes digits of an integer with a decimal point before the last `scale` of them.
fn write_digits(f: &mut fmt::Formatter<'_>, digits: &str, scale: usize) -> fmt::Result {
    if scale == 0 {
        return f.write_str(digits);
    }
    match digits.len().checked_sub(scale) {
        Some(point @ 1..) => {
            let (integer, fraction) = digits.split_at(point);
            f.write_str(integer)?;
            f.write_char('.')?;
            f.write_str(fraction)
        }
        _ => write!(f, "0.{digits:0>scale$}"),
    }
}
