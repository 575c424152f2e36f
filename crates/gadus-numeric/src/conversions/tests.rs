//! Facts about the ranges of conversions.

use crate::Numeric;

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

#[test]
fn integers_are_rounded_half_away_from_zero_and_checked() {
    assert_eq!(value("32767.4").to_i16().unwrap(), i16::MAX);
    assert_eq!(value("-32768.4").to_i16().unwrap(), i16::MIN);
    assert_eq!(value("32767.5").to_i16().unwrap_err().message(), "smallint out of range");
    assert_eq!(value("-2147483648.5").to_i32().unwrap_err().message(), "integer out of range");
    assert_eq!(value("1e100").to_i64().unwrap_err().message(), "bigint out of range");
    let error = Numeric::NAN.to_i32().unwrap_err();
    assert_eq!((error.sqlstate(), error.message()), ("0A000", "cannot convert NaN to integer"));
    let error = Numeric::NEGATIVE_INFINITY.to_i64().unwrap_err();
    assert_eq!(error.message(), "cannot convert infinity to bigint");
}

#[test]
fn doubles_are_the_nearest_ones() {
    // Beyond 2^53, with and without digits after the last bit.
    for text in [
        "9007199254740993",
        "9007199254740993.5",
        "12345678901234567.89",
        "18446744073709551615",
        "0.18446744073709551615",
        "1844674407370955.1615",
        "9007199254740992.5000000000000000001",
    ] {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(value(text).to_f64().unwrap().to_bits(), expected.to_bits(), "{text}");
        assert_eq!(value(text).negate().to_f64().unwrap().to_bits(), (-expected).to_bits());
    }
    let error = value("1e400").to_f64().unwrap_err();
    assert!(error.message().ends_with("is out of range for type double precision"));
    assert_eq!(value("1e-400").to_f64().unwrap_err().sqlstate(), "22003");
    assert_eq!(value("1e39").to_f32().unwrap_err().sqlstate(), "22003");
    assert_eq!(value("1e-400").nearest().to_bits(), 0.0_f64.to_bits());
}

#[test]
fn floating_point_numbers_have_6_or_15_digits() {
    assert_eq!(Numeric::from(0.1_f64 + 0.2).to_string(), "0.3");
    assert_eq!(Numeric::from(1.0_f64 / 3.0).to_string(), "0.333333333333333");
    assert_eq!(Numeric::from(1.0_f32 / 3.0).to_string(), "0.333333");
    assert_eq!(Numeric::from(-1e20_f64).to_string(), "-100000000000000000000");
    assert_eq!(Numeric::from(f64::NEG_INFINITY).to_string(), "-Infinity");
}
