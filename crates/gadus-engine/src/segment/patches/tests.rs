//! Rows found among few and among many.

use super::*;
use gadus_base::Random;
use std::collections::BTreeMap;

#[test]
fn rows_are_found_as_in_a_map_however_many_there_are() {
    let mut random = Random::seeded(3);
    for count in [0, 1, 2, 63, 511, 512, 2_000, 200_000] {
        let mut random_row = || {
            let position = u32::try_from(random.below(u64::from(SEGMENT_ROWS_MAX))).unwrap();
            (position, Datum::Integer(i64::try_from(random.below(1_000)).unwrap()))
        };
        let rows = (0..count).map(|_| random_row()).collect::<Vec<_>>();
        let map: BTreeMap<u32, Datum> = rows.iter().cloned().collect();
        let patches = Patches::new(rows);
        assert_eq!(patches.is_indexed(), map.len() >= INDEXED_MIN);
        assert_eq!(patches.positions().collect::<Vec<_>>(), Vec::from_iter(map.keys().copied()));
        for position in 0..SEGMENT_ROWS_MAX {
            let found = patches.place(position).map(|place| &patches.rows()[place as usize].1);
            assert_eq!(found.map(Datum::to_string), map.get(&position).map(Datum::to_string));
            let is_there = patches.word(position / 64) & 1 << (position % 64) != 0;
            assert_eq!(is_there, map.contains_key(&position));
        }
    }
}

#[test]
fn positions_beyond_a_segment_are_kept_for_whoever_refuses_them() {
    let rows = (0..1_000).map(|row| (SEGMENT_ROWS_MAX - 500 + row, Datum::Null)).collect();
    let patches = Patches::new(rows);
    assert!(!patches.is_indexed());
    assert_eq!(patches.positions().last(), Some(SEGMENT_ROWS_MAX + 499));
}
