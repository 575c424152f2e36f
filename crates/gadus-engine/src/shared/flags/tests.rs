//! What was added is found, and by groups what is found one by one.

use super::{Flags, Matches};
use crate::scan::CHUNK_ROWS;
use gadus_base::Random;

fn one_by_one(flags: &Flags, values: &[u64]) -> Vec<u16> {
    let places = (0..).zip(values).filter(|(_, value)| flags.may_hold(**value));
    places.map(|(place, _)| place).collect()
}

fn by_groups(flags: &Flags, values: &[u64]) -> Vec<u16> {
    let mut to: Matches = [0; CHUNK_ROWS + 8];
    let count = flags.matches(values, &mut to);
    to[..count].to_vec()
}

#[test]
fn groups_find_what_is_found_one_by_one() {
    let mut random = Random::seeded(7);
    for round in 0..300_u64 {
        let width = u8::try_from(1 + random.below(64)).unwrap();
        let mask = u64::MAX >> (64 - width);
        let count = [0, 1, 7, 8, 9, 64, 1_000, CHUNK_ROWS][usize::try_from(round % 8).unwrap()];
        let values = (0..count).map(|_| random.next_u64() & mask).collect::<Vec<_>>();
        let mut by_hash = Flags::of_hashes();
        let mut by_upper = Flags::of_upper_bits(width);
        let is_added = |place: usize| round % 3 == 0 || place.is_multiple_of(5);
        let added =
            (0..).zip(&values).filter(|(place, _)| is_added(*place)).map(|(_, value)| *value);
        let added = added.collect::<Vec<_>>();
        added.iter().for_each(|value| by_hash.add(*value));
        added.iter().for_each(|value| by_upper.add(*value));
        for flags in [by_hash, by_upper] {
            assert!(added.iter().all(|value| flags.may_hold(*value)), "{width} bits");
            assert_eq!(by_groups(&flags, &values), one_by_one(&flags, &values), "{width} bits");
        }
    }
}

#[test]
fn few_others_are_found_among_hashes() {
    let mut random = Random::seeded(8);
    let mut flags = Flags::of_hashes();
    (0..500).for_each(|_| flags.add(random.next_u64()));
    let others = (0..CHUNK_ROWS).map(|_| random.next_u64()).collect::<Vec<_>>();
    let found = by_groups(&flags, &others).len();
    assert!(found < 20, "{found} of {CHUNK_ROWS}");
    // Small numbers differ in their lowest bits alone.
    let mut flags = Flags::of_hashes();
    (0..500).for_each(|value| flags.add(2 * value));
    let others = (0..1_000).map(|value| 2 * value + 1).collect::<Vec<_>>();
    let found = by_groups(&flags, &others).len();
    assert!(found < 20, "{found} of 1,000 small numbers");
}

#[test]
fn a_range_is_all_of_its_values_and_their_neighbours_at_most() {
    for width in [1_u8, 5, 16, 17, 30, 64] {
        let greatest = u64::MAX >> (64 - width);
        let (low, high) = (greatest / 3, greatest / 3 + (greatest / 7).min(100_000));
        let mut flags = Flags::of_upper_bits(width);
        flags.add_range(low, high);
        for value in [low, low + (high - low) / 2, high] {
            assert!(flags.may_hold(value), "{value} of {width} bits");
        }
        let unit = 1_u64 << width.saturating_sub(16);
        assert!(low < unit || !flags.may_hold(low - unit), "{width} bits");
        assert!(high > greatest - unit || !flags.may_hold(high + unit), "{width} bits");
    }
}
