//! A sample of all values counts what a test lets pass.

use super::*;

fn text(text: &str) -> Datum {
    Datum::text(text)
}

#[test]
fn a_sample_counts_what_passes() {
    let mut values = ["", "a", "ab", "ab", "abc", "b", "b\u{fe}"].map(text).to_vec();
    values.sort();
    let sample = Sample { values: values.clone(), nulls: 2, repeated: 0 };
    assert_eq!(sample.rows(), 9);
    let bounds = ["", "a", "ab", "abd", "b", "c"].map(text);
    let mut tests = vec![Test::IsNotNull, Test::In(vec![text("ab"), text("b"), text("x")])];
    for bound in &bounds {
        tests.extend(Comparison::ALL.map(|comparison| Test::Compare(comparison, bound.clone())));
        tests.extend(bounds.iter().map(|high| Test::Between(bound.clone(), high.clone())));
        let Datum::Bytes(prefix) = bound else { panic!("texts are bytes") };
        tests.push(Test::StartsWith(prefix.to_vec()));
    }
    for test in tests {
        let expected = values.iter().filter(|value| test.passes(value)).count();
        assert_eq!(passing_of(&sample, &test), expected, "{test}");
    }
    assert_eq!(passing_of(&sample, &Test::IsNull), 2);
}
