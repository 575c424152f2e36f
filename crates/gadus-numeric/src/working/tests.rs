//! Facts about digits, groups, roundings and roots.

use super::{Working, leading_groups};
use crate::powers;
use dashu_int::{IBig, UBig};

fn number(digits: i128, scale: i64) -> Working {
    Working { digits: digits.into(), scale }
}

#[test]
fn digits_are_counted_next_to_powers_of_ten() {
    assert_eq!(powers::digit_count(&UBig::ZERO), 0);
    for exponent in (0..1_300).chain([20_000, 131_072]) {
        let power = powers::power(exponent);
        assert_eq!(powers::digit_count(&power), exponent + 1);
        assert_eq!(powers::digit_count(&(&*power - UBig::ONE)), exponent);
        assert_eq!(powers::digit_count(&(&*power * UBig::from(7_u8))), exponent + 1);
    }
}

#[test]
fn groups_are_counted_from_the_decimal_point() {
    for (digits, scale, weight, group) in [
        (1, 0, 0, 1),
        (12_345, 0, 1, 1),
        (12_345, 1, 0, 1_234),
        (5, 1, -1, 5_000),
        (5, 4, -1, 5),
        (5, 5, -2, 5_000),
        (-98_765_432, 4, 0, 9_876),
    ] {
        let leading = number(digits, scale).leading().unwrap();
        assert_eq!((leading.weight, leading.group), (weight, group), "{digits} {scale}");
        assert_eq!(number(digits, scale).weight(), weight);
    }
    let long = Working { digits: IBig::from(powers::power(50).into_owned() * 12_u8), scale: 2 };
    assert_eq!(long.leading().unwrap().group, 12);
    assert_eq!(leading_groups(&long.magnitude(), 2, 4), (12, 1));
    assert_eq!(leading_groups(&UBig::from(123_456_789_u32), 1, 2), (12_345_678, 2));
}

#[test]
fn halves_are_rounded_away_from_zero() {
    for (digits, scale, expected) in
        [(25, 0, 3), (-25, 0, -3), (24, 0, 2), (25, -1, 0), (50, -1, 1)]
    {
        assert_eq!(number(digits, 1).at_scale(scale), IBig::from(expected), "{digits} {scale}");
    }
    assert_eq!(number(1, 0).divide(&number(-3, 0), 3), number(-333, 3));
    assert_eq!(number(2, 0).divide(&number(3, 0), 3), number(667, 3));
    assert_eq!(number(2, 0).sqrt(3), number(1_414, 3));
    assert_eq!(number(15, 1).multiply(&number(15, 1), 1), number(23, 1));
}

#[test]
fn products_of_groups_after_the_guard_groups_are_left_out() {
    // Just above the middle of two results; the last groups' products are what it lies above it.
    let operand = number(49_990_001_999_999_995_000, 24);
    assert_eq!(operand.square_to_result(24), operand.square(24));
    assert_eq!(operand.square(24).digits, IBig::from(2_499_000_299_960_003_i64));
    assert_eq!(operand.multiply(&operand, 24), operand.square(24));
    let exact = operand.multiply(&operand, 48);
    assert_eq!(exact.at_scale(24), IBig::from(2_499_000_299_960_004_i64));
}

#[test]
fn operands_much_longer_than_the_result_are_truncated_without_effect() {
    let long = number(1, 0).divide(&number(7, 0), 3_000);
    let short = number(1, 0).divide(&number(7, 0), 60);
    assert_eq!(long.square(20), short.square(20));
    assert_eq!(long.multiply(&number(12_345, 2), 20), short.multiply(&number(12_345, 2), 20));
}

#[test]
fn first_groups_are_exact_next_to_each_other() {
    for exponent in [40, 100, 1_000, 30_000] {
        let power = powers::power(exponent);
        for group in [1_u16, 2, 9, 10, 99, 100, 1_234, 9_999] {
            let integer = &*power * group;
            // A scale that moves the first group before the decimal point.
            let scale = i64::try_from(exponent).unwrap();
            for (integer, expected) in [(&integer + 1_u8, group), (integer - 1_u8, group - 1)] {
                let leading = Working { digits: integer.into(), scale }.leading().unwrap();
                match expected {
                    0 => assert_eq!((leading.weight, leading.group), (-1, 9_999)),
                    _ => {
                        assert_eq!((leading.weight, leading.group), (0, expected.into()), "{group}")
                    }
                }
            }
        }
    }
}
