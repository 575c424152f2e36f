//! Order and equality, by value: 1.1 equals 1.10.
//!
//! - NaN equals NaN and is greater than every other value, as PostgreSQL sorts it.

use super::{Numeric, Repr};
use crate::powers;
use crate::working::distance;
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

impl Ord for Numeric {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if let (
            Repr::Small { unscaled: one, scale: scale_of_one },
            Repr::Small { unscaled: other, scale: scale_of_other },
        ) = (&self.0, &other.0)
        {
            if scale_of_one == scale_of_other {
                return one.cmp(other);
            }
            if let Some(ordering) = compare_small((*one, *scale_of_one), (*other, *scale_of_other))
            {
                return ordering;
            }
        }
        compare_any(self, other)
    }
}

impl PartialOrd for Numeric {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Numeric {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Numeric {}

/// Compares at the greater scale, if both integers fit 128 bits there.
fn compare_small(one: (i128, u16), other: (i128, u16)) -> Option<Ordering> {
    let scale = one.1.max(other.1);
    let scaled = |(unscaled, own): (i128, u16)| {
        powers::small_power(usize::from(scale - own)).and_then(|power| unscaled.checked_mul(power))
    };
    Some(scaled(one)?.cmp(&scaled(other)?))
}

/// Compares values of which one is not finite or more than 128 bits long at the common scale.
fn compare_any(one: &Numeric, other: &Numeric) -> Ordering {
    if let (
        Repr::Large { unscaled: one, scale: scale_of_one },
        Repr::Large { unscaled: other, scale: scale_of_other },
    ) = (&one.0, &other.0)
        && scale_of_one == scale_of_other
    {
        return one.cmp(other);
    }
    let (Ok((one_digits, one_scale)), Ok((other_digits, other_scale))) =
        (one.parts(), other.parts())
    else {
        return rank(one).cmp(&rank(other));
    };
    match (one.signum(), other.signum()) {
        (1, 1) => compare_magnitudes(&one_digits, one_scale, &other_digits, other_scale),
        (-1, -1) => compare_magnitudes(&other_digits, other_scale, &one_digits, one_scale),
        (one, other) => one.cmp(&other),
    }
}

/// Compares absolute values, by the place of the first digit if that is enough.
fn compare_magnitudes(one: &IBig, one_scale: i64, other: &IBig, other_scale: i64) -> Ordering {
    let (one, other) = (one.unsigned_abs(), other.unsigned_abs());
    let place = |magnitude: &UBig, scale: i64| {
        i64::try_from(powers::digit_count(magnitude)).unwrap_or(i64::MAX) - scale
    };
    place(&one, one_scale).cmp(&place(&other, other_scale)).then_with(|| {
        let missing = distance(one_scale, other_scale);
        match one_scale < other_scale {
            true => (one * &*powers::power(missing)).cmp(&other),
            false => one.cmp(&(other * &*powers::power(missing))),
        }
    })
}

fn rank(value: &Numeric) -> u8 {
    match value.0 {
        Repr::NegativeInfinity => 0,
        Repr::Small { .. } | Repr::Large { .. } => 1,
        Repr::Infinity => 2,
        Repr::Nan => 3,
    }
}
