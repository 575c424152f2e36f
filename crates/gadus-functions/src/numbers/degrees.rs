//! Trigonometric functions of angles in degrees, exact at multiples of 30 and 45 degrees.
//!
//! - Each function is stitched together from two ranges, scaled by its value at their common end, so that it stays
//!   monotonic.

use crate::error::{FunctionError, OUT_OF_RANGE, Result};
use std::hint::black_box;
use std::sync::LazyLock;

/// Values that the library gives at angles whose results are exact. They are computed as the results are, at run time.
static AT: LazyLock<Scales> = LazyLock::new(|| {
    let radians = |degrees: f64| black_box(degrees) * RADIANS_PER_DEGREE;
    let half = black_box(0.5_f64);
    Scales {
        sine_of_30: radians(30.0).sin(),
        one_minus_cosine_of_60: 1.0 - radians(60.0).cos(),
        arcsine_of_half: half.asin(),
        arccosine_of_half: half.acos(),
        arctangent_of_one: black_box(1.0_f64).atan(),
    }
});

const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

#[derive(Debug)]
struct Scales {
    sine_of_30: f64,
    one_minus_cosine_of_60: f64,
    arcsine_of_half: f64,
    arccosine_of_half: f64,
    arctangent_of_one: f64,
}

/// Angle within a quadrant, and how the functions change sign on the way to it.
#[derive(Debug)]
struct Reduced {
    angle: f64,
    is_negative: bool,
    is_beyond_180: bool,
    is_beyond_90: bool,
}

/// Returns the sine of an angle in degrees.
///
/// # Errors
/// 22003 of an infinite angle.
pub fn sind(degrees: f64) -> Result<f64> {
    let Some(reduced) = reduced(degrees)? else { return Ok(f64::NAN) };
    Ok(signed(sine(reduced.angle), reduced.is_negative != reduced.is_beyond_180))
}

/// Returns the cosine of an angle in degrees.
///
/// # Errors
/// 22003 of an infinite angle.
pub fn cosd(degrees: f64) -> Result<f64> {
    let Some(reduced) = reduced(degrees)? else { return Ok(f64::NAN) };
    Ok(signed(cosine(reduced.angle), reduced.is_beyond_90))
}

/// Returns the tangent of an angle in degrees.
///
/// # Errors
/// 22003 of an infinite angle.
pub fn tand(degrees: f64) -> Result<f64> {
    let Some(reduced) = reduced(degrees)? else { return Ok(f64::NAN) };
    let tangent = |angle| sine(angle) / cosine(angle);
    Ok(signed(tangent(reduced.angle) / tangent(45.0), reduced.changes_sign()) + 0.0)
}

/// Returns the cotangent of an angle in degrees.
///
/// # Errors
/// 22003 of an infinite angle.
pub fn cotd(degrees: f64) -> Result<f64> {
    let Some(reduced) = reduced(degrees)? else { return Ok(f64::NAN) };
    let cotangent = |angle| cosine(angle) / sine(angle);
    Ok(signed(cotangent(reduced.angle) / cotangent(45.0), reduced.changes_sign()) + 0.0)
}

/// Returns the angle in degrees of a sine.
///
/// # Errors
/// 22003 outside of -1 to 1.
pub fn asind(sine: f64) -> Result<f64> {
    check_unit(sine)?;
    Ok(match sine >= 0.0 {
        true => arcsine(sine),
        false => -arcsine(-sine),
    })
}

/// Returns the angle in degrees of a cosine.
///
/// # Errors
/// 22003 outside of -1 to 1.
pub fn acosd(cosine: f64) -> Result<f64> {
    check_unit(cosine)?;
    Ok(match cosine >= 0.0 {
        true => arccosine(cosine),
        false => 90.0 + arcsine(-cosine),
    })
}

/// Returns the angle in degrees of a tangent.
#[must_use]
pub fn atand(tangent: f64) -> f64 {
    tangent.atan() / AT.arctangent_of_one * 45.0
}

/// Returns the angle in degrees of the point `(x, y)`.
#[must_use]
pub fn atan2d(y: f64, x: f64) -> f64 {
    y.atan2(x) / AT.arctangent_of_one * 45.0
}

impl Reduced {
    fn changes_sign(&self) -> bool {
        self.is_negative ^ self.is_beyond_180 ^ self.is_beyond_90
    }
}

/// Returns the angle between 0 and 90 degrees that has the same functions up to their sign; `None` of no number.
fn reduced(degrees: f64) -> Result<Option<Reduced>> {
    if degrees.is_nan() {
        return Ok(None);
    }
    if degrees.is_infinite() {
        return Err(out_of_range());
    }
    let mut angle = degrees % 360.0;
    let is_negative = angle < 0.0;
    if is_negative {
        angle = -angle;
    }
    let is_beyond_180 = angle > 180.0;
    if is_beyond_180 {
        angle = 360.0 - angle;
    }
    let is_beyond_90 = angle > 90.0;
    if is_beyond_90 {
        angle = 180.0 - angle;
    }
    Ok(Some(Reduced { angle, is_negative, is_beyond_180, is_beyond_90 }))
}

fn signed(value: f64, is_negative: bool) -> f64 {
    if is_negative { -value } else { value }
}

fn sine_to_30(degrees: f64) -> f64 {
    (degrees * RADIANS_PER_DEGREE).sin() / AT.sine_of_30 / 2.0
}

fn cosine_to_60(degrees: f64) -> f64 {
    1.0 - (1.0 - (degrees * RADIANS_PER_DEGREE).cos()) / AT.one_minus_cosine_of_60 / 2.0
}

fn sine(degrees: f64) -> f64 {
    if degrees <= 30.0 { sine_to_30(degrees) } else { cosine_to_60(90.0 - degrees) }
}

fn cosine(degrees: f64) -> f64 {
    if degrees <= 60.0 { cosine_to_60(degrees) } else { sine_to_30(90.0 - degrees) }
}

fn arcsine(sine: f64) -> f64 {
    match sine <= 0.5 {
        true => sine.asin() / AT.arcsine_of_half * 30.0,
        false => 90.0 - sine.acos() / AT.arccosine_of_half * 60.0,
    }
}

fn arccosine(cosine: f64) -> f64 {
    match cosine <= 0.5 {
        true => 90.0 - cosine.asin() / AT.arcsine_of_half * 30.0,
        false => cosine.acos() / AT.arccosine_of_half * 60.0,
    }
}

fn check_unit(value: f64) -> Result<()> {
    match (-1.0..=1.0).contains(&value) || value.is_nan() {
        true => Ok(()),
        false => Err(out_of_range()),
    }
}

fn out_of_range() -> FunctionError {
    FunctionError::new(OUT_OF_RANGE, "input is out of range")
}
