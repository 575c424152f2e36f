//! Templates of numbers, with PostgreSQL's answers.

use super::{
    bigint_to_char, decimal_to_char, double_to_char, fraction_digits, integer_to_char, to_number,
};
use crate::numbers::Decimal;

fn decimal(text: &str) -> Decimal {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{fraction}").parse().unwrap();
    Decimal { unscaled, scale: u8::try_from(fraction.len()).unwrap() }
}

#[test]
fn numbers_are_written_by_a_template() {
    for (value, template, expected) in [
        ("-485.8", "9999.99", " -485.80"),
        ("485", "999MI", "485 "),
        ("-485", "FM999MI", "485-"),
        ("485", "SG999", "+485"),
        ("-485", "999PR", "<485>"),
        ("485", "L999", "  485"),
        ("485", "RN", "        CDLXXXV"),
        ("5.2", "FMRN", "V"),
        ("482", "999th", " 482nd"),
        ("485", "\"Good number:\"999", "Good number: 485"),
        ("485.8", "\"Pre:\"999\" Post:\" .999", "Pre: 485 Post: .800"),
        ("12", "99V999", " 12000"),
        ("12.45", "99V9", " 125"),
        ("0.0004859", "9.99EEEE", " 4.86e-04"),
        ("-0.1", "99.99", "  -.10"),
        ("0.1", "FM9.99", ".1"),
        ("0", "FM9.99", "0."),
        ("148.5", "FM999.990", "148.500"),
        ("-0.1", "FM90.99", "-0.1"),
        ("1485", "9,999", " 1,485"),
        ("1485", "9G999", " 1,485"),
        ("148.5", "999D999", " 148.500"),
        ("485", "00999", " 00485"),
        ("12345", "999", " ###"),
        ("-12", "S999", " -12"),
        ("12", "999S", " 12+"),
        ("4000", "RN", "###############"),
        ("3.14", "FM9.9999999", "3.14"),
        ("1", "B9", " 1"),
    ] {
        assert_eq!(
            decimal_to_char(decimal(value), template).unwrap(),
            expected,
            "{value} {template}"
        );
    }
}

#[test]
fn types_have_their_own_rounding_and_range() {
    assert_eq!(integer_to_char(25, "9EEEE").unwrap(), " 2e+01");
    assert_eq!(bigint_to_char(25, "9EEEE").unwrap(), " 3e+01");
    assert_eq!(double_to_char(0.1, "0.9").unwrap(), " 0.1");
    assert_eq!(double_to_char(f64::NAN, "999").unwrap(), " NaN");
    assert_eq!(
        double_to_char(123_456_789_012_345_680.0, "FM999999999999999999D99").unwrap(),
        "123456789012345680"
    );
    assert_eq!(bigint_to_char(i64::MAX, "9V9").unwrap_err().message, "bigint out of range");
    assert_eq!(bigint_to_char(i64::MAX, "RN").unwrap_err().message, "integer out of range");
    assert_eq!(bigint_to_char(7, "").unwrap(), "");
}

#[test]
fn numbers_are_read_by_a_template() {
    for (text, template, expected) in [
        ("12,454.8-", "99G999D9S", "-12454.8"),
        ("-34,338,492", "99G999G999", "-34338492"),
        ("<564646.654564>", "999999.999999PR", "-564646.654564"),
        ("5 4 4 4 4 8 . 7 8", "9 9 9 9 9 9 . 9 9", "544448.78"),
        ("$1,234.56", "L99,999.99", "1234.56"),
        ("42nd", "99th", "42"),
        ("123456", "999V999", "123.456"),
    ] {
        assert_eq!(to_number(text, template).unwrap(), Some(decimal(expected)), "{text}");
    }
    assert_eq!(to_number("1", "").unwrap(), None);
    assert_eq!(to_number("", "9").unwrap_err().sqlstate, "22P02");
    let error = to_number("123", "9.9").unwrap_err();
    assert_eq!(error.message, "numeric field overflow");
    assert_eq!(to_number("1", "RN").unwrap_err().sqlstate, "0A000");
    assert_eq!(fraction_digits("99.999"), 3);
}

#[test]
fn contradictory_templates_are_refused() {
    for (template, message) in [
        ("9.9.9", "multiple decimal points"),
        ("9V9.9", "cannot use \"V\" and decimal point together"),
        ("S9S", "cannot use \"S\" twice"),
        ("S9MI", "cannot use \"S\" and \"MI\" together"),
        ("9PR9", "\"9\" must be ahead of \"PR\""),
        ("9EEEE9", "\"EEEE\" must be the last pattern used"),
        ("FM9EEEE", "\"EEEE\" is incompatible with other formats"),
    ] {
        let error = bigint_to_char(1, template).unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), ("42601", message), "{template}");
    }
}
