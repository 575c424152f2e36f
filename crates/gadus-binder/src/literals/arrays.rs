//! Arrays in braces (`array_in`).
//!
//! - A text with explicit bounds stays as it is written.

use super::{Read, is_space, read_if_certain, refused};
use crate::bound::Constant;
use crate::error::BindError;
use crate::provider::Provider;
use crate::types::{Category, TypeId};

/// Most dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

/// Reads an array and its elements.
pub(super) fn read(text: &str, target: TypeId, provider: &dyn Provider) -> Read {
    let trimmed = text.trim_start_matches(is_space);
    if trimmed.starts_with('[') {
        return Ok(None);
    }
    if !trimmed.starts_with('{') {
        let detail = "Array value must start with \"{\" or dimension information.";
        return Err(malformed(text).with_detail(detail));
    }
    let Some(element) = target.element() else { return Ok(None) };
    let mut scanner = Scanner::new(trimmed);
    scanner.scan().map_err(|fault| fault.error(trimmed))?;
    if !scanner.has_elements {
        return Ok(Some(Constant::Text("{}".to_owned())));
    }
    let parts = parts(trimmed);
    if !has_one_depth(&parts) {
        // PostgreSQL 15 takes it for an array of other dimensions than it seems to have.
        return Ok(None);
    }
    let mut shown = String::with_capacity(text.len());
    for part in parts {
        match part {
            Part::Punctuation(c) => shown.push(c),
            Part::Element(item) if !item.is_quoted && item.text.eq_ignore_ascii_case("null") => {
                shown.push_str("NULL");
            }
            Part::Element(item) => match read_if_certain(&item.text, element, provider)? {
                Some(value) => push_element(&mut shown, &value_text(value)),
                None if is_text(element) => push_element(&mut shown, &item.text),
                // An element after it may be wrong, but so may be this one.
                None => return Ok(None),
            },
        }
    }
    Ok(Some(Constant::Text(shown)))
}

fn is_text(element: TypeId) -> bool {
    element.category() == Category::String
}

fn value_text(value: Constant) -> String {
    match value {
        Constant::Null => "NULL".to_owned(),
        Constant::Boolean(value) => if value { "t" } else { "f" }.to_owned(),
        Constant::Integer(value) => value.to_string(),
        Constant::Text(text) => text,
    }
}

/// Writes an element as `array_out` does.
fn push_element(shown: &mut String, text: &str) {
    let needs_quotes = text.is_empty()
        || text.eq_ignore_ascii_case("null")
        || text.contains(|c: char| matches!(c, '"' | '\\' | '{' | '}' | ',') || is_space(c));
    if !needs_quotes {
        shown.push_str(text);
        return;
    }
    shown.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown.push('"');
}

pub(super) fn malformed(text: &str) -> BindError {
    refused("22P02", format!("malformed array literal: \"{text}\""))
}

/// Fault of an array's text.
pub(super) enum Fault {
    Malformed(String),
    TooManyDimensions(usize),
}

impl Fault {
    fn unexpected(c: char) -> Self {
        Self::Malformed(format!("Unexpected \"{c}\" character."))
    }

    pub(super) fn error(self, text: &str) -> BindError {
        match self {
            Self::Malformed(detail) => malformed(text).with_detail(detail),
            Self::TooManyDimensions(count) => refused(
                "54000",
                format!(
                    "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
                ),
            ),
        }
    }
}

/// Position within an array's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    NoLevel,
    LevelStarted,
    ElementStarted,
    QuotedStarted,
    QuotedCompleted,
    ElementDelimited,
    LevelCompleted,
    LevelDelimited,
}

/// Check of braces, commas and quotes (`ArrayCount`).
pub(super) struct Scanner<'a> {
    chars: std::str::Chars<'a>,
    position: Position,
    level: usize,
    /// Elements of the present array of each level, and of the one before it.
    counts: [usize; DIMENSIONS_MAX],
    last_counts: [usize; DIMENSIONS_MAX],
    is_quoted: bool,
    pub(super) has_elements: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            chars: text.chars(),
            position: Position::NoLevel,
            level: 0,
            counts: [1; DIMENSIONS_MAX],
            last_counts: [0; DIMENSIONS_MAX],
            is_quoted: false,
            has_elements: false,
        }
    }

    pub(super) fn scan(&mut self) -> std::result::Result<(), Fault> {
        let ended = || Fault::Malformed("Unexpected end of input.".to_owned());
        loop {
            self.has_elements |=
                matches!(self.position, Position::ElementStarted | Position::QuotedStarted);
            match self.chars.next().ok_or_else(ended)? {
                '\\' => {
                    self.require_element('\\')?;
                    if self.position != Position::QuotedStarted {
                        self.position = Position::ElementStarted;
                    }
                    self.chars.next().ok_or_else(ended)?;
                }
                '"' => self.quote()?,
                _ if self.is_quoted => {}
                '{' => self.open()?,
                '}' => {
                    self.close()?;
                    if self.level == 0 {
                        break;
                    }
                }
                ',' => self.comma()?,
                c if is_space(c) => {}
                _ => {
                    let allowed = [
                        Position::LevelStarted,
                        Position::ElementStarted,
                        Position::ElementDelimited,
                    ];
                    if !allowed.contains(&self.position) {
                        return Err(Fault::Malformed("Unexpected array element.".to_owned()));
                    }
                    self.position = Position::ElementStarted;
                }
            }
        }
        match self.chars.all(is_space) {
            true => Ok(()),
            false => Err(Fault::Malformed("Junk after closing right brace.".to_owned())),
        }
    }

    fn require_element(&self, c: char) -> std::result::Result<(), Fault> {
        let allowed = [
            Position::LevelStarted,
            Position::ElementStarted,
            Position::QuotedStarted,
            Position::ElementDelimited,
        ];
        match allowed.contains(&self.position) {
            true => Ok(()),
            false => Err(Fault::unexpected(c)),
        }
    }

    fn quote(&mut self) -> std::result::Result<(), Fault> {
        let allowed = [Position::LevelStarted, Position::QuotedStarted, Position::ElementDelimited];
        if !allowed.contains(&self.position) {
            return Err(Fault::Malformed("Unexpected array element.".to_owned()));
        }
        self.is_quoted = !self.is_quoted;
        self.position =
            if self.is_quoted { Position::QuotedStarted } else { Position::QuotedCompleted };
        Ok(())
    }

    fn open(&mut self) -> std::result::Result<(), Fault> {
        let allowed = [Position::NoLevel, Position::LevelStarted, Position::LevelDelimited];
        if !allowed.contains(&self.position) {
            return Err(Fault::unexpected('{'));
        }
        if self.level >= DIMENSIONS_MAX {
            return Err(Fault::TooManyDimensions(self.level + 1));
        }
        self.position = Position::LevelStarted;
        self.level += 1;
        Ok(())
    }

    fn close(&mut self) -> std::result::Result<(), Fault> {
        let is_empty = self.level == 1 && self.position == Position::LevelStarted;
        if !self.is_item_completed() && !is_empty {
            return Err(Fault::unexpected('}'));
        }
        self.position = Position::LevelCompleted;
        let Some(level) = self.level.checked_sub(1) else {
            return Err(Fault::Malformed("Unmatched \"}\" character.".to_owned()));
        };
        self.level = level;
        let (count, last) = (&mut self.counts[level], &mut self.last_counts[level]);
        if *last != 0 && count != last {
            let detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
            return Err(Fault::Malformed(detail.to_owned()));
        }
        (*last, *count) = (*count, 1);
        Ok(())
    }

    fn is_item_completed(&self) -> bool {
        matches!(
            self.position,
            Position::ElementStarted | Position::QuotedCompleted | Position::LevelCompleted
        )
    }

    fn comma(&mut self) -> std::result::Result<(), Fault> {
        if !self.is_item_completed() {
            return Err(Fault::unexpected(','));
        }
        self.position = match self.position {
            Position::LevelCompleted => Position::LevelDelimited,
            _ => Position::ElementDelimited,
        };
        if let Some(level) = self.level.checked_sub(1) {
            self.counts[level] += 1;
        }
        Ok(())
    }
}

/// Element of an array as it is written.
pub(super) struct Item {
    pub(super) text: String,
    /// True if it had quotes or backslashes, so that it is not NULL.
    pub(super) is_quoted: bool,
}

/// Brace, comma or element.
pub(super) enum Part {
    Punctuation(char),
    Element(Item),
}

/// Returns true if all elements are within as many braces.
fn has_one_depth(parts: &[Part]) -> bool {
    let (mut depth, mut known) = (0_usize, None);
    for part in parts {
        match part {
            Part::Punctuation('{') => depth += 1,
            Part::Punctuation('}') => depth = depth.saturating_sub(1),
            Part::Punctuation(_) => {}
            Part::Element(_) if *known.get_or_insert(depth) != depth => return false,
            Part::Element(_) => {}
        }
    }
    true
}

/// Splits an array's text that was checked.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = text.chars();
    let mut item: Option<Item> = None;
    // Length of the element without blanks after it.
    let mut length = 0;
    let mut in_quotes = false;
    while let Some(c) = chars.next() {
        if !in_quotes && matches!(c, '{' | '}' | ',') {
            if let Some(mut item) = item.take() {
                item.text.truncate(length);
                parts.push(Part::Element(item));
            }
            parts.push(Part::Punctuation(c));
            length = 0;
            continue;
        }
        if !in_quotes && is_space(c) && item.is_none() {
            continue;
        }
        let item = item.get_or_insert_with(|| Item { text: String::new(), is_quoted: false });
        match c {
            '"' => {
                in_quotes = !in_quotes;
                item.is_quoted = true;
                length = item.text.len();
            }
            '\\' => {
                item.is_quoted = true;
                item.text.extend(chars.next());
                length = item.text.len();
            }
            c => {
                item.text.push(c);
                if in_quotes || !is_space(c) {
                    length = item.text.len();
                }
            }
        }
    }
    parts
}

/// Returns the elements of a text for tests.
#[cfg(test)]
pub(super) fn elements(text: &str) -> crate::error::Result<Vec<String>> {
    let element = |part| match part {
        Part::Element(item) => Some(item.text),
        Part::Punctuation(_) => None,
    };
    Ok(parts(text).into_iter().filter_map(element).collect())
}
