//! The shape of a statement: its text with literals lifted out.
//!
//! - Statements of one shape differ in their literals alone, so that what was compiled for one
//!   serves all.
//! - Only plain literals are lifted. A text that has parameters of its own, comments or unusual
//!   quotes is its own shape.

use crate::value::Value;
use arrow::compute::kernels::cast_utils::Parser;
use arrow::datatypes::{Date32Type, TimestampMicrosecondType};

/// A statement's shape and the literals lifted out of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Shape {
    /// The text with `$1`, `$2` … for the literals, white space folded.
    pub(crate) text: String,
    pub(crate) literals: Vec<Value>,
}

/// Longest text that is looked at: longer ones are not point statements.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The shape of a text without parameters; none where it is its own shape.
pub(crate) fn shape_of(text: &str) -> Option<Shape> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let bytes = text.as_bytes();
    let mut shape = Shape { text: String::with_capacity(text.len()), literals: Vec::new() };
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' => {
                // E'…', X'…' and the like have rules of their own.
                if at > 0 && is_name(bytes[at - 1]) {
                    return None;
                }
                let (value, end) = quoted(text, at)?;
                let value = shape.typed(value)?;
                shape.push(value);
                at = end;
            }
            b'"' => {
                let end = at + 1 + text.get(at + 1..)?.find('"')? + 1;
                shape.text.push_str(&text[at..end]);
                at = end;
            }
            b'$' | b'?' | b'`' | b'\\' => return None,
            b'-' if bytes.get(at + 1) == Some(&b'-') => return None,
            b'/' if bytes.get(at + 1) == Some(&b'*') => return None,
            b'0'..=b'9' if at == 0 || !(is_name(bytes[at - 1]) || bytes[at - 1] == b'.') => {
                let (value, end) = number(text, at)?;
                if is_ordinal(&shape.text) {
                    shape.text.push_str(&text[at..end]);
                } else {
                    shape.push(value);
                }
                at = end;
            }
            _ if byte.is_ascii_whitespace() => {
                if !shape.text.ends_with(' ') && !shape.text.is_empty() {
                    shape.text.push(' ');
                }
                at += 1;
            }
            _ if byte.is_ascii() => {
                shape.text.push(char::from(byte));
                at += 1;
            }
            _ => {
                let character = text.get(at..)?.chars().next()?;
                shape.text.push(character);
                at += character.len_utf8();
            }
        }
    }
    shape.text.truncate(shape.text.trim_end().len());
    Some(shape)
}

impl Shape {
    /// A quoted text with the type that stands before it, which is lifted with it; none where the text
    /// is no such value.
    fn typed(&mut self, text: String) -> Option<Value> {
        let before = self.text.trim_end();
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let start = start
            .map_or(0, |place| place + before[place..].chars().next().map_or(1, char::len_utf8));
        let Some(value) = typed_literal(&before[start..], &text)? else {
            return Some(Value::Text(text));
        };
        self.text.truncate(start);
        Some(value)
    }

    fn push(&mut self, value: Value) {
        self.literals.push(value);
        self.text.push('$');
        self.text.push_str(&self.literals.len().to_string());
    }
}

/// Whether a number behind a text stands in a list of GROUP BY or ORDER BY, where it names a column.
fn is_ordinal(before: &str) -> bool {
    let is_list = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"' | ',' | ' ');
    let list = &before[before.trim_end_matches(is_list).len()..];
    let mut words = list.rsplit([' ', ',']);
    let word = words.find(|word| {
        const ELSEWHERE: [&str; 8] =
            ["limit", "offset", "fetch", "having", "where", "select", "from", "and"];
        word.eq_ignore_ascii_case("by")
            || ELSEWHERE.iter().any(|other| word.eq_ignore_ascii_case(other))
    });
    word.is_some_and(|word| word.eq_ignore_ascii_case("by"))
}

/// The value of a text behind the name of a type: nothing where the name is none, none where the text is
/// no such value.
#[allow(clippy::option_option)] // the two say different things
pub(crate) fn typed_literal(name: &str, text: &str) -> Option<Option<Value>> {
    Some(Some(match name {
        name if name.eq_ignore_ascii_case("date") => Value::Date(Date32Type::parse(text)?),
        name if name.eq_ignore_ascii_case("timestamp") => {
            // What a zone means beside a column without one is DataFusion's business.
            let is_plain =
                text.len() <= "2024-02-29 12:00:00.123456".len() && !text.contains(['Z', 'z', '+']);
            Value::Timestamp(TimestampMicrosecondType::parse(text).filter(|_| is_plain)?)
        }
        _ => return Some(None),
    }))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// A quoted text at `at` and the offset behind it.
fn quoted(text: &str, at: usize) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut from = at + 1;
    loop {
        let end = from + text.get(from..)?.find('\'')?;
        value.push_str(&text[from..end]);
        if text.as_bytes().get(end + 1) != Some(&b'\'') {
            return Some((value, end + 1));
        }
        value.push('\'');
        from = end + 2;
    }
}

/// The value of a number without a sign; none for forms that need more thought.
pub(crate) fn number_literal(digits: &str) -> Option<Value> {
    number(digits, 0).map(|(value, _)| value)
}

/// A number at `at` and the offset behind it; none for forms that need more thought.
fn number(text: &str, at: usize) -> Option<(Value, usize)> {
    let rest = text.get(at..)?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    let digits = &rest[..end];
    if rest[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let value = match digits.split_once('.') {
        None => Value::Integer(digits.parse().ok()?),
        Some((whole, fraction)) => {
            let scale = i8::try_from(fraction.len()).ok().filter(|scale| *scale <= 18)?;
            if fraction.contains('.') {
                return None;
            }
            Value::Decimal(format!("{whole}{fraction}").parse().ok()?, scale)
        }
    };
    Some((value, at + end))
}

#[cfg(test)]
mod tests;
