//! Escapes of advanced regular expressions.

use super::classes::Class;
use super::syntax::Reader;
use super::syntax_error::{SyntaxError, SyntaxResult};
use regex_syntax::hir::{ClassUnicode, Look};

/// Largest octal escape.
const OCTAL_MAX: u32 = 0xFF;

/// Meaning of an escape.
#[derive(Debug)]
pub(super) enum Escaped {
    Character(char),
    Set(ClassUnicode),
    Look(Look),
}

/// Reads what follows a backslash.
pub(super) fn escape(reader: &mut Reader<'_>) -> SyntaxResult<Escaped> {
    let letter = reader.next().ok_or(SyntaxError::Escape)?;
    let ignores_case = reader.options.ignores_case;
    let class = |class: Class| Escaped::Set(class.set(ignores_case));
    let complement = |class: Class| {
        let mut set = class.set(ignores_case);
        set.negate();
        Escaped::Set(set)
    };
    Ok(match letter {
        'd' => class(Class::Digit),
        's' => class(Class::Space),
        'w' => class(Class::Word),
        'D' => complement(Class::Digit),
        'S' => complement(Class::Space),
        'W' => complement(Class::Word),
        'A' => Escaped::Look(Look::Start),
        'Z' => Escaped::Look(Look::End),
        'm' => Escaped::Look(Look::WordStartUnicode),
        'M' => Escaped::Look(Look::WordEndUnicode),
        'y' => Escaped::Look(Look::WordUnicode),
        'Y' => Escaped::Look(Look::WordUnicodeNegate),
        '1'..='9' => Escaped::Character(back_reference_or_octal(reader, letter)?),
        '0' => Escaped::Character(octal(reader, letter)?),
        _ => Escaped::Character(character(reader, letter)?),
    })
}

/// Reads an escape that stands for a character.
fn character(reader: &mut Reader<'_>, letter: char) -> SyntaxResult<char> {
    Ok(match letter {
        'a' => '\x07',
        'b' => '\x08',
        'B' => '\\',
        'c' => {
            let control = reader.next().ok_or(SyntaxError::Escape)?;
            char::from(control.to_string().bytes().last().unwrap_or(0) & 0x1F)
        }
        'e' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => code_point(hexadecimal(reader, 4, 4)?)?,
        'U' => code_point(hexadecimal(reader, 8, 8)?)?,
        'v' => '\x0b',
        'x' => code_point(hexadecimal(reader, 1, 255)?)?,
        other if other.is_ascii_alphanumeric() => return Err(SyntaxError::Escape),
        other => other,
    })
}

fn hexadecimal(reader: &mut Reader<'_>, min: usize, max: usize) -> SyntaxResult<u32> {
    let mut number = 0_u32;
    let mut length = 0;
    while length < max
        && let Some(digit) = reader.peek().and_then(|digit| digit.to_digit(16))
    {
        number = number.wrapping_mul(16).wrapping_add(digit);
        length += 1;
        reader.next();
    }
    if length < min { Err(SyntaxError::Escape) } else { Ok(number) }
}

fn code_point(number: u32) -> SyntaxResult<char> {
    char::from_u32(number).ok_or(SyntaxError::Escape)
}

/// Reads digits that are a back reference, or else up to three octal digits.
fn back_reference_or_octal(reader: &mut Reader<'_>, first: char) -> SyntaxResult<char> {
    let digits =
        reader.rest.len() - reader.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = format!("{first}{}", &reader.rest[..digits]);
    let number = number.parse::<usize>().unwrap_or(usize::MAX);
    if digits > 0 && number > reader.captures {
        return octal(reader, first);
    }
    match number <= reader.captures {
        true => Err(SyntaxError::BackReference),
        false => Err(SyntaxError::BackReferenceNumber),
    }
}

fn octal(reader: &mut Reader<'_>, first: char) -> SyntaxResult<char> {
    let mut number = first.to_digit(8).ok_or(SyntaxError::Escape)?;
    for _ in 0..2 {
        let Some(digit) = reader.peek().and_then(|digit| digit.to_digit(8)) else { break };
        if number * 8 + digit > OCTAL_MAX {
            break;
        }
        number = number * 8 + digit;
        reader.next();
    }
    code_point(number)
}
