//! Positions of substrings.

use memchr::memmem;

/// Returns the position of a substring in characters from 1; 0 if there is none.
pub(super) fn position(text: &str, sought: &str) -> i64 {
    let Some(bytes) = memmem::find(text.as_bytes(), sought.as_bytes()) else { return 0 };
    let before = bytecount(&text.as_bytes()[..bytes]);
    i64::try_from(before).map_or(i64::MAX, |before| before + 1)
}

/// Counts characters: all bytes but those that continue one.
fn bytecount(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}
