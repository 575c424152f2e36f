//! Groups of four decimal digits, counted from the decimal point: PostgreSQL computes in base 10000, and chooses scales
//! of results by the first groups of the operands.

use crate::limits::GROUP_DIGITS;
use crate::powers;
use dashu_int::UBig;
use dashu_int::ops::DivRem;

/// First group of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leading {
    /// Place of the group: 0 directly before the decimal point.
    pub(crate) weight: i64,
    /// Value of the group: 1 to 9999.
    pub(crate) group: u64,
}

/// Returns the first group of `magnitude / 10^scale`; `None` of zero.
pub(crate) fn leading_of(magnitude: &UBig, scale: i64) -> Option<Leading> {
    if let Ok(small) = u128::try_from(magnitude) {
        return leading_of_small(small, scale);
    }
    if let Some((group, digits)) = powers::leading_digits(magnitude, |count| place(count, scale).1)
    {
        return Some(Leading { weight: place(digits, scale).0, group });
    }
    let digits = powers::digit_count(magnitude);
    let (weight, length) = place(digits, scale);
    let group = magnitude / &*powers::power(digits - length);
    Some(Leading { weight, group: u64::try_from(group).unwrap_or(0) })
}

/// Returns the first group of `magnitude / 10^scale`; `None` of zero.
#[inline]
pub(crate) fn leading_of_small(magnitude: u128, scale: i64) -> Option<Leading> {
    if magnitude == 0 {
        return None;
    }
    let digits = powers::small_digit_count(magnitude);
    let (weight, length) = place(digits, scale);
    let group = match digits.checked_sub(length) {
        Some(surplus) => {
            let divisor = powers::small_power(surplus).unwrap_or(i128::MAX).unsigned_abs();
            // Division of 64 bits is several times faster than that of 128.
            match (u64::try_from(magnitude), u64::try_from(divisor)) {
                (Ok(magnitude), Ok(divisor)) => magnitude / divisor,
                _ => u64::try_from(magnitude / divisor).unwrap_or(0),
            }
        }
        None => {
            let factor = powers::small_power(length - digits).unwrap_or(0).unsigned_abs();
            u64::try_from(magnitude * factor).unwrap_or(0)
        }
    };
    Some(Leading { weight, group })
}

/// Returns the place of the first group; 0 of zero.
pub(super) fn weight_of(magnitude: &UBig, scale: i64) -> i64 {
    match powers::digit_count(magnitude) {
        0 => 0,
        digits => place(digits, scale).0,
    }
}

/// Returns the first groups, as one integer, and their count: up to `count_max`, without zeros at the end.
pub(crate) fn leading_groups(magnitude: &UBig, scale: i64, count_max: usize) -> (u64, i64) {
    let digits = powers::digit_count(magnitude);
    let (_, length) = place(digits, scale);
    let group_digits = usize::try_from(GROUP_DIGITS).unwrap_or(0);
    let wanted = length + (count_max - 1) * group_digits;
    let (top, rest) = match digits.checked_sub(wanted) {
        Some(surplus) => magnitude.div_rem(&*powers::power(surplus)),
        None => (magnitude * &*powers::power(wanted - digits), UBig::ZERO),
    };
    let (mut top, mut count) = (u64::try_from(top).unwrap_or(0), count_max);
    let _ = rest;
    while count > 1 && top % 10_000 == 0 {
        top /= 10_000;
        count -= 1;
    }
    (top, i64::try_from(count).unwrap_or(0))
}

/// Returns the place of the first group of a number of `digits` digits, and how many of them are in the group.
#[inline]
fn place(digits: usize, scale: i64) -> (i64, usize) {
    let exponent = i64::try_from(digits).unwrap_or(i64::MAX) - 1 - scale;
    let length = usize::try_from(exponent.rem_euclid(GROUP_DIGITS)).unwrap_or(0) + 1;
    (exponent.div_euclid(GROUP_DIGITS), length)
}
