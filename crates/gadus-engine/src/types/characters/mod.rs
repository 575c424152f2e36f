//! Character types beside TEXT: VARCHAR(n), CHAR(n), `name` and `"char"`.
//!
//! - Values are stored as texts. Blanks at the end of a CHAR(n) have no meaning: they are not stored, so that equal values
//!   have equal texts, and are there again when a value is shown ([`Characters::shown`]).
//! - A `"char"` is one byte, stored as the character of that number.
//! - In Arrow a value is a text, and its field names the type ([`CHARACTERS_EXTENSION`]).
//!
//! Byte table, after the code of VARCHAR(n) and CHAR(n): characters u32.

use super::{ColumnType, EXTENSION_KEY};
use arrow::datatypes::Field;
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The extension type of character types in Arrow's fields.
pub const CHARACTERS_EXTENSION: &str = "gadus.characters";
/// The key under which a field's metadata has the name of the character type.
const METADATA_KEY: &str = "ARROW:extension:metadata";

/// Bytes of a `name`, as in PostgreSQL.
const NAME_TYPE_BYTES_MAX: usize = 63;
/// Characters of VARCHAR(n) and CHAR(n), as in PostgreSQL.
pub const CHARACTERS_MAX: u32 = 10_485_760;

/// Codes in durable formats.
const VARCHAR_CODE: u8 = 30;
const CHAR_CODE: u8 = 31;
const NAME_CODE: u8 = 32;
const BYTE_CODE: u8 = 33;

/// A character type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Characters {
    /// VARCHAR(n): up to so many characters.
    Varchar(u32),
    /// CHAR(n): so many characters, filled up with blanks.
    Char(u32),
    /// `name`: up to 63 bytes.
    Name,
    /// `"char"`: one byte.
    Byte,
}

impl Characters {
    /// Returns the value that an assignment stores; `None` if the text is too long.
    #[must_use]
    pub fn assigned(self, text: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Varchar(length) => match position(text, length) {
                None => Some(text.into()),
                // Blanks beyond the length are cut off without an error.
                Some(end) => is_blank(&text[end..]).then(|| text[..end].into()),
            },
            Self::Char(length) => {
                let trimmed = text.trim_end_matches(' ');
                position(trimmed, length).is_none().then(|| trimmed.into())
            }
            Self::Name | Self::Byte => Some(self.cut(text)),
        }
    }

    /// Returns the value that an explicit cast makes: what is too long is cut.
    #[must_use]
    pub fn cut(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Varchar(length) => text[..position(text, length).unwrap_or(text.len())].into(),
            Self::Char(length) => {
                let end = position(text, length).unwrap_or(text.len());
                text[..end].trim_end_matches(' ').into()
            }
            Self::Name => {
                let most = text.len().min(NAME_TYPE_BYTES_MAX);
                let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
                text[..end].into()
            }
            Self::Byte => match byte_of(text) {
                0 => "".into(),
                byte => char::from(byte).to_string().into(),
            },
        }
    }

    /// Returns true for types whose values look different from what is stored.
    #[must_use]
    pub fn is_shown_otherwise(self) -> bool {
        matches!(self, Self::Char(_) | Self::Byte)
    }

    /// Returns a stored value as it is shown: CHAR(n) with its blanks, bytes beyond ASCII in octal digits.
    #[must_use]
    pub fn shown(self, stored: &str) -> Cow<'_, str> {
        match self {
            Self::Char(length) => {
                let wanted = usize::try_from(length).unwrap_or(usize::MAX);
                let missing = wanted.saturating_sub(stored.chars().count());
                match missing {
                    0 => stored.into(),
                    missing => format!("{stored}{}", " ".repeat(missing)).into(),
                }
            }
            Self::Byte => match single(stored).and_then(|one| u8::try_from(one).ok()) {
                Some(byte) if !byte.is_ascii() => format!("\\{byte:03o}").into(),
                _ => stored.into(),
            },
            Self::Varchar(_) | Self::Name => stored.into(),
        }
    }

    /// Returns true if rows with values of another type can stay as they are when a column gets this type.
    pub(super) fn takes_values_of(self, other: ColumnType) -> bool {
        match (self, other) {
            (Self::Varchar(length), ColumnType::Characters(Self::Varchar(before))) => {
                length >= before
            }
            _ => other == ColumnType::Characters(self),
        }
    }

    /// Returns the character type whose values a field holds, if it holds such.
    #[must_use]
    pub fn of_field(field: &Field) -> Option<Self> {
        if field.extension_type_name() != Some(CHARACTERS_EXTENSION) {
            return None;
        }
        // Expressions may pass on what is known of their operands.
        let is_text = matches!(ColumnType::from_arrow(field.data_type()), Some(ColumnType::Text));
        let name = field.metadata().get(METADATA_KEY).filter(|_| is_text)?;
        let length = |begin: &str| {
            let length = name.strip_prefix(begin)?.strip_suffix(')')?.parse().ok()?;
            (1..=CHARACTERS_MAX).contains(&length).then_some(length)
        };
        match name.as_str() {
            "name" => Some(Self::Name),
            "char" => Some(Self::Byte),
            _ => {
                let varchar = length("varchar(").map(Self::Varchar);
                varchar.or_else(|| length("bpchar(").map(Self::Char))
            }
        }
    }

    /// Returns the metadata of fields that hold such values.
    #[must_use]
    pub fn metadata(self) -> HashMap<String, String> {
        let name = match self {
            Self::Varchar(length) => format!("varchar({length})"),
            Self::Char(length) => format!("bpchar({length})"),
            Self::Name => "name".to_owned(),
            Self::Byte => "char".to_owned(),
        };
        let extension = CHARACTERS_EXTENSION.to_owned();
        [(EXTENSION_KEY.to_owned(), extension), (METADATA_KEY.to_owned(), name)].into()
    }

    /// Returns the code in durable formats.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Varchar(_) => VARCHAR_CODE,
            Self::Char(_) => CHAR_CODE,
            Self::Name => NAME_CODE,
            Self::Byte => BYTE_CODE,
        }
    }

    pub(super) fn encode(self, to: &mut ByteWriter) {
        if let Self::Varchar(length) | Self::Char(length) = self {
            to.u32(length);
        }
    }

    /// Reads what is after a code; `None` if it is the code of another type.
    pub(super) fn decode(
        code: u8,
        from: &mut ByteReader<'_>,
    ) -> Result<Option<ColumnType>, DecodeError> {
        let mut length = || {
            let offset = from.offset();
            let length = from.u32()?;
            match (1..=CHARACTERS_MAX).contains(&length) {
                true => Ok(length),
                false => Err(DecodeError { offset, expected: "a number of characters" }),
            }
        };
        let of = match code {
            VARCHAR_CODE => Self::Varchar(length()?),
            CHAR_CODE => Self::Char(length()?),
            NAME_CODE => Self::Name,
            BYTE_CODE => Self::Byte,
            _ => return Ok(None),
        };
        Ok(Some(ColumnType::Characters(of)))
    }
}

/// As SQL writes it.
impl fmt::Display for Characters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Varchar(length) => write!(f, "VARCHAR({length})"),
            Self::Char(length) => write!(f, "CHAR({length})"),
            Self::Name => f.write_str("NAME"),
            Self::Byte => f.write_str("\"char\""),
        }
    }
}

/// Returns the offset after so many characters; `None` if a text has no more.
fn position(text: &str, length: u32) -> Option<usize> {
    let length = usize::try_from(length).ok()?;
    // A character has at least one byte.
    if text.len() <= length {
        return None;
    }
    text.char_indices().nth(length).map(|(offset, _)| offset)
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ')
}

/// Returns the only character of a text.
fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// Returns the byte that a text means: the first, or that of `\` with three octal digits.
fn byte_of(text: &str) -> u8 {
    let digit = |byte: u8| u16::from(byte - b'0');
    match text.as_bytes() {
        [b'\\', high @ b'0'..=b'7', middle @ b'0'..=b'7', low @ b'0'..=b'7'] => {
            let value = (digit(*high) << 6) | (digit(*middle) << 3) | digit(*low);
            u8::try_from(value & 0xff).unwrap_or(0)
        }
        bytes => bytes.first().copied().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
