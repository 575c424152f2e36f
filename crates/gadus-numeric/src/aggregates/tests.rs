//! Facts about results of few values.

use super::{SumState, VarianceState};
use crate::Numeric;

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

#[test]
fn results_have_the_greatest_scale_of_the_values() {
    let mut state = SumState::new();
    ["1.5", "2.50", "3"].iter().for_each(|text| state.add(&value(text)));
    assert_eq!(state.sum().unwrap().unwrap().to_string(), "7.00");
    assert_eq!(state.average().unwrap().unwrap().to_string(), "2.3333333333333333");
    // The scale of the others is unknown.
    assert!(!state.remove(&value("2.50")));
    assert!(state.remove(&value("3")));
    assert_eq!(state.sum().unwrap().unwrap().to_string(), "4.00");
}

#[test]
fn special_values_can_be_removed() {
    let mut state = SumState::new();
    ["1", "inf", "-inf", "NaN"].iter().for_each(|text| state.add(&value(text)));
    assert_eq!(state.sum().unwrap().unwrap().to_string(), "NaN");
    assert!(state.remove(&value("NaN")) && state.remove(&value("-inf")));
    assert_eq!(state.average().unwrap().unwrap().to_string(), "Infinity");
    assert!(state.remove(&value("inf")));
    assert_eq!(state.sum().unwrap().unwrap().to_string(), "1");
    assert_eq!(state.count(), 1);
}

#[test]
fn a_sample_has_two_values_at_least() {
    let mut state = VarianceState::new();
    state.add(&value("2"));
    assert_eq!(state.var_samp().unwrap(), None);
    assert_eq!(state.var_pop().unwrap().unwrap().to_string(), "0");
    state.add(&value("4"));
    assert_eq!(state.var_samp().unwrap().unwrap().to_string(), "2.0000000000000000");
    assert_eq!(state.stddev_pop().unwrap().unwrap().to_string(), "1.00000000000000000000");
}
