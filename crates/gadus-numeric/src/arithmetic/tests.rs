//! Facts about scales and special values of results.

use crate::{Numeric, Result};

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

fn text(result: Result<Numeric>) -> String {
    result.map_or_else(|error| error.to_string(), |value| value.to_string())
}

#[test]
fn sums_have_the_greater_scale_and_products_the_sum_of_both() {
    assert_eq!(text(value("1.10").add(&value("2.5"))), "3.60");
    assert_eq!(text(value("1.10").subtract(&value("1.1"))), "0.00");
    assert_eq!(text(value("1.10").multiply(&value("2.5"))), "2.750");
}

#[test]
fn quotients_have_sixteen_digits_in_groups_of_four() {
    assert_eq!(text(value("1").divide(&value("3"))), "0.33333333333333333333");
    assert_eq!(text(value("3").divide(&value("1"))), "3.0000000000000000");
    assert_eq!(text(value("100000").divide(&value("3"))), "33333.333333333333");
    assert_eq!(text(value("-2").divide(&value("3"))), "-0.66666666666666666667");
}

#[test]
fn results_of_128_bits_continue_without_a_limit() {
    let large = Numeric::from(i128::MAX);
    assert_eq!(text(large.add(&large)), "340282366920938463463374607431768211454");
    assert_eq!(text(large.add(&large).unwrap().subtract(&large)), large.to_string());
    let square = large.multiply(&large).unwrap();
    assert_eq!(text(square.quotient(&large)), large.to_string());
}

#[test]
fn infinities_follow_posix() {
    let (infinity, negative) = (Numeric::INFINITY, Numeric::NEGATIVE_INFINITY);
    assert_eq!(text(infinity.add(&negative)), "NaN");
    assert_eq!(text(infinity.subtract(&negative)), "Infinity");
    assert_eq!(text(infinity.multiply(&value("-2"))), "-Infinity");
    assert_eq!(text(infinity.multiply(&Numeric::ZERO)), "NaN");
    assert_eq!(text(value("5.00").divide(&negative)), "0");
    assert_eq!(text(infinity.divide(&Numeric::ZERO)), "division by zero");
    assert_eq!(text(value("5.00").remainder(&infinity)), "5.00");
}

#[test]
fn halves_are_rounded_away_from_zero() {
    for (operand, scale, expected) in [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("0.125", 2, "0.13"),
        ("1250", -2, "1300"),
        ("49", -2, "0"),
        ("50", -2, "100"),
        ("1.5", 3, "1.500"),
    ] {
        assert_eq!(text(value(operand).round(scale)), expected);
    }
    assert_eq!(value("-2.99").truncate(1).to_string(), "-2.9");
    assert_eq!(text(value("-2.01").floor()), "-3");
    assert_eq!(text(value("-2.99").ceil()), "-2");
}

#[test]
fn long_operands_have_a_greatest_common_divisor() {
    // More words than the library's algorithm is given.
    let factor = Numeric::factorial(300).unwrap();
    let one = factor.multiply(&value("1e400").add(&Numeric::ONE).unwrap()).unwrap();
    let other = factor.multiply(&value("1e400")).unwrap();
    assert_eq!(text(one.gcd(&other)), factor.to_string());
}

#[test]
fn zeros_at_the_end_of_the_fraction_are_trimmed() {
    for (operand, scale) in
        [("1.100", 1), ("100", 0), ("0.000", 0), ("1.0000000000000000000000000000000000000000", 0)]
    {
        let value = value(operand);
        assert_eq!(value.min_scale(), Some(scale));
        assert_eq!(value.trim_scale(), value);
        assert_eq!(value.trim_scale().scale(), Some(scale));
    }
    let long = value("3").divide(&value("1")).unwrap().round(16_383).unwrap();
    assert_eq!(long.trim_scale().to_string(), "3");
}
