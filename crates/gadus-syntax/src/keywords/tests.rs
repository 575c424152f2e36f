//! Tests that the table of key words is searched as it is sorted.

use super::*;

#[test]
fn words_are_sorted_and_found_in_either_case() {
    assert!(TABLE.is_sorted_by(|one, other| one.0 < other.0));
    for (row, (text, keyword, class)) in TABLE.iter().enumerate() {
        assert!(text.len() <= LENGTH_MAX, "{text}");
        assert_eq!(Keyword::of(text), Some(*keyword));
        assert_eq!(Keyword::of(&text.to_uppercase()), Some(*keyword));
        assert_eq!((*keyword as usize, keyword.class()), (row, *class));
    }
    for word in ["", "selec", "selects", "qualify", "über", "zzz", "_a", "1"] {
        assert_eq!(Keyword::of(word), None, "{word}");
    }
}
