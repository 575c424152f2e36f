//! Decodes what tokens stand for: folded names, texts without their quotes and escapes.

use super::{TextForm, Token, TokenKind};
use crate::error::{Result, SyntaxError, SyntaxErrorKind};
use crate::span::Span;
use std::iter::Peekable;
use std::str::CharIndices;

/// Bytes of a name that count, as in PostgreSQL: longer names are cut.
const NAME_LENGTH_MAX: usize = 63;

/// Character that begins an escape of `U&` texts and names unless UESCAPE says another one.
pub(crate) const ESCAPE: char = '\\';

/// Returns the name that a name's or key word's token stands for: in lower case unless it is quoted.
pub(crate) fn decode_name(text: &str, token: Token, escape: char) -> Result<String> {
    let raw = token.span.of(text);
    let mut name = match token.kind {
        TokenKind::QuotedName(false) => unquoted(raw, 1, '"'),
        TokenKind::QuotedName(true) => {
            let start = token.span.start as usize + 3;
            unicode(&unquoted(raw, 3, '"'), start, escape)?
        }
        _ => raw.to_ascii_lowercase(),
    };
    if name.len() > NAME_LENGTH_MAX {
        name.truncate(name.floor_char_boundary(NAME_LENGTH_MAX));
    }
    Ok(name)
}

/// Returns the text that a text's token stands for.
pub(crate) fn decode_text(
    text: &str,
    token: Token,
    form: TextForm,
    escape: char,
) -> Result<String> {
    let raw = token.span.of(text);
    if form == TextForm::Dollar {
        let tag = raw.get(1..).and_then(|rest| rest.find('$')).map_or(0, |at| at + 2);
        return Ok(raw.get(tag..raw.len() - tag).unwrap_or_default().to_owned());
    }
    let start = token.span.start as usize;
    let mut value = String::with_capacity(raw.len());
    for (at, segment) in segments(raw, form) {
        match form {
            TextForm::Escaped => unescape(segment, start + at, &mut value)?,
            TextForm::Unicode => {
                value += &unicode(&segment.replace("''", "'"), start + at, escape)?
            }
            _ => value += &segment.replace("''", "'"),
        }
    }
    Ok(value)
}

/// Returns what stands in quotes after so many bytes, doubled quotes once.
fn unquoted(raw: &str, opening: usize, quote: char) -> String {
    let inner = raw.get(opening..raw.len() - 1).unwrap_or_default();
    if !inner.contains(quote) {
        return inner.to_owned();
    }
    inner.replace(&format!("{quote}{quote}"), &quote.to_string())
}

/// Returns the texts in quotes that a token joins, and their offsets in it.
fn segments(raw: &str, form: TextForm) -> Vec<(usize, &str)> {
    let bytes = raw.as_bytes();
    let mut segments = Vec::with_capacity(1);
    let mut at = 0;
    while at < bytes.len() {
        // Between the quotes of two texts stands nothing but white space and comments up to a line's end.
        if bytes[at..].starts_with(b"--") {
            at += raw[at..].find(['\n', '\r']).unwrap_or(raw.len() - at);
            continue;
        }
        if bytes[at] != b'\'' {
            at += 1;
            continue;
        }
        let start = at + 1;
        at = start;
        loop {
            match bytes.get(at) {
                Some(b'\\') if form == TextForm::Escaped => at += 2,
                Some(b'\'') if bytes.get(at + 1) == Some(&b'\'') => at += 2,
                Some(b'\'') | None => break,
                Some(_) => at += 1,
            }
        }
        segments.push((start, raw.get(start..at).unwrap_or_default()));
        at += 1;
    }
    segments
}

type Characters<'a> = Peekable<CharIndices<'a>>;

/// Decodes the escapes of `E'…'`, which may give bytes of UTF-8 one by one.
fn unescape(segment: &str, start: usize, value: &mut String) -> Result<()> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut characters = segment.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' => {
                // Doubled.
                characters.next();
                bytes.push(b'\'');
            }
            '\\' => escape(&mut characters, start + at, &mut bytes)?,
            other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        let message = "invalid byte sequence for encoding \"UTF8\"";
        SyntaxError::new(
            SyntaxErrorKind::InvalidEscape,
            message,
            Span::new(start, start + segment.len()),
        )
    })?;
    if text.contains('\0') {
        let message = "invalid byte sequence for encoding \"UTF8\": 0x00";
        let span = Span::new(start, start + segment.len());
        return Err(SyntaxError::new(SyntaxErrorKind::InvalidEscape, message, span));
    }
    *value += &text;
    Ok(())
}

/// Decodes what follows a backslash.
fn escape(characters: &mut Characters<'_>, at: usize, bytes: &mut Vec<u8>) -> Result<()> {
    let Some((_, letter)) = characters.next() else { return Ok(()) };
    match letter {
        'b' => bytes.push(8),
        'f' => bytes.push(12),
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        'v' => bytes.push(11),
        'u' | 'U' => {
            let first = code(characters, if letter == 'u' { 4 } else { 8 }, at)?;
            let character = match first {
                0xd800..=0xdbff => {
                    let is_escape = characters.next().is_some_and(|(_, next)| next == '\\')
                        && characters.next().is_some_and(|(_, next)| next == 'u');
                    let second = if is_escape { code(characters, 4, at)? } else { 0 };
                    of_pair(first, second)
                }
                _ => char::from_u32(first),
            };
            let character = character.ok_or_else(|| invalid_escape(at))?;
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        'x' if characters.peek().is_some_and(|(_, next)| next.is_ascii_hexdigit()) => {
            bytes.push(digits(characters, 16, 2));
        }
        '0'..='7' => {
            let first = letter.to_digit(8).unwrap_or(0);
            let mut value = first;
            for _ in 0..2 {
                let Some(digit) = characters.peek().and_then(|(_, next)| next.to_digit(8)) else {
                    break;
                };
                value = value * 8 + digit;
                characters.next();
            }
            bytes.push(u8::try_from(value & 0xff).unwrap_or(0));
        }
        other => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
    }
    Ok(())
}

/// Reads up to so many digits of a byte.
fn digits(characters: &mut Characters<'_>, radix: u32, count: usize) -> u8 {
    let mut value = 0;
    for _ in 0..count {
        let Some(digit) = characters.peek().and_then(|(_, next)| next.to_digit(radix)) else {
            break;
        };
        value = value * radix + digit;
        characters.next();
    }
    u8::try_from(value & 0xff).unwrap_or(0)
}

/// Reads a code of just so many hexadecimal digits.
fn code(characters: &mut Characters<'_>, count: usize, at: usize) -> Result<u32> {
    let mut value = 0_u32;
    for _ in 0..count {
        let digit = characters.next().and_then(|(_, next)| next.to_digit(16));
        value = (value << 4) | digit.ok_or_else(|| invalid_escape(at))?;
    }
    Ok(value)
}

fn of_pair(high: u32, low: u32) -> Option<char> {
    (0xdc00..=0xdfff).contains(&low).then_some(())?;
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

/// Decodes `\xxxx` and `\+xxxxxx`, or another character instead of the backslash: `U&` texts and names have them.
fn unicode(text: &str, start: usize, escape: char) -> Result<String> {
    let mut value = String::with_capacity(text.len());
    let mut characters = text.char_indices().peekable();
    let mut high = None;
    while let Some((at, character)) = characters.next() {
        if character != escape {
            value.push(character);
            continue;
        }
        let code = match characters.peek() {
            Some((_, next)) if *next == escape => {
                characters.next();
                value.push(escape);
                continue;
            }
            Some((_, '+')) => {
                characters.next();
                code(&mut characters, 6, start + at)?
            }
            _ => code(&mut characters, 4, start + at)?,
        };
        let character = match (high.take(), code) {
            (None, 0xd800..=0xdbff) => {
                high = Some(code);
                continue;
            }
            (Some(high), low) => of_pair(high, low),
            (None, code) => char::from_u32(code).filter(|character| *character != '\0'),
        };
        value.push(character.ok_or_else(|| invalid_escape(start + at))?);
    }
    match high {
        Some(_) => Err(invalid_escape(start)),
        None => Ok(value),
    }
}

fn invalid_escape(at: usize) -> SyntaxError {
    SyntaxError::new(
        SyntaxErrorKind::InvalidEscape,
        "invalid Unicode escape",
        Span::new(at, at + 1),
    )
}
