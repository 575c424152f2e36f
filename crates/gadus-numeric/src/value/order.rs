//! Order and equality, by value: 1.1 equals 1.10.
//!
//! - NaN equals NaN and is greater than every other value, as PostgreSQL sorts it.

use super::{Numeric, Repr};
use crate::powers;
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, UBig};
use std::cmp::Ordering;

impl Ord for Numeric {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        if let (
            Repr::Small { unscaled: one, scale: scale_of_one },
            Repr::Small { unscaled: two, scale: scale_of_two },
        ) = (&self.0, &other.0)
        {
            if scale_of_one == scale_of_two {
                return one.cmp(two);
            }
            if let Some(ordering) = compare_small((*one, *scale_of_one), (*two, *scale_of_two)) {
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
fn compare_small(one: (i128, u16), two: (i128, u16)) -> Option<Ordering> {
    let scale = one.1.max(two.1);
    let scaled = |(unscaled, own): (i128, u16)| {
        powers::small_power(usize::from(scale - own)).and_then(|power| unscaled.checked_mul(power))
    };
    Some(scaled(one)?.cmp(&scaled(two)?))
}

#[cold]
fn compare_any(one: &Numeric, two: &Numeric) -> Ordering {
    let (Ok((one_digits, one_scale)), Ok((two_digits, two_scale))) = (one.parts(), two.parts())
    else {
        return rank(one).cmp(&rank(two));
    };
    match (one.signum(), two.signum()) {
        (1, 1) => magnitudes(&one_digits, one_scale, &two_digits, two_scale),
        (-1, -1) => magnitudes(&two_digits, two_scale, &one_digits, one_scale),
        (one, two) => one.cmp(&two),
    }
}

/// Compares absolute values, by the place of the first digit if that is enough.
fn magnitudes(one: &IBig, one_scale: i64, two: &IBig, two_scale: i64) -> Ordering {
    let (one, two) = (one.unsigned_abs(), two.unsigned_abs());
    if one_scale == two_scale {
        return one.cmp(&two);
    }
    let weight = |magnitude: &UBig, scale: i64| {
        i64::try_from(powers::digit_count(magnitude)).unwrap_or(i64::MAX) - scale
    };
    let by_weight = weight(&one, one_scale).cmp(&weight(&two, two_scale));
    by_weight.then_with(|| {
        let missing = usize::try_from(one_scale.abs_diff(two_scale)).unwrap_or(usize::MAX);
        match one_scale < two_scale {
            true => (one * &*powers::power(missing)).cmp(&two),
            false => one.cmp(&(two * &*powers::power(missing))),
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
