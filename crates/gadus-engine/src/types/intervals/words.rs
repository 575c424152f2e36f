//! The words of an interval: numbers, times, units, as PostgreSQL takes a text apart.

use super::IntervalError;

/// What a word is, by its first characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Digits with colons.
    Time,
    /// A sign, and digits, colons, points and hyphens behind it.
    Signed,
    /// Digits with a point, or with hyphens, which are years and months.
    Number,
    /// Letters.
    Unit,
}

/// The most words, as PostgreSQL has it.
const WORDS_MAX: usize = 25;

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> Result<Vec<(Kind, String)>, IntervalError> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if is_space(first) || (first.is_ascii_punctuation() && !matches!(first, '+' | '-' | '.')) {
            // What is no part of a word only parts words, as the sign before `@ 1 day`.
            rest = &rest[1..];
            continue;
        }
        if words.len() == WORDS_MAX {
            return Err(IntervalError::Syntax);
        }
        let (kind, word, behind) = match first {
            '0'..='9' => number(rest)?,
            '.' => {
                let (word, behind) = cut(rest, 1, |character| character.is_ascii_digit());
                (Kind::Number, word.to_owned(), behind)
            }
            '+' | '-' => {
                let behind = rest[1..].trim_start_matches(is_space);
                if !behind.starts_with(|character: char| character.is_ascii_digit()) {
                    return Err(IntervalError::Syntax);
                }
                let goes_on = |character: char| {
                    character.is_ascii_digit() || matches!(character, ':' | '.' | '-')
                };
                let (word, behind) = cut(behind, 0, goes_on);
                (Kind::Signed, format!("{first}{word}"), behind)
            }
            letter if letter.is_ascii_alphabetic() => {
                let (word, behind) = cut(rest, 1, |character| character.is_ascii_alphabetic());
                // A unit ends at a space or a sign behind it; what goes on with digits is another word of PostgreSQL's.
                if behind.starts_with(|next: char| {
                    matches!(next, '-' | '/' | '.' | '+') || next.is_ascii_digit()
                }) {
                    return Err(IntervalError::Syntax);
                }
                (Kind::Unit, word.to_ascii_lowercase(), behind)
            }
            _ => return Err(IntervalError::Syntax),
        };
        words.push((kind, word));
        rest = behind;
    }
    Ok(words)
}

/// A word that begins with a digit.
fn number(text: &str) -> Result<(Kind, String, &str), IntervalError> {
    let (digits, behind) = cut(text, 1, |character| character.is_ascii_digit());
    if behind.starts_with(':') {
        let of_time =
            |character: char| character.is_ascii_digit() || matches!(character, ':' | '.');
        let (word, behind) = cut(text, digits.len(), of_time);
        return Ok((Kind::Time, word.to_owned(), behind));
    }
    let Some(delimiter @ ('-' | '/' | '.')) = behind.chars().next() else {
        return Ok((Kind::Number, digits.to_owned(), behind));
    };
    let goes_on = |character: char| character.is_ascii_alphanumeric() || character == delimiter;
    let second = |character: char| character.is_ascii_digit() || character == delimiter;
    let from = digits.len() + 1;
    let has_digits = text[from..].starts_with(|next: char| next.is_ascii_digit());
    let (word, behind) = match has_digits {
        true => cut(text, from, second),
        // `1.day` is a date with a month's name, which no interval is, but `1. day` is a number.
        false => cut(text, from, goes_on),
    };
    Ok((Kind::Number, word.to_owned(), behind))
}

/// What goes on from a place, and what is behind it.
fn cut(text: &str, from: usize, goes_on: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text[from..].find(|character| !goes_on(character));
    text.split_at(end.map_or(text.len(), |end| from + end))
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}
