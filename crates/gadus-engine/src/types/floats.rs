//! Floating-point numbers as texts: the fewest digits that tell a number from all others, as PostgreSQL writes them.

use std::fmt::{self, Write};

/// Digits before the point from which a `real` has an exponent.
const REAL_DIGITS_MAX: i32 = 6;
/// Digits before the point from which a `double precision` has an exponent.
const DOUBLE_DIGITS_MAX: i32 = 15;

/// Writes a `real`.
///
/// # Errors
/// Those of the writer.
pub fn write_real(out: &mut impl Write, value: f32) -> fmt::Result {
    write_float(out, &format!("{value:e}"), value.into(), REAL_DIGITS_MAX)
}

/// Writes a `double precision`.
///
/// # Errors
/// Those of the writer.
pub fn write_double(out: &mut impl Write, value: f64) -> fmt::Result {
    write_float(out, &format!("{value:e}"), value, DOUBLE_DIGITS_MAX)
}

/// Writes a number from its digits with an exponent.
fn write_float(out: &mut impl Write, scientific: &str, value: f64, digits_max: i32) -> fmt::Result {
    if !value.is_finite() {
        return out.write_str(match (value.is_nan(), value > 0.0) {
            (true, _) => "NaN",
            (false, true) => "Infinity",
            (false, false) => "-Infinity",
        });
    }
    let (digits, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    if exponent < -4 || exponent >= digits_max {
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs());
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let digits = digits.replace('.', "");
    out.write_str(sign)?;
    match usize::try_from(exponent) {
        Ok(exponent) if digits.len() <= exponent + 1 => {
            write!(out, "{digits:0<width$}", width = exponent + 1)
        }
        Ok(exponent) => {
            let (whole, fraction) = digits.split_at(exponent + 1);
            write!(out, "{whole}.{fraction}")
        }
        Err(_) => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
            write!(out, "0.{}{digits}", "0".repeat(zeros))
        }
    }
}
