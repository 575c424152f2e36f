//! The key of a string is the same wherever it stands.

use super::*;
use gadus_base::Random;

#[test]
fn a_string_among_others_has_the_key_that_it_has_alone() {
    let data = b"the quick brown fox";
    for start in 0..data.len() {
        for end in start..=data.len() {
            let alone = key_of_bytes(&data[start..end]);
            assert_eq!(key_at(data, start, end - start), alone, "{start}..{end}");
        }
    }
}

#[test]
fn neighbours_have_the_keys_that_they_have_alone() {
    let mut random = Random::seeded(23);
    for round in 0..200_u64 {
        let longest = [1, 3, 8, 9, 20, 40][usize::try_from(round % 6).unwrap()];
        let strings = (0..random.below(40)).map(|_| {
            let length = random.below(longest + 1);
            (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect::<Vec<_>>()
        });
        let strings = strings.collect::<Vec<_>>();
        let data = strings.concat();
        let mut offsets = vec![0];
        for string in &strings {
            offsets.push(offsets[offsets.len() - 1] + string.len() as u64);
        }
        let mut keys = vec![0; strings.len()];
        keys_of(&data, &offsets, &mut keys);
        let alone = strings.iter().map(|string| key_of_bytes(string)).collect::<Vec<_>>();
        assert_eq!(keys, alone, "{strings:?}");
    }
}
