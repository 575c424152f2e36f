//! Packing and unpacking are inverse for every width, start and count.

use super::{mask, pack, unpack, unpack_one, width_of, within_span};
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
        for (low, high) in [(0, 0), (0, mask(width)), (mask(width) / 3, mask(width) / 2)] {
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
