//! Logarithms.

use super::{GUARD_DIGITS, LOG10_2, result_scale, truncated};
use crate::error::{INVALID_LOGARITHM, NumericError, Result, check_interrupt};
use crate::limits::GROUP_DIGITS;
use crate::value::Numeric;
use crate::working::{Working, leading_groups};
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

/// Natural logarithm of 10, as PostgreSQL has it.
const LN_10: f64 = std::f64::consts::LN_10;

impl Numeric {
    /// Returns the natural logarithm, to at least sixteen significant digits and at least the scale of the value.
    ///
    /// # Errors
    /// 2201E for zero and negative values, 57014 if the statement was cancelled.
    pub fn ln(&self) -> Result<Self> {
        let Some(value) = positive(self)? else { return Ok(self.clone()) };
        let scale = result_scale(ln_weight(&value), value.scale);
        ln(&value, scale)?.into_numeric(scale)
    }

    /// Returns the decimal logarithm.
    ///
    /// # Errors
    /// 2201E for zero and negative values, 57014 if the statement was cancelled.
    pub fn log10(&self) -> Result<Self> {
        Self::small(10, 0).log(self)
    }

    /// Returns the logarithm of `value` to this base.
    ///
    /// # Errors
    /// 2201E for zero and negative operands, 22012 for a base of one, 57014 if the statement was cancelled.
    pub fn log(&self, value: &Self) -> Result<Self> {
        if self.is_nan() || value.is_nan() {
            return Ok(Self::NAN);
        }
        if !self.is_finite() || !value.is_finite() {
            return log_special(self, value);
        }
        // PostgreSQL computes the logarithm of the base first.
        let (Some(base), Ok(value)) = (positive(self)?, Working::of(value)) else {
            return Ok(Self::NAN);
        };
        check_positive(value.is_negative(), value.is_zero())?;
        let (base_weight, value_weight) = (ln_weight(&base), ln_weight(&value));
        let weight = value_weight - base_weight;
        let scale = result_scale(weight, base.scale.max(value.scale));
        let operand_scale = |operand: i64| (scale + weight - operand + GUARD_DIGITS).max(0);
        let ln_base = ln(&base, operand_scale(base_weight))?;
        let ln_value = ln(&value, operand_scale(value_weight))?;
        if ln_base.is_zero() {
            return Err(NumericError::division_by_zero());
        }
        ln_value.divide(&ln_base, scale).into_numeric(scale)
    }
}

/// Returns a positive finite value; `None` for NaN and infinity.
fn positive(value: &Numeric) -> Result<Option<Working>> {
    check_positive(value.is_negative(), value.is_zero())?;
    Ok(Working::of(value).ok())
}

fn log_special(base: &Numeric, value: &Numeric) -> Result<Numeric> {
    let (base_sign, value_sign) = (base.signum(), value.signum());
    check_positive(base_sign < 0 || value_sign < 0, base_sign == 0 || value_sign == 0)?;
    Ok(match (base.is_infinite(), value.is_infinite()) {
        (true, true) => Numeric::NAN,
        (true, false) => Numeric::ZERO,
        (false, _) => Numeric::INFINITY,
    })
}

fn check_positive(is_negative: bool, is_zero: bool) -> Result<()> {
    let message = match (is_negative, is_zero) {
        (true, _) => "cannot take logarithm of a negative number",
        (_, true) => "cannot take logarithm of zero",
        _ => return Ok(()),
    };
    Err(NumericError::new(INVALID_LOGARITHM, message))
}

/// Estimates the place of the first digit of a natural logarithm.
pub(super) fn ln_weight(value: &Working) -> i64 {
    if value.is_negative() || value.is_zero() {
        return 0;
    }
    if value.compare(&tenths(9)) != Ordering::Less
        && value.compare(&tenths(11)) != Ordering::Greater
    {
        // ln(1 + x) is about x.
        let distance = value.subtract(&Working::integer(1_u8));
        return distance.leading().map_or(0, |leading| {
            leading.weight * GROUP_DIGITS + i64::from(leading.group.ilog10())
        });
    }
    let (groups, count) = leading_groups(&value.magnitude(), value.scale, 2);
    let exponent = (value.weight() + 1 - count) * GROUP_DIGITS;
    #[expect(clippy::cast_precision_loss)]
    let estimate = (groups as f64).ln() + exponent as f64 * LN_10;
    truncated(estimate.abs().log10())
}

/// Returns the natural logarithm of a positive number, rounded to a scale.
pub(super) fn ln(value: &Working, scale: i64) -> Result<Working> {
    let mut reduced = value.clone();
    let (low, high) = (tenths(9), tenths(11));
    let mut roots = 0_usize;
    // Each root halves the logarithm, until the series converges fast.
    while reduced.compare(&low) != Ordering::Greater || reduced.compare(&high) != Ordering::Less {
        check_interrupt()?;
        let root_scale = scale - reduced.weight() * GROUP_DIGITS / 2 + GUARD_DIGITS;
        reduced = reduced.sqrt(root_scale);
        roots += 1;
    }
    #[expect(clippy::cast_precision_loss)]
    let lost_digits = truncated((roots + 1) as f64 * LOG10_2);
    let sum = series(&reduced, scale + lost_digits + GUARD_DIGITS)?;
    let factor = IBig::from(UBig::ONE << (roots + 1));
    Ok(sum.multiply(&Working::integer(factor), scale))
}

/// Returns half of the logarithm of a number next to one: z + z^3/3 + z^5/5 and so on, for z = (x - 1) / (x + 1).
fn series(value: &Working, scale: i64) -> Result<Working> {
    let one = Working::integer(1_u8);
    let mut sum = value.subtract(&one).divide(&value.add(&one), scale);
    let square = sum.square(scale);
    let mut power = sum.clone();
    let mut index = 1;
    loop {
        check_interrupt()?;
        index += 2;
        power = power.multiply(&square, scale);
        let term = power.divide_by(index, scale);
        if term.is_zero() {
            return Ok(sum);
        }
        sum = sum.add(&term);
        if term.weight() < sum.weight() - scale * 2 / GROUP_DIGITS {
            return Ok(sum);
        }
    }
}

fn tenths(count: u8) -> Working {
    Working { digits: count.into(), scale: 1 }
}
