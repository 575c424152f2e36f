//! Packing and unpacking are inverse for every width, start and count.

use super::{mask, pack, unpack, unpack_into, unpack_one, unpack_plain, width_of, within_span};
use gadus_base::Random;

#[test]
fn unpacking_returns_what_was_packed_for_every_width() {
    let mut random = Random::seeded(1);
    for width in 0..=64_u8 {
        for count in [0_usize, 1, 63, 64, 65, 200] {
            let values = (0..count).map(|_| random.next_u64() & mask(width)).collect::<Vec<_>>();
            let words = pack(values.iter().copied(), width);
            for first in [0, 1, 64, 70] {
                let first = first.min(count);
                let mut unpacked = Vec::new();
                unpack(&words, width, first, count - first, |value| unpacked.push(value));
                assert_eq!(unpacked, values[first..], "width {width}, from {first}");
            }
            for (index, &value) in values.iter().enumerate() {
                assert_eq!(unpack_one(&words, width, index), value);
            }
        }
    }
}

#[test]
fn wide_registers_unpack_as_plain_ones_do() {
    let mut random = Random::seeded(3);
    for width in 0..=64_u8 {
        for count in [0_usize, 7, 8, 9, 16, 63, 64, 100, 1_000] {
            let values = (0..count).map(|_| random.next_u64() & mask(width)).collect::<Vec<_>>();
            let words = pack(values.iter().copied(), width);
            for first in [0, 1, 8, 63, 64, 65].into_iter().filter(|first| *first <= count) {
                let (mut wide, mut plain) = (vec![0; count - first], vec![0; count - first]);
                unpack_into(&words, width, first, &mut wide);
                unpack_plain(&words, width, first, &mut plain);
                assert_eq!(wide, values[first..], "width {width}, from {first} of {count}");
                assert_eq!(plain, values[first..], "width {width}, from {first} of {count}");
            }
        }
    }
}

#[test]
fn a_width_is_the_smallest_that_holds_the_value() {
    assert_eq!(width_of(0), 0);
    assert_eq!(width_of(1), 1);
    assert_eq!(width_of(255), 8);
    assert_eq!(width_of(256), 9);
    assert_eq!(width_of(u64::MAX), 64);
}

#[test]
fn a_span_finds_the_values_within_it_for_every_width() {
    let mut random = Random::seeded(2);
    for width in 0..=64_u8 {
        let values = (0..300).map(|_| random.next_u64() & mask(width)).collect::<Vec<_>>();
        let words = pack(values.iter().copied(), width);
        let third = mask(width) / 3;
        for (low, high) in
            [(0, 0), (0, mask(width)), (third, third), (third, mask(width) / 2), (third, u64::MAX)]
        {
            for (first, count) in [(0, 300_usize), (64, 236), (128, 64), (256, 44), (256, 0)] {
                let mut found = vec![0; count.div_ceil(64)];
                within_span(&words, width, first, count, (low, high - low), &mut found);
                for (index, value) in values[first..first + count].iter().enumerate() {
                    let flag = found[index / 64] >> (index % 64) & 1 == 1;
                    assert_eq!(flag, (low..=high).contains(value), "width {width}, {index}");
                }
            }
        }
    }
}
