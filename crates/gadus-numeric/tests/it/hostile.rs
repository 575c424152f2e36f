//! Calls with extreme operands end soon, within the limits of the type, and when the statement is cancelled.

use gadus_base::{Interrupt, interruptible};
use gadus_numeric::{Numeric, NumericError, TypeModifier};
use std::sync::Arc;

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

fn sqlstate<T: std::fmt::Debug>(result: Result<T, NumericError>) -> &'static str {
    result.unwrap_err().sqlstate()
}

#[test]
fn huge_exponents_overflow_before_they_take_memory() {
    for text in ["1e131072", "1e999999999", "1e99999999999999999999", "1e-16384", "1e-999999999"] {
        assert_eq!(sqlstate(text.parse::<Numeric>()), "22003", "{text}");
    }
    let modifier = TypeModifier::new(10, Some(2)).unwrap();
    assert_eq!(sqlstate(Numeric::parse("1e999999999", Some(modifier))), "22003");
    assert_eq!(Numeric::parse("1e-999999999", Some(modifier)).unwrap().to_string(), "0.00");
}

#[test]
fn huge_powers_overflow_or_vanish() {
    assert_eq!(sqlstate(value("10").power(&value("1e100"))), "22003");
    assert_eq!(sqlstate(value("10").power(&value("131072"))), "22003");
    assert_eq!(sqlstate(value("1e131071").power(&value("2147483647"))), "22003");
    assert!(value("1e131071").power(&value("-1.5e9")).unwrap().is_zero());
}

#[test]
fn huge_factorials_and_exponentials_overflow() {
    assert_eq!(sqlstate(Numeric::factorial(i64::MAX)), "22003");
    assert_eq!(sqlstate(Numeric::factorial(32_178)), "22003");
    assert_eq!(Numeric::factorial(32_177).unwrap().to_string().len(), 131_068);
    assert_eq!(sqlstate(value("6000").exp()), "22003");
    assert!(value("-1e131071").exp().unwrap().is_zero());
}

#[test]
fn results_beyond_the_limits_overflow() {
    let huge = value("9e131071");
    assert_eq!(sqlstate(huge.add(&huge)), "22003");
    assert_eq!(sqlstate(huge.multiply(&huge)), "22003");
    assert_eq!(sqlstate(huge.divide(&value("1e-16383"))), "22003");
    assert_eq!(sqlstate(value("9.9e131071").round(-131_071)), "22003");
    assert!(huge.round(-131_073).unwrap().is_zero());
    assert!(value("1e-16383").multiply(&value("1e-16383")).unwrap().is_zero());
}

#[test]
fn powers_of_a_hundred_thousand_digits_are_computed() {
    let power = value("11.125").power(&value("99999.00")).unwrap();
    assert_eq!(power.to_string().len(), 104_646);
    let base = format!("0.{}", "00009999500049990001".repeat(819));
    assert_eq!(value(&base).power(&value("2")).unwrap().scale(), Some(1_000));
}

#[test]
fn functions_of_the_longest_fractions_end_soon() {
    let fraction = value("1").round(16_383).unwrap().divide(&value("7")).unwrap();
    let fraction = fraction.add(&value("1e-16383")).unwrap();
    assert_eq!(fraction.exp().unwrap().scale(), Some(1_000));
    assert_eq!(fraction.ln().unwrap().scale(), Some(1_000));
    assert_eq!(fraction.power(&value("2")).unwrap().scale(), Some(1_000));
    assert_eq!(fraction.power(&value("1.5")).unwrap().scale(), Some(1_000));
    assert_eq!(fraction.sqrt().unwrap().scale(), Some(1_000));
}

#[test]
fn long_computations_end_when_the_statement_is_cancelled() {
    #[derive(Debug)]
    struct Cancelled;
    impl Interrupt for Cancelled {
        fn is_requested(&self) -> bool {
            true
        }
    }
    let results = interruptible(Some(Arc::new(Cancelled)), || {
        [
            Numeric::factorial(30_000),
            value("1.00001").power(&value("1000000000")),
            value("1.5").power(&value("1.5")),
            value("5000").exp(),
            value("12345.678").ln(),
            value("9e131070").gcd(&value("123456789e-16000")),
        ]
    });
    assert!(results.iter().all(|result| result.as_ref().is_err_and(NumericError::is_cancellation)));
}
