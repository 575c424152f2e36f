//! A row finds those who ask for its two values, and nobody else.

use super::*;
use crate::encoding::encode;
use crate::types::StorageClass;
use crate::vector::Vector;
use arrow::buffer::Buffer;
use gadus_base::Random;

fn column(class: StorageClass, values: &[Datum]) -> Column {
    let mut vector = Vector::empty(class);
    values.iter().for_each(|value| vector.push(value));
    let (mut owned, validity) = vector.into_owned();
    let encoded = encode(&mut owned, validity.as_ref());
    Column::open(class, false, &Buffer::from(encoded.blob.as_slice())).unwrap()
}

fn number(random: &mut Random) -> Datum {
    // Some of them are no value of the column.
    Datum::Integer(random.below(50).cast_signed() * 1_000_003 - 7_000_000)
}

fn text(random: &mut Random) -> Datum {
    Datum::text(&format!("a text of some length {}", random.below(40)))
}

#[test]
fn a_row_finds_who_asks_for_both_of_its_values() {
    let mut random = Random::seeded(11);
    let rows = (0..3_000).map(|_| [number(&mut random), text(&mut random)]).collect::<Vec<_>>();
    let of = |place: usize| rows.iter().map(|row| row[place].clone()).collect::<Vec<_>>();
    let columns = [column(StorageClass::Integer, &of(0)), column(StorageClass::Bytes, &of(1))];
    for (one, other) in [(0, 1), (1, 0)] {
        let points = (0..300).map(|question| {
            let (number, text) = (number(&mut random), text(&mut random));
            (if one == 0 { [number, text] } else { [text, number] }, question)
        });
        let points = points.collect::<Vec<_>>();
        let (hits, bits) =
            PairHits::of(&AskedPairs::of(&points), &columns[one], &columns[other]).unwrap();
        let packed = [one, other].map(|place| columns[place].packed().unwrap());
        let mut found = 0;
        for (place, row) in rows.iter().enumerate() {
            let key =
                packed[0].reader().distance(place) | packed[1].reader().distance(place) << bits;
            let asks = |(wanted, _): &&PairPoint| wanted[0] == row[one] && wanted[1] == row[other];
            let expected =
                points.iter().filter(asks).map(|(_, question)| *question).collect::<Vec<_>>();
            assert_eq!(hits.of_key(key), expected, "{row:?}");
            assert!(expected.is_empty() || hits.flags().may_hold(key), "{row:?}");
            found += expected.len();
        }
        assert!(found > 100, "few rows are asked for: {found}");
    }
}
