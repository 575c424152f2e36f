//! Templates of points in time as items.

use super::keys::{KEYS, Key};
use crate::number_templates::ordinal_suffix;

/// Item of a template.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item {
    Field(Field),
    Text(char),
    Space(char),
    Separator(char),
}

/// Field with what stands around its word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) key: Key,
    /// `FM`: without blanks and zeros before it.
    pub(super) is_fill_mode: bool,
    /// `TM`: names of the locale, without blanks.
    pub(super) is_translated: bool,
    /// `TH` or `th`.
    pub(super) ordinal: Option<Ordinal>,
}

/// Letters of an ordinal's ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ordinal {
    Upper,
    Lower,
}

impl Ordinal {
    /// Appends the ending to a number.
    pub(super) fn append(self, number: &mut String) -> crate::error::Result<()> {
        let suffix = ordinal_suffix(number, self == Self::Lower)?;
        number.push_str(suffix);
        Ok(())
    }
}

/// Reads a template.
pub(super) fn parse(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (prefix, behind) = prefix(rest);
        rest = behind;
        let key = KEYS.iter().find_map(|(name, key)| Some((*name, *key, rest.strip_prefix(name)?)));
        let Some(first) = rest.chars().next() else { break };
        if let Some((name, key, behind)) = key {
            let (ordinal, behind) = postfix(behind);
            let (is_fill_mode, is_translated) = prefix;
            items.push(Item::Field(Field { name, key, is_fill_mode, is_translated, ordinal }));
            rest = behind;
        } else if first == '"' {
            rest = quoted(&rest[1..], &mut items);
        } else {
            // A backslash quotes nothing but a quote here.
            rest = rest.strip_prefix('\\').filter(|rest| rest.starts_with('"')).unwrap_or(rest);
            let character = rest.chars().next().unwrap_or(first);
            items.push(match character {
                separator if is_separator(separator) => Item::Separator(separator),
                space if space.is_ascii_whitespace() || space == '\x0b' => Item::Space(space),
                other => Item::Text(other),
            });
            rest = &rest[character.len_utf8()..];
        }
    }
    items
}

/// Returns whether there is `FM`, and whether there is `TM`.
fn prefix(text: &str) -> ((bool, bool), &str) {
    for (word, found) in
        [("FM", (true, false)), ("fm", (true, false)), ("TM", (false, true)), ("tm", (false, true))]
    {
        if let Some(behind) = text.strip_prefix(word) {
            return (found, behind);
        }
    }
    ((false, false), text)
}

fn postfix(text: &str) -> (Option<Ordinal>, &str) {
    let words = [("TH", Some(Ordinal::Upper)), ("th", Some(Ordinal::Lower)), ("SP", None)];
    for (word, ordinal) in words {
        if let Some(behind) = text.strip_prefix(word) {
            return (ordinal, behind);
        }
    }
    (None, text)
}

/// Reads characters up to a quote, and returns what is behind it.
fn quoted<'a>(text: &'a str, items: &mut Vec<Item>) -> &'a str {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            '"' => break,
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        items.push(Item::Text(character));
    }
    characters.as_str()
}

/// True of printable characters of ASCII that are neither letters nor digits.
pub(super) fn is_separator(character: char) -> bool {
    character.is_ascii_graphic() && !character.is_ascii_alphanumeric()
}
