//! Facts about domains and scales.

use crate::{Numeric, Result};

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

fn text(result: Result<Numeric>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => format!("{} {}", error.sqlstate(), error.message()),
    }
}

#[test]
fn results_have_sixteen_significant_digits() {
    assert_eq!(text(value("2").sqrt()), "1.414213562373095");
    assert_eq!(text(value("1").exp()), "2.7182818284590452");
    assert_eq!(text(value("2").ln()), "0.6931471805599453");
    assert_eq!(text(value("100").log10()), "2.0000000000000000");
    assert_eq!(text(value("2").log(&value("64"))), "6.0000000000000000");
    assert_eq!(text(value("2").power(&value("0.5"))), "1.4142135623730950");
    assert_eq!(text(value("2").power(&value("-3"))), "0.1250000000000000");
}

#[test]
fn arguments_outside_of_the_domain_are_refused() {
    let root = "2201F cannot take square root of a negative number";
    assert_eq!(text(value("-1").sqrt()), root);
    assert_eq!(text(value("0").ln()), "2201E cannot take logarithm of zero");
    assert_eq!(text(value("-inf").ln()), "2201E cannot take logarithm of a negative number");
    assert_eq!(text(value("1").log(&value("5"))), "22012 division by zero");
    let zero = "2201F zero raised to a negative power is undefined";
    assert_eq!(text(value("0").power(&value("-1"))), zero);
    let complex = "2201F a negative number raised to a non-integer power yields a complex result";
    assert_eq!(text(value("-8").power(&value("0.3"))), complex);
}

#[test]
fn powers_of_infinities_follow_posix() {
    for (base, exponent, expected) in [
        ("NaN", "0", "1"),
        ("1", "NaN", "1"),
        ("-1", "inf", "1"),
        ("0.5", "inf", "0"),
        ("0.5", "-inf", "Infinity"),
        ("-inf", "3", "-Infinity"),
        ("-inf", "4", "Infinity"),
        ("-inf", "-3", "0"),
        ("inf", "-0.5", "0"),
    ] {
        assert_eq!(text(value(base).power(&value(exponent))), expected, "{base} ^ {exponent}");
    }
}
