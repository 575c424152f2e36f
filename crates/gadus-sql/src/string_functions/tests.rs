//! Against simple definitions.

use super::edit_distance::levenshtein;
use super::like::Pattern;
use super::substring::position;
use gadus_base::Random;

/// LIKE by its definition.
fn matches(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], text) => text.is_empty(),
        (['%', rest @ ..], text) => (0..=text.len()).any(|skipped| matches(rest, &text[skipped..])),
        (['\\', escaped, rest @ ..], [first, others @ ..]) => {
            escaped == first && matches(rest, others)
        }
        (['\\'], ['\\']) => true,
        (['_', rest @ ..], [_, others @ ..]) => matches(rest, others),
        ([character, rest @ ..], [first, others @ ..]) if *character != '\\' => {
            character == first && matches(rest, others)
        }
        _ => false,
    }
}

fn random_text(random: &mut Random, alphabet: &[char], length_max: u64) -> String {
    let length = random.below(length_max + 1);
    let character = |_| {
        let place = random.below(alphabet.len() as u64);
        alphabet[usize::try_from(place).unwrap()]
    };
    (0..length).map(character).collect()
}

#[test]
fn patterns_match_as_they_are_defined() {
    let mut random = Random::seeded(7);
    for _ in 0..20_000 {
        let pattern = random_text(&mut random, &['a', 'ä', '%', '%', '_', '\\'], 8);
        let text = random_text(&mut random, &['a', 'ä', '\\', '%'], 8);
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        let expected = matches(&chars(&pattern), &chars(&text));
        let found = Pattern::parse(&pattern).matches(&text).unwrap();
        assert_eq!(found, expected, "{text:?} LIKE {pattern:?}");
    }
}

#[test]
fn positions_are_in_characters() {
    assert_eq!(position("äöü", "ü"), 3);
    assert_eq!(position("äöü", ""), 1);
    assert_eq!(position("", "a"), 0);
    assert_eq!(position("aab", "ab"), 2);
}

#[test]
fn distances_are_those_of_the_textbook() {
    for (one, other, distance) in
        [("kitten", "sitting", 3), ("", "abc", 3), ("äb", "ab", 1), ("same", "same", 0)]
    {
        assert_eq!(levenshtein(one, other).unwrap(), distance);
        assert_eq!(levenshtein(other, one).unwrap(), distance);
    }
}
