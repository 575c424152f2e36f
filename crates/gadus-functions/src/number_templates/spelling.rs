//! Digits of a value, prepared for a template.

use super::template::Template;
use super::write::{Prepared, write};
use crate::error::{FunctionError, OUT_OF_RANGE, Result};
use crate::numbers::Decimal;

/// Significant digits of a double.
const DOUBLE_DIGITS: usize = 15;

/// Writes an INTEGER by a template.
///
/// # Errors
/// 42601 of a template that is none.
pub fn integer_to_char(value: i32, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        return write(template, Prepared::roman(value.into()));
    }
    if template.is_exponent {
        let digits = scientific(f64::from(value), template.post);
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        // PostgreSQL's product wraps, and its power is the least integer if it does not fit.
        let power = u32::try_from(template.multi).ok().and_then(|multi| 10_i32.checked_pow(multi));
        value = value.wrapping_mul(power.unwrap_or(i32::MIN));
        template.pre += template.multi;
    }
    whole(template, &value.to_string())
}

/// Writes a BIGINT by a template.
///
/// # Errors
/// 42601 of a template that is none, 22003 of Roman numbers beyond 32 bits and of a product of `V` beyond 64.
pub fn bigint_to_char(value: i64, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        let value = i32::try_from(value).map_err(|_| out_of_range("integer"))?;
        return write(template, Prepared::roman(value.into()));
    }
    if template.is_exponent {
        let digits = decimal_exponent(Decimal { unscaled: value.into(), scale: 0 }, template.post);
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        let power = u32::try_from(template.multi).ok().and_then(|multi| 10_i64.checked_pow(multi));
        let product = power.and_then(|power| value.checked_mul(power));
        value = product.ok_or_else(|| out_of_range("bigint"))?;
        template.pre += template.multi;
    }
    whole(template, &value.to_string())
}

/// Writes an exact decimal by a template.
///
/// # Errors
/// 42601 of a template that is none, 22003 of Roman numbers beyond 32 bits.
pub fn decimal_to_char(value: Decimal, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        let rounded = rounded(value, 0);
        let rounded = rounded.parse::<i32>().map_err(|_| out_of_range("integer"))?;
        return write(template, Prepared::roman(rounded.into()));
    }
    if template.is_exponent {
        let digits = decimal_exponent(value, template.post);
        return write(template, Prepared::plain(0, digits));
    }
    if !template.is_shifted {
        let digits = rounded(value, template.post);
        return fitted(template, &digits);
    }
    let multi = template.multi;
    template.pre += multi;
    let scale = usize::from(value.scale);
    // `V` moves the point to the right; beyond the last digit there are zeros.
    let moved = u8::try_from(scale.saturating_sub(multi)).unwrap_or(0);
    let mut digits = rounded(Decimal { scale: moved, ..value }, template.post);
    if multi > scale && value.unscaled != 0 {
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let point = if fraction.is_empty() { "" } else { "." };
        digits = format!("{whole}{}{point}{fraction}", "0".repeat(multi - scale));
    }
    fitted(template, &digits)
}

/// Writes a double by a template.
///
/// # Errors
/// 42601 of a template that is none.
pub fn double_to_char(value: f64, template: &str) -> Result<String> {
    let mut template = Template::parse(template)?;
    if template.is_roman {
        let rounded = value.round_ties_even();
        #[expect(clippy::cast_possible_truncation)] // beyond 3999 it is not written
        let rounded = if rounded.abs() < 4e3 { rounded as i64 } else { 0 };
        return write(template, Prepared::roman(rounded));
    }
    if template.is_exponent {
        let digits = match value.is_finite() {
            true => scientific(value, template.post),
            false => {
                let hashes = |count| "#".repeat(count);
                format!(" {}.{}", hashes(template.pre), hashes(template.post + 4))
            }
        };
        return write(template, Prepared::plain(0, digits));
    }
    let mut value = value;
    if template.is_shifted {
        let multi = i32::try_from(template.multi).unwrap_or(i32::MAX);
        value *= 10_f64.powi(multi);
        template.pre += template.multi;
    }
    let whole = fixed(value.abs(), 0).len();
    template.post = template.post.min(DOUBLE_DIGITS.saturating_sub(whole));
    let digits = fixed(value, template.post);
    fitted(template, &digits)
}

/// Writes a whole number, with zeros behind the point.
fn whole(template: Template, digits: &str) -> Result<String> {
    match template.post {
        0 => fitted(template, digits),
        post => {
            let digits = format!("{digits}.{}", "0".repeat(post));
            fitted(template, &digits)
        }
    }
}

/// Writes digits with the blanks before them, or hashes if the template has too few places.
fn fitted(template: Template, digits: &str) -> Result<String> {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', digits),
    };
    let length = digits.find('.').unwrap_or(digits.len());
    let (spaces, digits) = match length > template.pre {
        true => {
            let hashes = |count| "#".repeat(count);
            (0, format!("{}.{}", hashes(template.pre), hashes(template.post)))
        }
        false => (template.pre - length, digits.to_owned()),
    };
    write(template, Prepared { digits, spaces, sign: Some(sign) })
}

/// Rounds away from zero, to so many digits of a fraction.
fn rounded(value: Decimal, digits: usize) -> String {
    let scale = usize::from(value.scale);
    let magnitude = value.unscaled.unsigned_abs();
    let magnitude = match u32::try_from(scale.saturating_sub(digits)) {
        Ok(0) => magnitude,
        Ok(dropped) => {
            let unit = 10_u128.pow(dropped.min(38));
            magnitude / unit + u128::from(magnitude % unit >= unit - unit / 2)
        }
        Err(_) => 0,
    };
    let kept = scale.min(digits);
    let text = format!("{magnitude:0>width$}", width = kept + 1);
    let (whole, fraction) = text.split_at(text.len() - kept);
    let sign = if value.unscaled < 0 && magnitude > 0 { "-" } else { "" };
    if digits == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{fraction:0<digits$}")
}

/// Writes a double as PostgreSQL's `%.*f`.
fn fixed(value: f64, digits: usize) -> String {
    if value.is_finite() {
        return format!("{value:.digits$}");
    }
    let sign = if value.is_sign_negative() && !value.is_nan() { "-" } else { "" };
    format!("{sign}{}", if value.is_nan() { "NaN" } else { "Infinity" })
}

/// Writes a double as C's `% .*e`.
fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let space = if value.is_sign_negative() { "" } else { " " };
    format!("{space}{mantissa}e{sign}{:02}", exponent.abs())
}

/// Writes an exact decimal with an exponent.
fn decimal_exponent(value: Decimal, digits: usize) -> String {
    let text = value.unscaled.unsigned_abs().to_string();
    let exponent = match value.unscaled {
        0 => 0,
        _ => i32::try_from(text.len()).unwrap_or(0) - 1 - i32::from(value.scale),
    };
    let scale = u8::try_from(text.len() - 1).unwrap_or(0);
    let mantissa = rounded(Decimal { scale, ..value }, digits);
    let sign = if exponent < 0 { '-' } else { '+' };
    let space = if mantissa.starts_with('-') { "" } else { " " };
    format!("{space}{mantissa}e{sign}{:02}", exponent.abs())
}

fn out_of_range(what: &str) -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, format!("{what} out of range"))
}
