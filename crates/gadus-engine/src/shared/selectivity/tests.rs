//! A sample of all values counts what a test lets pass.

use super::*;

fn text(text: &str) -> Datum {
    Datum::text(text)
}

#[test]
fn samples_count_what_passes_each_and_together() {
    let mut values = ["", "a", "ab", "ab", "abc", "b", "b\u{fe}"].map(text).to_vec();
    values.sort();
    let sample = Sample { values: values.clone(), nulls: 2, repeated: 0 };
    let other = Sample { values: ["ab", "c", "c"].map(text).to_vec(), nulls: 1, repeated: 0 };
    let together = Together::of(&[&sample, &other]);
    assert_eq!([sample.rows(), together.rows()], [9, 13]);
    let bounds = ["", "a", "ab", "abd", "b", "c", "d"].map(text);
    let mut tests = vec![Test::IsNotNull, Test::In(vec![text("ab"), text("b"), text("x")])];
    for bound in &bounds {
        tests.extend(Comparison::ALL.map(|comparison| Test::Compare(comparison, bound.clone())));
        tests.extend(bounds.iter().map(|high| Test::Between(bound.clone(), high.clone())));
        let Datum::Bytes(prefix) = bound else { panic!("texts are bytes") };
        tests.push(Test::StartsWith(prefix.to_vec()));
    }
    for test in tests {
        let count = |sample: &Sample| {
            let passing = sample.values.iter().filter(|value| test.passes(value));
            passing.count()
        };
        assert_eq!(sample.passing(&test), count(&sample), "{test:?}");
        assert_eq!(together.passing(&test), count(&sample) + count(&other), "{test:?}");
    }
    assert_eq!([sample.passing(&Test::IsNull), together.passing(&Test::IsNull)], [2, 3]);
}
