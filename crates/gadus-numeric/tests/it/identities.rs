//! Identities of arithmetic, order and conversion, on random values.

use crate::random::{finite, numeric};
use gadus_base::Random;
use gadus_numeric::Numeric;
use std::hash::{BuildHasher, RandomState};

#[test]
fn subtraction_undoes_addition() {
    let mut random = Random::seeded(11);
    for _ in 0..4_000 {
        let (one, other) = (finite(&mut random), finite(&mut random));
        assert_eq!(one.add(&other).unwrap().subtract(&other).unwrap(), one);
        assert_eq!(one.add(&other).unwrap(), other.add(&one).unwrap());
    }
}

#[test]
fn multiplication_distributes_over_addition() {
    let mut random = Random::seeded(12);
    for _ in 0..3_000 {
        let (a, b, c) = (finite(&mut random), finite(&mut random), finite(&mut random));
        let product = a.multiply(&b.add(&c).unwrap()).unwrap();
        let sum = a.multiply(&b).unwrap().add(&a.multiply(&c).unwrap()).unwrap();
        assert_eq!(product, sum);
        assert_eq!(product.scale(), sum.scale());
    }
}

#[test]
fn quotient_and_remainder_make_the_dividend() {
    let mut random = Random::seeded(13);
    for _ in 0..4_000 {
        let (dividend, divisor) = (finite(&mut random), finite(&mut random));
        let (Ok(quotient), Ok(remainder)) =
            (dividend.quotient(&divisor), dividend.remainder(&divisor))
        else {
            assert!(divisor.is_zero());
            continue;
        };
        assert!(remainder.abs() < divisor.abs());
        assert_eq!(quotient.multiply(&divisor).unwrap().add(&remainder).unwrap(), dividend);
    }
}

#[test]
fn quotients_are_nearest_at_their_scale() {
    let mut random = Random::seeded(14);
    for _ in 0..3_000 {
        let (dividend, divisor) = (finite(&mut random), finite(&mut random));
        let Ok(quotient) = dividend.divide(&divisor) else { continue };
        let error = quotient.multiply(&divisor).unwrap().subtract(&dividend).unwrap().abs();
        let unit = Numeric::from_unscaled(1, quotient.scale().unwrap().into()).unwrap();
        let double = error.add(&error).unwrap();
        assert!(double <= unit.multiply(&divisor.abs()).unwrap(), "{dividend} / {divisor}");
    }
}

#[test]
fn roots_are_nearest_at_their_scale() {
    let mut random = Random::seeded(15);
    for _ in 0..1_500 {
        let value = finite(&mut random).abs();
        let root = value.sqrt().unwrap();
        let half = Numeric::from_unscaled(5, i32::from(root.scale().unwrap()) + 1).unwrap();
        let square = |value: Numeric| value.multiply(&value).unwrap();
        assert!(square(root.add(&half).unwrap()) >= value);
        assert!(root.is_zero() || square(root.subtract(&half).unwrap()) <= value);
    }
}

#[test]
fn order_is_total_and_hashes_agree_with_it() {
    let mut random = Random::seeded(16);
    let hashes = RandomState::new();
    for _ in 0..4_000 {
        let mut values = [numeric(&mut random), numeric(&mut random), numeric(&mut random)];
        values.sort();
        let [low, middle, high] = &values;
        assert!(low <= middle && middle <= high && low <= high);
        let wider = low.round(40).unwrap();
        if *low == wider {
            assert_eq!(hashes.hash_one(low), hashes.hash_one(&wider));
        }
        assert!(*high <= Numeric::NAN && *low >= Numeric::NEGATIVE_INFINITY);
    }
}

#[test]
fn text_is_read_as_it_was_written() {
    let mut random = Random::seeded(17);
    for _ in 0..4_000 {
        let value = numeric(&mut random);
        let read: Numeric = value.to_string().parse().unwrap();
        assert_eq!((read.scale(), read), (value.scale(), value));
    }
}

#[test]
fn integers_of_decimals_are_read_as_they_were_given() {
    let mut random = Random::seeded(18);
    for _ in 0..4_000 {
        let unscaled = i128::from(random.next_u64()) - i128::from(u64::MAX / 2);
        let scale = i32::try_from(random.below(20)).unwrap();
        let value = Numeric::from_unscaled(unscaled, scale).unwrap();
        assert_eq!(value.to_unscaled(scale), Some(unscaled));
        assert_eq!(value.to_unscaled(scale + 2), Some(unscaled * 100));
        let expected = (unscaled % 10 == 0).then_some(unscaled / 10);
        assert_eq!(value.to_unscaled(scale - 1), expected);
    }
    assert_eq!("1e40".parse::<Numeric>().unwrap().to_unscaled(0), None);
    assert_eq!("1e40".parse::<Numeric>().unwrap().to_unscaled(-5), Some(10_i128.pow(35)));
    assert_eq!(Numeric::NAN.to_unscaled(0), None);
}
