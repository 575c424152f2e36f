//! Bytes of values: they sort as the values, and only they are read.

use crate::random::numeric;
use gadus_base::Random;
use gadus_numeric::Numeric;
use std::cmp::Ordering;

fn written(value: &Numeric) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    bytes
}

#[test]
fn values_are_read_as_they_were_written() {
    let mut random = Random::seeded(1);
    for _ in 0..4_000 {
        let value = numeric(&mut random);
        let read = Numeric::read(&written(&value)).unwrap();
        assert_eq!(read, value);
        assert_eq!(read.scale(), value.scale());
        assert_eq!(read.to_string(), value.to_string());
    }
}

#[test]
fn bytes_sort_as_values() {
    let mut random = Random::seeded(2);
    for _ in 0..4_000 {
        let one = numeric(&mut random);
        // A neighbour of many digits' distance, or any value.
        let other = match random.below(3) {
            0 => one.add(&numeric(&mut random)).unwrap_or(Numeric::ONE),
            1 => one.truncate(i32::try_from(random.below(8)).unwrap() - 3),
            _ => numeric(&mut random),
        };
        let (bytes, other_bytes) = (written(&one), written(&other));
        let ordering = one.cmp(&other);
        assert_eq!(Numeric::compare_bytes(&bytes, &other_bytes), ordering, "{one} {other}");
        assert_eq!(Numeric::key(&bytes) == Numeric::key(&other_bytes), ordering == Ordering::Equal);
        assert_eq!(other.cmp(&one), ordering.reverse());
    }
}

#[test]
fn keys_are_parts_of_longer_keys() {
    let mut random = Random::seeded(3);
    for _ in 0..1_500 {
        let (one, other) = (numeric(&mut random), numeric(&mut random));
        let suffixes = [random.next_u64().to_be_bytes(), random.next_u64().to_be_bytes()];
        let joined =
            |value: &Numeric, suffix: &[u8]| [Numeric::key(&written(value)), suffix].concat();
        let expected = one.cmp(&other).then_with(|| suffixes[0].cmp(&suffixes[1]));
        assert_eq!(joined(&one, &suffixes[0]).cmp(&joined(&other, &suffixes[1])), expected);
        let bytes = [written(&one), suffixes[0].to_vec()].concat();
        let (value, rest) = Numeric::split(&bytes).unwrap();
        assert_eq!((Numeric::read(value).unwrap(), rest), (one, &suffixes[0][..]));
    }
}

#[test]
fn equal_values_have_equal_keys_at_every_scale() {
    for (one, other) in [("1.1", "1.10"), ("0", "0.000"), ("-100", "-100.00"), ("1e40", "1e40")] {
        let other = other.parse::<Numeric>().unwrap().round(50).unwrap();
        let (one, other) = (written(&one.parse().unwrap()), written(&other));
        assert_eq!(Numeric::key(&one), Numeric::key(&other));
        assert_ne!(one, other);
    }
}

#[test]
fn amounts_of_money_are_short() {
    for (text, length) in [("0.00", 3), ("19.90", 5), ("-123456.78", 7), ("1234567890123.45", 11)] {
        assert_eq!(written(&text.parse().unwrap()).len(), length, "{text}");
    }
}

#[test]
fn every_changed_byte_gives_an_error_or_another_value() {
    let mut random = Random::seeded(4);
    for _ in 0..4_000 {
        let value = numeric(&mut random);
        let mut bytes = written(&value);
        let position = usize::try_from(random.below(bytes.len().try_into().unwrap())).unwrap();
        bytes[position] ^= 1 << random.below(8);
        if let Ok(read) = Numeric::read(&bytes) {
            assert_eq!(written(&read), bytes, "a value has one encoding");
        }
    }
}

#[test]
fn random_bytes_are_read_without_a_panic() {
    let mut random = Random::seeded(5);
    for _ in 0..20_000 {
        let bytes: Vec<u8> =
            (0..random.below(24)).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        if let Ok(read) = Numeric::read(&bytes) {
            assert_eq!(written(&read), bytes, "a value has one encoding");
        }
    }
}

#[test]
fn truncated_bytes_are_refused() {
    let bytes = written(&"-123456789.123".parse().unwrap());
    for length in 0..bytes.len() {
        assert_eq!(Numeric::read(&bytes[..length]).unwrap_err().sqlstate(), "XX001");
    }
}
