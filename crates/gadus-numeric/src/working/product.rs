//! Products that are rounded as PostgreSQL rounds them.
//!
//! - PostgreSQL multiplies groups of four digits, and leaves out products of groups that are more than two groups after
//!   the last digit of the result. Their sum may be what a product lies above the middle of two results.

use super::{Working, distance};
use crate::limits::GROUP_DIGITS;
use crate::powers;
use crate::value::decimal_digits;
use dashu_int::ops::DivRem;
use dashu_int::{IBig, UBig};
use std::borrow::Cow;

/// Groups after the last digit of a result that are multiplied.
const GUARD_GROUPS: i64 = 2;
/// Values of a group.
const GROUP_BASE: u64 = 10_000;
/// Digits of a product beyond twice those of the result from which on the operands are worth truncating.
const SURPLUS_MIN: i64 = 64;

/// Groups of an intermediate product whose left out products are computed, in quadratic time. Longer ones have digits
/// after those of the result, where an error does not show.
const INTERMEDIATE_GROUPS_MAX: i64 = 1_024;
/// Groups of a result whose left out products are computed: all.
const RESULT_GROUPS_MAX: i64 = i64::MAX;

impl Working {
    /// Multiplies and rounds an intermediate product.
    pub(crate) fn multiply(&self, other: &Self, scale: i64) -> Self {
        if self.scale + other.scale <= scale {
            let digits = &self.digits * &other.digits;
            return Self { digits, scale: self.scale + other.scale };
        }
        let (one, two) = (self.without_left_out(other, scale), other.without_left_out(self, scale));
        round_product(&one.digits * &two.digits, (&one, &two), scale, INTERMEDIATE_GROUPS_MAX)
    }

    /// Squares and rounds an intermediate product.
    pub(crate) fn square(&self, scale: i64) -> Self {
        self.square_within(scale, INTERMEDIATE_GROUPS_MAX)
    }

    /// Squares and rounds a result.
    pub(crate) fn square_to_result(&self, scale: i64) -> Self {
        self.square_within(scale, RESULT_GROUPS_MAX)
    }

    fn square_within(&self, scale: i64, groups_max: i64) -> Self {
        if self.scale * 2 <= scale {
            return Self { digits: self.digits.sqr().into(), scale: self.scale * 2 };
        }
        let one = self.without_left_out(self, scale);
        round_product(one.digits.sqr().into(), (&one, &one), scale, groups_max)
    }

    /// Truncates digits that no product with the other operand is made of.
    fn without_left_out(&self, other: &Self, scale: i64) -> Cow<'_, Self> {
        if self.scale + other.scale <= scale * 2 + SURPLUS_MIN {
            return Cow::Borrowed(self);
        }
        let last = (group_count(scale) + GUARD_GROUPS + other.weight().max(0)) * GROUP_DIGITS;
        match last < self.scale {
            true => {
                let power = powers::power(distance(self.scale, last));
                let digits = &self.digits / IBig::from(power.into_owned());
                Cow::Owned(Self { digits, scale: last })
            }
            false => Cow::Borrowed(self),
        }
    }
}

fn round_product(
    product: IBig,
    (one, other): (&Working, &Working),
    scale: i64,
    groups_max: i64,
) -> Working {
    if one.scale + other.scale <= scale {
        return Working { digits: product, scale: one.scale + other.scale };
    }
    let (sign, magnitude) = product.into_parts();
    let power = powers::power(distance(one.scale + other.scale, scale));
    let (quotient, remainder) = magnitude.div_rem(&*power);
    let excess = IBig::from(remainder << 1) - &*power;
    let is_up = excess >= IBig::ZERO && !is_left_out(&excess, (one, other), scale, groups_max);
    let rounded = if is_up { quotient + 1_u8 } else { quotient };
    Working { digits: IBig::from_parts(sign, rounded), scale }
}

/// Returns true if products that are left out add up to more than half of `excess`.
fn is_left_out(
    excess: &IBig,
    (one, other): (&Working, &Working),
    scale: i64,
    groups_max: i64,
) -> bool {
    let (groups, other_groups) = (group_count(one.scale), group_count(other.scale));
    let last = group_count(scale) + GUARD_GROUPS;
    let count = groups + other_groups - last;
    if count <= 0 || count > groups_max {
        return false;
    }
    // A group times the digits that are left out is less than the group at the last place.
    let own_scale = one.scale + other.scale;
    let place = usize::try_from(own_scale - (last - 1) * GROUP_DIGITS).unwrap_or(0);
    let bound = (IBig::from(groups + other_groups) * &*powers::power(place)) << 1;
    if *excess >= bound {
        return false;
    }
    let left_out =
        left_out(&last_groups(one, groups, count), &last_groups(other, other_groups, count));
    let padding = distance((groups + other_groups) * GROUP_DIGITS, own_scale);
    IBig::from(left_out << 1) > excess * &*powers::power(padding)
}

/// Adds products of groups whose places, counted from the end, add up to less than the count of the groups.
fn left_out(one: &[u64], other: &[u64]) -> UBig {
    let mut text = Vec::with_capacity((one.len() + 2) * 4);
    let mut carry = 0;
    for place in 0..one.len() {
        let pairs = one[..=place].iter().zip(other[..=place].iter().rev());
        // Each product is below 10^8, and there are fewer than 10^6.
        carry += pairs.map(|(one, other)| one * other).sum::<u64>();
        text.push(carry % GROUP_BASE);
        carry /= GROUP_BASE;
    }
    let groups = text.iter().rev().map(|group| format!("{group:04}"));
    let text = groups.fold(carry.to_string(), |text, group| text + &group);
    UBig::from_str_radix(&text, 10).unwrap_or(UBig::ZERO)
}

/// Returns the last groups of a fraction, the last one first.
fn last_groups(number: &Working, groups: i64, count: i64) -> Vec<u64> {
    let padding = powers::power(distance(groups * GROUP_DIGITS, number.scale));
    let (count, digits) = match usize::try_from(count) {
        Ok(count) => (count, count * 4),
        Err(_) => return Vec::new(),
    };
    let last = (number.magnitude() * &*padding) % &*powers::power(digits);
    let text = decimal_digits(&last);
    let text = "0".repeat(digits - text.len()) + &text;
    let group = |end: usize| text[end - 4..end].parse().unwrap_or(0);
    (0..count).map(|index| group(digits - index * 4)).collect()
}

/// Returns the groups of a fraction.
fn group_count(scale: i64) -> i64 {
    (scale + GROUP_DIGITS - 1).div_euclid(GROUP_DIGITS)
}
