//! Facts about representation, text and type modifiers.

use super::{Numeric, Repr, TypeModifier};

fn value(text: &str) -> Numeric {
    text.parse().unwrap()
}

#[test]
fn a_value_takes_32_bytes_and_so_does_a_result() {
    assert_eq!(size_of::<Numeric>(), 32);
    assert_eq!(size_of::<crate::Result<Numeric>>(), 32);
}

#[test]
fn the_representation_is_small_exactly_if_the_integer_fits_128_bits() {
    for text in [i128::MAX.to_string(), i128::MIN.to_string()] {
        assert!(matches!(value(&text).0, Repr::Small { .. }));
        assert!(matches!(value(&format!("{text}0")).0, Repr::Large { .. }));
        assert!(matches!(value(&format!("{text}.0")).trim_scale().0, Repr::Small { .. }));
    }
    let beyond = value(&i128::MIN.to_string()).negate();
    assert!(matches!(beyond.0, Repr::Large { .. }));
    assert!(matches!(beyond.negate().0, Repr::Small { unscaled: i128::MIN, scale: 0 }));
}

#[test]
fn exponents_move_the_decimal_point_and_the_scale() {
    for (text, expected) in [
        ("1e5", "100000"),
        ("1.25e1", "12.5"),
        ("1.25e-3", "0.00125"),
        ("-.5E+2", "-50"),
        ("5.", "5"),
        ("0e-3", "0.000"),
        ("1e 2", "100"),
        (" \t+7\n", "7"),
        ("-0.00", "0.00"),
    ] {
        assert_eq!(value(text).to_string(), expected, "{text}");
    }
}

#[test]
fn other_texts_are_refused() {
    for text in
        ["", " ", ".", "-", "1.2.3", "e5", "1e", "1x", "--1", "-NaN", "infi", "1_000", "0x1"]
    {
        let error = text.parse::<Numeric>().unwrap_err();
        assert_eq!(error.sqlstate(), "22P02");
        let message = format!("invalid input syntax for type numeric: \"{text}\"");
        assert_eq!(error.message(), message);
    }
}

#[test]
fn type_modifiers_round_and_refuse() {
    let modified = |text, precision, scale| {
        TypeModifier::new(precision, Some(scale)).unwrap().apply(&value(text))
    };
    assert_eq!(modified("1.125", 3, 2).unwrap().to_string(), "1.13");
    assert_eq!(modified("1250", 2, -2).unwrap().to_string(), "1300");
    assert_eq!(modified("0.0012", 2, 4).unwrap().to_string(), "0.0012");
    assert_eq!(modified("NaN", 2, 0).unwrap().to_string(), "NaN");
    let error = modified("99.96", 3, 1).unwrap_err();
    assert_eq!(error.message(), "numeric field overflow");
    let detail =
        "A field with precision 3, scale 1 must round to an absolute value less than 10^2.";
    assert_eq!(error.detail(), Some(detail));
    let detail = "A field with precision 3, scale 1 cannot hold an infinite value.";
    assert_eq!(modified("inf", 3, 1).unwrap_err().detail(), Some(detail));
    let detail = "A field with precision 2, scale 2 must round to an absolute value less than 1.";
    assert_eq!(modified("1", 2, 2).unwrap_err().detail(), Some(detail));
}

#[test]
fn type_modifiers_are_packed_as_in_the_catalogs() {
    for (precision, scale) in [(10, 2), (1, 0), (1000, 1000), (1000, -1000), (38, -3)] {
        let modifier = TypeModifier::new(precision, Some(scale)).unwrap();
        assert_eq!(TypeModifier::from_packed(modifier.packed()), Some(modifier));
        assert_eq!(modifier.to_string(), format!("({precision},{scale})"));
    }
    assert_eq!(TypeModifier::new(10, Some(2)).unwrap().packed(), 655_366);
    assert_eq!(TypeModifier::from_packed(-1), None);
    for list in [&[0][..], &[1001], &[10, 1001], &[10, -1001], &[], &[1, 2, 3]] {
        assert_eq!(TypeModifier::from_list(list).unwrap_err().sqlstate(), "22023");
    }
}

#[test]
fn digits_of_long_integers_are_those_of_the_library() {
    for exponent in 0..450 {
        for addend in [0_u8, 7] {
            let integer = &*crate::powers::power(exponent) - 1_u8 + addend;
            assert_eq!(super::decimal_digits(&integer), integer.to_string());
        }
    }
}
