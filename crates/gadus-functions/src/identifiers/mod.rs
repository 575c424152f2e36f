//! Names and literals of SQL: quoted for a statement, and taken apart.

mod key_words;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::parse_ident;

/// Quotes a text as a literal; one with backslashes becomes an escape string.
#[must_use]
pub fn quote_literal(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    if text.contains('\\') {
        quoted.push('E');
    }
    quoted.push('\'');
    for character in text.chars() {
        if matches!(character, '\'' | '\\') {
            quoted.push(character);
        }
        quoted.push(character);
    }
    quoted.push('\'');
    quoted
}

/// Quotes a text as a literal; NULL becomes the word.
#[must_use]
pub fn quote_nullable(text: Option<&str>) -> String {
    text.map_or_else(|| "NULL".to_owned(), quote_literal)
}

/// Quotes a name if a statement would read it as another one, or as a key word.
#[must_use]
pub fn quote_ident(name: &str) -> String {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    let starts_plain = name.bytes().next().is_some_and(|byte| matches!(byte, b'a'..=b'z' | b'_'));
    if starts_plain && name.bytes().all(is_plain) && !key_words::is_key_word(name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}
