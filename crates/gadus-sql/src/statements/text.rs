//! Shapes for people to read: no value of a statement stands in them, so no password either.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use std::borrow::Cow;
use std::fmt::Write;

/// Bytes of a shape that are kept.
pub(super) const SHOWN_BYTES_MAX: usize = 2 << 10;

/// Longest text that is taken apart into tokens: longer ones are lists of values.
const FOLDED_BYTES_MAX: usize = 16 << 10;

/// A text with question marks for its values, without comments, white space folded; and whether the
/// same text is likely to come again: it has no values, or parameters beside them.
pub(super) fn folded(text: &str) -> (String, bool) {
    if text.len() > FOLDED_BYTES_MAX {
        return (before_values(text), false);
    }
    let Ok(tokens) = Tokenizer::new(&GenericDialect {}, text).tokenize() else {
        return (before_values(text), false);
    };
    let mut folded = String::with_capacity(text.len());
    let (mut is_constant, mut has_parameters) = (true, false);
    for token in tokens {
        has_parameters |= matches!(token, Token::Placeholder(_));
        if is_literal(&token) {
            is_constant = false;
            folded.push('?');
        } else if matches!(token, Token::Whitespace(_)) {
            if !folded.is_empty() && !folded.ends_with(' ') {
                folded.push(' ');
            }
        } else {
            let _ = write!(folded, "{token}");
        }
    }
    (folded, is_constant || has_parameters)
}

/// So much of a shape as is kept.
pub(super) fn shown(shape: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = shape.trim_end_matches([';', ' ']).len();
    let kept = shape.floor_char_boundary(bytes.min(SHOWN_BYTES_MAX));
    if kept == shape.len() {
        return shape;
    }
    let end = if bytes > SHOWN_BYTES_MAX { "…" } else { "" };
    Cow::Owned(format!("{}{end}", &shape[..kept]))
}

/// What stands before the first value of a text, or what may be one.
fn before_values(text: &str) -> String {
    let is_value = |c: char| c == '\'' || c == '"' || c == '$' || c.is_ascii_digit();
    let before = text.split(is_value).next().unwrap_or_default();
    before.split_whitespace().collect::<Vec<_>>().join(" ") + " …"
}

fn is_literal(token: &Token) -> bool {
    matches!(
        token,
        Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::TripleSingleQuotedString(_)
            | Token::TripleDoubleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
            | Token::TripleSingleQuotedByteStringLiteral(_)
            | Token::TripleDoubleQuotedByteStringLiteral(_)
            | Token::SingleQuotedRawStringLiteral(_)
            | Token::DoubleQuotedRawStringLiteral(_)
            | Token::TripleSingleQuotedRawStringLiteral(_)
            | Token::TripleDoubleQuotedRawStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::QuoteDelimitedStringLiteral(_)
            | Token::NationalQuoteDelimitedStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
    )
}
