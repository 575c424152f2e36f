//! Columns through encoding and back, their sketches, and blobs that are damaged.

#![allow(clippy::cast_possible_truncation)] // random numbers below small bounds

use super::choose::OwnedValues;
use super::{Body, Column, encode};
use crate::segment::Sketch;
use crate::types::{Datum, StorageClass};
use crate::vector::{Rows, Vector};
use arrow::buffer::Buffer;
use gadus_base::Random;

/// Encodes values of one class, opens the blob, and compares by value, by vector and by sketch.
fn round_trip(class: StorageClass, values: &[Datum]) -> (Column, Sketch) {
    let mut vector = Vector::empty(class);
    values.iter().for_each(|value| vector.push(value));
    let (mut owned, validity) = vector.into_owned();
    let encoded = encode(&mut owned, validity.as_ref());
    let column = Column::open(class, false, &Buffer::from(encoded.blob.as_slice())).unwrap();
    assert_eq!(column.rows, values.len());
    for (row, value) in values.iter().enumerate() {
        assert!(same(&column.datum(row), value), "row {row}: {} for {value}", column.datum(row));
    }
    let third = values.len() / 3;
    let some = (0..values.len()).step_by(3).map(|row| row as u32).collect::<Vec<_>>();
    for (rows, expected) in [
        (Rows::Range { first: 0, count: values.len() }, values.to_vec()),
        (Rows::Range { first: third, count: third }, values[third..2 * third].to_vec()),
        (Rows::Positions(&some), values.iter().step_by(3).cloned().collect()),
    ] {
        let mut vector = Vector::empty(class);
        vector.append_column(&column, rows);
        assert_eq!(vector.len(), expected.len());
        for (row, value) in expected.iter().enumerate() {
            assert!(same(&vector.datum(row), value), "row {row}: {value}");
        }
    }
    check_sketch(&encoded.sketch, values);
    (column, encoded.sketch)
}

/// Equal to the bit.
fn same(left: &Datum, right: &Datum) -> bool {
    match (left, right) {
        (Datum::Float(left), Datum::Float(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

fn check_sketch(sketch: &Sketch, values: &[Datum]) {
    let nulls = values.iter().filter(|value| value.is_null()).count();
    assert_eq!(sketch.nulls as usize, nulls);
    if nulls == values.len() {
        assert_eq!(sketch.range, None);
    }
    if let Some((min, max)) = &sketch.range {
        let outside =
            values.iter().find(|value| !value.is_null() && (*value < min || *value > max));
        assert_eq!(outside, None, "between {min} and {max}");
    }
    let mut distinct = values.iter().filter(|value| !value.is_null()).collect::<Vec<_>>();
    distinct.sort();
    distinct.dedup();
    assert!(
        sketch.distinct as usize >= distinct.len(),
        "{} of {}",
        sketch.distinct,
        distinct.len()
    );
}

/// Values of a class: a few that repeat, or all of its range with its extremes.
fn value(random: &mut Random, class: StorageClass, few: bool) -> Datum {
    let small = random.below(12) as i64 - 6;
    let index = random.below(5) as usize;
    match (class, few) {
        (StorageClass::Integer, true) => Datum::Integer(small * 1_000_000_007),
        (StorageClass::Integer, false) => {
            Datum::Integer([i64::MIN, i64::MAX, 0, -1, random.next_u64().cast_signed()][index])
        }
        (StorageClass::Wide, true) => Datum::Wide(Box::new(i128::from(small))),
        (StorageClass::Wide, false) => {
            let any = i128::from(random.next_u64()) << random.below(64);
            Datum::Wide(Box::new([i128::MIN, i128::MAX, any, -any, 0][index]))
        }
        (StorageClass::Float, true) => Datum::Float(small as f64 / 4.0),
        (StorageClass::Float, false) => {
            Datum::Float([f64::NAN, -0.0, f64::INFINITY, f64::MIN, random.unit()][index])
        }
        (StorageClass::Bytes, true) => {
            Datum::text(&"long and longer ".repeat(small.unsigned_abs() as usize))
        }
        (StorageClass::Bytes, false) => {
            let length = [0, 1, 12, 13, 100][index];
            Datum::text(
                &(0..length).map(|_| char::from(random.below(128) as u8)).collect::<String>(),
            )
        }
    }
}

const CLASSES: [StorageClass; 4] =
    [StorageClass::Integer, StorageClass::Wide, StorageClass::Float, StorageClass::Bytes];

#[test]
fn every_class_comes_back_as_it_was() {
    let mut random = Random::seeded(1);
    for class in CLASSES {
        for count in [0, 1, 2, 63, 64, 65, 1_000, 5_000] {
            for few in [true, false] {
                for nulls in [0.0, 0.3, 1.0] {
                    let values = (0..count)
                        .map(|_| match random.chance(nulls) {
                            true => Datum::Null,
                            false => value(&mut random, class, few),
                        })
                        .collect::<Vec<_>>();
                    round_trip(class, &values);
                }
            }
        }
    }
}

#[test]
fn a_whole_segment_comes_back_in_every_encoding() {
    let rows = 65_536_i64;
    let (plain, _) = round_trip(
        StorageClass::Integer,
        &(0..rows).map(|row| Datum::Integer(row * 7_919 % 65_537)).collect::<Vec<_>>(),
    );
    assert!(matches!(plain.body, Body::Plain(_)));
    let (codes, sketch) = round_trip(
        StorageClass::Integer,
        &(0..rows).map(|row| Datum::Integer((row % 13) << 40)).collect::<Vec<_>>(),
    );
    assert!(matches!(codes.body, Body::Dictionary { .. }));
    assert_eq!(sketch.distinct, 13);
    let (runs, _) = round_trip(
        StorageClass::Integer,
        &(0..rows).map(|row| Datum::Integer(row / 1_000)).collect::<Vec<_>>(),
    );
    assert!(matches!(runs.body, Body::Runs { .. }));
    let texts = (0..rows).map(|row| Datum::text(&format!("some text, number {}", row % 50)));
    let (texts, _) = round_trip(StorageClass::Bytes, &texts.collect::<Vec<_>>());
    assert!(matches!(texts.body, Body::Dictionary { .. }));
}

#[test]
fn bounds_of_long_strings_are_short_and_hold() {
    let strings =
        |all: &[&[u8]]| all.iter().map(|one| Datum::Bytes((*one).into())).collect::<Vec<_>>();
    let (_, sketch) = round_trip(StorageClass::Bytes, &strings(&[&[7; 100], &[b'a'; 90]]));
    let (min, max) = sketch.range.unwrap();
    assert!(min.heap_bytes() <= 48 && max.heap_bytes() <= 48);
    let (_, sketch) = round_trip(StorageClass::Bytes, &strings(&[&[u8::MAX; 100]]));
    assert_eq!(sketch.range, None, "nothing short lies above");
}

#[test]
fn damaged_blobs_give_an_error_or_a_column_of_the_same_shape() {
    let mut random = Random::seeded(2);
    for class in CLASSES {
        for (few, nulls) in [(true, 0.0), (true, 0.4), (false, 0.0), (false, 0.4)] {
            for repeat in [1, 30] {
                let mut values = Vec::new();
                for _ in 0..10 {
                    let one = match random.chance(nulls) {
                        true => Datum::Null,
                        false => value(&mut random, class, few),
                    };
                    values.extend(std::iter::repeat_n(one, repeat));
                }
                damage(class, &values, &mut random);
            }
        }
    }
}

fn damage(class: StorageClass, values: &[Datum], random: &mut Random) {
    let mut vector = Vector::empty(class);
    values.iter().for_each(|value| vector.push(value));
    let (mut owned, validity): (OwnedValues, _) = vector.into_owned();
    let blob = encode(&mut owned, validity.as_ref()).blob;
    for length in 0..blob.len() {
        read_all(class, &blob[..length]);
    }
    for index in 0..blob.len() {
        for byte in [blob[index] ^ 1 << random.below(8), 0, u8::MAX] {
            let mut damaged = blob.clone();
            damaged[index] = byte;
            read_all(class, &damaged);
        }
    }
}

/// Opens a blob that may be damaged, and reads what opens.
fn read_all(class: StorageClass, blob: &[u8]) {
    for text in [false, true] {
        let Ok(column) = Column::open(class, text, &Buffer::from(blob)) else { continue };
        let rows = Rows::Range { first: 0, count: column.rows };
        let mut vector = Vector::empty(class);
        vector.append_column(&column, rows);
        assert_eq!(vector.len(), column.rows);
        for row in 0..column.rows {
            assert!(same(&vector.datum(row), &column.datum(row)), "row {row}");
        }
    }
}
