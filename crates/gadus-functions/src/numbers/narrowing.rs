//! Casts of numbers that may be out of range, and floating-point numbers that texts are.

use crate::error::{FunctionError, INVALID_TEXT, OUT_OF_RANGE, Result};

/// Returns the nearest integer of a type with these bounds; half-way values become even.
///
/// # Errors
/// 22003 of NaN, infinities, and numbers beyond the bounds.
pub fn integer_of_double(value: f64, (least, greatest): (i64, i64), name: &str) -> Result<i64> {
    /// Distance from zero of the bounds of 64 bits.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let rounded = value.round_ties_even();
    if !(-LIMIT..LIMIT).contains(&rounded) {
        return Err(out_of_range(name));
    }
    #[expect(clippy::cast_possible_truncation)] // it is a whole number within 64 bits
    let rounded = rounded as i64;
    integer_within(rounded, (least, greatest), name)
}

/// Returns an integer if it is within bounds.
///
/// # Errors
/// 22003 of others.
pub fn integer_within(value: i64, (least, greatest): (i64, i64), name: &str) -> Result<i64> {
    match (least..=greatest).contains(&value) {
        true => Ok(value),
        false => Err(out_of_range(name)),
    }
}

/// Returns the nearest number of single precision.
///
/// # Errors
/// 22003 of numbers that would become infinite, or zero.
pub fn real_of_double(value: f64) -> Result<f32> {
    #[expect(clippy::cast_possible_truncation)] // to fewer digits
    let real = value as f32;
    let message = match (real.is_infinite(), real == 0.0) {
        (true, _) if value.is_finite() => "value out of range: overflow",
        (_, true) if value != 0.0 => "value out of range: underflow",
        _ => return Ok(real),
    };
    Err(FunctionError::new(OUT_OF_RANGE, message))
}

/// Reads a number of single precision.
///
/// # Errors
/// 22P02 of a text that is no number, 22003 of one that would be infinite, or zero.
pub fn real_of_text(text: &str) -> Result<f32> {
    let real = text.trim_matches(is_space).parse::<f32>();
    let real = real.map_err(|_| no_number(text, "real"))?;
    check_range(text, (real.is_infinite(), real == 0.0), "real")?;
    Ok(real)
}

/// Reads a number of double precision.
///
/// # Errors
/// 22P02 of a text that is no number, 22003 of one that would be infinite, or zero.
pub fn double_of_text(text: &str) -> Result<f64> {
    let double = text.trim_matches(is_space).parse::<f64>();
    let double = double.map_err(|_| no_number(text, "double precision"))?;
    check_range(text, (double.is_infinite(), double == 0.0), "double precision")?;
    Ok(double)
}

/// Refuses a text with digits that became infinite, or zero without being it.
fn check_range(text: &str, (is_infinite, is_zero): (bool, bool), name: &str) -> Result<()> {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let has_digits = mantissa.bytes().any(|byte| byte.is_ascii_digit());
    let is_written_zero = !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if is_infinite && has_digits || is_zero && !is_written_zero {
        let message = format!("\"{text}\" is out of range for type {name}");
        return Err(FunctionError::new(OUT_OF_RANGE, message));
    }
    Ok(())
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn no_number(text: &str, name: &str) -> FunctionError {
    let message = format!("invalid input syntax for type {name}: \"{text}\"");
    FunctionError::new(INVALID_TEXT, message)
}

fn out_of_range(name: &str) -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, format!("{name} out of range"))
}
