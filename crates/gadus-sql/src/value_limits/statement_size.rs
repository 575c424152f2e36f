//! Limits of a statement's text, by what its tokens and trees will take.

use crate::error::limit;
use crate::memory::Memory;
use gadus_base::ByteCount;
use gadus_engine::{Reason, Result};

/// Bytes that a token becomes: itself, its place in the syntax tree, in the plan, and in copies of these that
/// planning makes. Measured with VALUES of 100,000 rows: 230.
const TOKEN_BYTES: u64 = 256;

/// A statement's trees take at most this part of the memory limit, and so do copies of its literals.
const PART: u64 = 4;
const LITERAL_COPIES: u64 = 4;

/// Texts of so many bytes are fine in any case.
const BYTES_FREE: usize = 64 << 10;

/// Refuses a statement whose trees would take too much memory.
///
/// # Errors
/// `Limit`, by 54000.
pub(crate) fn check_statement(text: &str, memory: &Memory) -> Result<()> {
    if text.len() <= BYTES_FREE {
        return Ok(());
    }
    let bytes = tokens(text)
        .saturating_mul(TOKEN_BYTES)
        .saturating_add((text.len() as u64).saturating_mul(LITERAL_COPIES));
    if bytes <= memory.limit().0 / PART {
        return Ok(());
    }
    let message = format!(
        "statement too large: to plan {} of text takes {}, and gadus.memory_limit is {}; send fewer values at \
         a time, or COPY them",
        ByteCount(text.len() as u64),
        ByteCount(bytes),
        memory.limit()
    );
    Err(limit(message).because(Reason::TooLarge))
}

/// Counts tokens, about: words, numbers, quoted texts, and single signs.
fn tokens(text: &str) -> u64 {
    let (mut tokens, mut in_word, mut quote) = (0, false, None);
    for byte in text.bytes() {
        let is_of_word = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => continue,
            None if matches!(byte, b'\'' | b'"') => {
                quote = Some(byte);
                tokens += 1;
            }
            None if is_of_word => tokens += u64::from(!in_word),
            None if byte.is_ascii_whitespace() => {}
            None => tokens += 1,
        }
        in_word = is_of_word;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn tokens_are_words_signs_and_quoted_texts() {
        assert_eq!(tokens("SELECT a_1, 'it, is', \"b c\" FROM t"), 8);
        assert_eq!(tokens("(12),(13)"), 7);
        assert_eq!(tokens(""), 0);
    }
}
