//! Decimals, buckets and angles, with PostgreSQL's answers.

use super::{
    Decimal, acosd, asind, atan2d, atand, cosd, cotd, div, double_of_text, factorial, gcd, general,
    integer_of_double, integer_of_text, integer_within, lcm, min_scale, real_of_double,
    real_of_text, sind, tand, trim_scale, width_bucket_double, width_bucket_list,
    width_bucket_numeric,
};

fn decimal(text: &str) -> Decimal {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let unscaled = format!("{whole}{fraction}").parse().unwrap();
    Decimal { unscaled, scale: u8::try_from(fraction.len()).unwrap() }
}

#[test]
fn quotients_are_truncated() {
    for (dividend, divisor, quotient) in [
        ("7", "2", 3),
        ("-7.5", "2", -3),
        ("1", "0.0000000001", 10_000_000_000),
        ("0.001", "1000", 0),
        (
            "99999999999999999999999999999999999999",
            "3",
            33_333_333_333_333_333_333_333_333_333_333_333_333,
        ),
    ] {
        assert_eq!(div(decimal(dividend), decimal(divisor)).unwrap(), quotient);
    }
    assert_eq!(div(decimal("1"), decimal("0.0")).unwrap_err().sqlstate, "22012");
}

#[test]
fn scales_are_those_that_digits_need() {
    assert_eq!(min_scale(decimal("8.4100")), 2);
    assert_eq!(min_scale(decimal("0.000")), 0);
    assert_eq!(trim_scale(decimal("8.4100")), decimal("8.41"));
}

#[test]
fn buckets_are_of_equal_width() {
    for (value, low, high, count, bucket) in [
        ("5.35", "0.024", "10.06", 5, 3),
        ("-1", "0", "10", 5, 0),
        ("10", "0", "10", 5, 6),
        ("3", "10", "0", 5, 4),
        // PostgreSQL rounds a quotient that is nearly the next integer.
        ("10", "99999999999999999999999999", "0.000", 10, 11),
    ] {
        let bounds = (decimal(low), decimal(high));
        let found = width_bucket_numeric(decimal(value), bounds.0, bounds.1, count);
        assert_eq!(found.unwrap(), bucket, "{value}");
    }
    assert_eq!(width_bucket_double(5.35, 0.024, 10.06, 5).unwrap(), 3);
    assert_eq!(width_bucket_double(f64::INFINITY, 0.0, 1.0, 5).unwrap(), 6);
    let thresholds = [1.0, 3.0, 3.0, 9.0];
    assert_eq!(width_bucket_list(4, |index| 3.0 >= thresholds[index]), 3);
}

#[test]
fn histograms_without_width_are_refused() {
    let refused = |low, high, count| width_bucket_double(1.0, low, high, count).unwrap_err();
    assert_eq!(refused(0.0, 1.0, 0).message, "count must be greater than zero");
    assert_eq!(refused(1.0, 1.0, 3).message, "lower bound cannot equal upper bound");
    assert_eq!(refused(f64::NAN, 1.0, 3).sqlstate, "2201G");
    let error = refused(f64::INFINITY, 1.0, 3);
    assert_eq!(error.message, "lower and upper bounds must be finite");
    assert_eq!(width_bucket_double(2.0, 0.0, 1.0, i32::MAX).unwrap_err().sqlstate, "22003");
}

#[test]
fn angles_of_a_clock_are_exact() {
    assert_eq!(
        [0.0, 30.0, 90.0, 150.0, 270.0].map(|of| sind(of).unwrap()),
        [0.0, 0.5, 1.0, 0.5, -1.0]
    );
    assert_eq!(
        [0.0, 60.0, 90.0, 120.0, 180.0].map(|of| cosd(of).unwrap()),
        [1.0, 0.5, 0.0, -0.5, -1.0]
    );
    assert_eq!([0.0, 45.0, 135.0, 225.0].map(|of| tand(of).unwrap()), [0.0, 1.0, -1.0, 1.0]);
    assert_eq!([45.0, 90.0, 135.0].map(|of| cotd(of).unwrap()), [1.0, 0.0, -1.0]);
    assert_eq!(cotd(0.0).unwrap(), f64::INFINITY);
    assert_eq!(
        [-1.0, -0.5, 0.0, 0.5, 1.0].map(|of| asind(of).unwrap()),
        [-90.0, -30.0, 0.0, 30.0, 90.0]
    );
    assert_eq!(
        [-1.0, -0.5, 0.0, 0.5, 1.0].map(|of| acosd(of).unwrap()),
        [180.0, 120.0, 90.0, 60.0, 0.0]
    );
    assert_eq!((atand(1.0), atan2d(-1.0, 0.0)), (45.0, -90.0));
    assert_eq!(sind(f64::INFINITY).unwrap_err().message, "input is out of range");
    assert_eq!(asind(1.1).unwrap_err().sqlstate, "22003");
}

#[test]
fn integers_are_read_as_the_type_reads_them() {
    assert_eq!(integer_of_text(" -7 ").unwrap(), -7);
    assert_eq!(integer_of_text("x").unwrap_err().sqlstate, "22P02");
    assert_eq!(integer_of_text("2147483648").unwrap_err().sqlstate, "22003");
}

#[test]
fn doubles_have_six_digits_in_messages() {
    let spelled = [0.5, 1e10, 1_234_567.891, 1e-7, 7.0, -0.1].map(general);
    assert_eq!(spelled, ["0.5", "1e+10", "1.23457e+06", "1e-07", "7", "-0.1"]);
}

#[test]
fn divisors_multiples_and_factorials_stay_in_range() {
    assert_eq!(gcd(-330, 462).unwrap(), 66);
    assert_eq!(gcd(0, 0).unwrap(), 0);
    assert_eq!(gcd(i64::MIN, 0).unwrap_err().message, "bigint out of range");
    assert_eq!(lcm(-330, 462).unwrap(), 2310);
    assert_eq!(lcm(0, 5).unwrap(), 0);
    assert_eq!(lcm(i64::MAX, 2).unwrap_err().sqlstate, "22003");
    assert_eq!(factorial(20).unwrap(), 2_432_902_008_176_640_000);
    let error = factorial(-1).unwrap_err();
    assert_eq!(error.message, "factorial of a negative number is undefined");
    assert_eq!(factorial(34).unwrap_err().sqlstate, "22003");
}

#[test]
fn numbers_are_refused_beyond_the_range_of_a_narrower_type() {
    let bounds = (i16::MIN.into(), i16::MAX.into());
    assert_eq!(integer_of_double(2.5, bounds, "smallint").unwrap(), 2);
    assert_eq!(integer_of_double(-32_768.5, bounds, "smallint").unwrap(), -32_768);
    for wrong in [32_767.5, f64::NAN, f64::INFINITY] {
        let error = integer_of_double(wrong, bounds, "smallint").unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), ("22003", "smallint out of range"));
    }
    assert_eq!(integer_within(40_000, bounds, "smallint").unwrap_err().sqlstate, "22003");
    assert_eq!(real_of_double(f64::INFINITY).unwrap(), f32::INFINITY);
    assert_eq!(real_of_double(1e70).unwrap_err().message, "value out of range: overflow");
    assert_eq!(real_of_double(1e-70).unwrap_err().message, "value out of range: underflow");
    assert_eq!(double_of_text(" -1.5e3\n").unwrap(), -1500.0);
    assert_eq!(real_of_text("-Infinity").unwrap(), f32::NEG_INFINITY);
    assert_eq!(real_of_text("0e70").unwrap(), 0.0);
    for (text, sqlstate) in
        [("10e70", "22003"), ("-10e-70", "22003"), ("", "22P02"), ("1 2", "22P02")]
    {
        assert_eq!(real_of_text(text).unwrap_err().sqlstate, sqlstate, "{text}");
    }
}
