//! Functions that search for matches.

use super::options::Options;
use super::pattern::{Captures, Pattern};
use crate::error::{FunctionError, INVALID_PARAMETER, Result};
use std::ops::Range;
use std::rc::Rc;

/// Arguments that several functions have, with PostgreSQL's names and defaults.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// Character at which the search begins, from 1.
    pub start: i32,
    /// Number of the match, from 1.
    pub n: i32,
    /// 0 for the position of a match, 1 for the position behind it.
    pub endoption: i32,
    /// Letters that change how the pattern is read.
    pub flags: &'a str,
    /// Number of the parenthesis whose match is meant; 0 for all of it.
    pub subexpr: i32,
}

impl Default for Search<'_> {
    fn default() -> Self {
        Self { start: 1, n: 1, endoption: 0, flags: "", subexpr: 0 }
    }
}

/// True if a pattern matches anywhere in a text.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of unknown flags.
pub fn regexp_like(text: &str, pattern: &str, flags: &str) -> Result<bool> {
    let options = Options::without_global(flags, "regexp_like")?;
    Ok(Pattern::compiled(pattern, options)?.is_match(text))
}

/// Counts matches.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong arguments.
pub fn regexp_count(text: &str, pattern: &str, search: &Search<'_>) -> Result<i32> {
    check_positive("start", search.start)?;
    let options = Options::without_global(search.flags, "regexp_count")?;
    let pattern = Pattern::compiled(pattern, options)?;
    let mut count = 0;
    for found in Matches::new(text, &pattern, search.start, false) {
        found?;
        count += 1;
    }
    Ok(count)
}

/// Returns the position of a match in characters from 1; 0 if there is none.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong arguments.
pub fn regexp_instr(text: &str, pattern: &str, search: &Search<'_>) -> Result<i32> {
    check_positive("start", search.start)?;
    check_positive("n", search.n)?;
    if !matches!(search.endoption, 0 | 1) {
        return Err(invalid("endoption", search.endoption));
    }
    let options = checked_options(search, "regexp_instr")?;
    let found = nth(text, pattern, options, search)?;
    let position = found.map(|range| if search.endoption == 1 { range.end } else { range.start });
    let character = position.map_or(0, |position| text[..position].chars().count() + 1);
    Ok(i32::try_from(character).unwrap_or(i32::MAX))
}

/// Returns the text of a match.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong arguments.
pub fn regexp_substr(text: &str, pattern: &str, search: &Search<'_>) -> Result<Option<String>> {
    check_positive("start", search.start)?;
    check_positive("n", search.n)?;
    let options = checked_options(search, "regexp_substr")?;
    let found = nth(text, pattern, options, search)?;
    Ok(found.map(|range| text[range].to_owned()))
}

/// Returns the first match of `SUBSTRING(text FROM pattern)`: that of the first parenthesis, if there is one.
///
/// # Errors
/// 2201B of a pattern that is none.
pub fn substring(text: &str, pattern: &str) -> Result<Option<String>> {
    let pattern = Pattern::compiled(pattern, Options::default())?;
    let has_captures = pattern.captures() > 0;
    let Some(found) = pattern.find(text, 0, has_captures)? else { return Ok(None) };
    let range = found.get(usize::from(has_captures));
    Ok(range.map(|range| text[range].to_owned()))
}

/// Returns the texts of the captures of the first match, or its whole text if there are none.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong flags.
pub fn regexp_match(text: &str, pattern: &str, flags: &str) -> Result<Option<Vec<Option<String>>>> {
    let options = Options::without_global(flags, "regexp_match")
        .map_err(|error| with_hint(error, "Use the regexp_matches function instead."))?;
    let pattern = Pattern::compiled(pattern, options)?;
    let found = pattern.find(text, 0, true)?;
    Ok(found.map(|found| texts(text, &pattern, &found)))
}

/// Returns what `regexp_match` returns, for all matches if the flags have a `g`.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong flags.
pub fn regexp_matches(text: &str, pattern: &str, flags: &str) -> Result<Vec<Vec<Option<String>>>> {
    let options = Options::of_flags(flags)?;
    let pattern = Pattern::compiled(pattern, options)?;
    let matches = Matches::new(text, &pattern, 1, true);
    let limit = if options.is_global { usize::MAX } else { 1 };
    matches.take(limit).map(|found| Ok(texts(text, &pattern, &found?))).collect()
}

/// Splits a text at matches; empty ones at its ends, or directly behind another match, do not count.
///
/// # Errors
/// 2201B of a pattern that is none, 22023 of wrong flags.
pub fn regexp_split(text: &str, pattern: &str, flags: &str, function: &str) -> Result<Vec<String>> {
    let options = Options::without_global(flags, function)?;
    let pattern = Pattern::compiled(pattern, options)?;
    let mut pieces = Vec::new();
    let (mut last_end, mut piece_start) = (0, 0);
    for found in Matches::new(text, &pattern, 1, false) {
        let range = found?.whole();
        if range.start < text.len() && range.end > last_end {
            pieces.push(text[piece_start..range.start].to_owned());
            piece_start = range.end;
        }
        last_end = range.end;
    }
    pieces.push(text[piece_start..].to_owned());
    Ok(pieces)
}

/// Matches of a pattern, one behind the other.
#[derive(Debug)]
pub(super) struct Matches<'a> {
    text: &'a str,
    pattern: &'a Rc<Pattern>,
    with_captures: bool,
    /// Position of the next search; `None` at the end.
    from: Option<usize>,
}

impl<'a> Matches<'a> {
    pub(super) fn new(
        text: &'a str,
        pattern: &'a Rc<Pattern>,
        start: i32,
        with_captures: bool,
    ) -> Self {
        Self { text, pattern, with_captures, from: byte_of_character(text, start) }
    }
}

impl Iterator for Matches<'_> {
    type Item = Result<Captures>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.pattern.find(self.text, self.from?, self.with_captures).transpose()?;
        self.from = found.as_ref().ok().and_then(|found| {
            let range = found.whole();
            if !range.is_empty() {
                return Some(range.end);
            }
            let next = self.text[range.end..].chars().next()?;
            Some(range.end + next.len_utf8())
        });
        Some(found)
    }
}

/// Returns the offset of a character that is counted from 1; the end of the text is one, too.
fn byte_of_character(text: &str, character: i32) -> Option<usize> {
    let index = usize::try_from(character).ok()?.checked_sub(1)?;
    let mut offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
    offsets.nth(index)
}

fn nth(
    text: &str,
    pattern: &str,
    options: Options,
    search: &Search<'_>,
) -> Result<Option<Range<usize>>> {
    let pattern = Pattern::compiled(pattern, options)?;
    let number = usize::try_from(search.subexpr).unwrap_or(0);
    let index = usize::try_from(search.n).unwrap_or(1) - 1;
    let found = Matches::new(text, &pattern, search.start, number > 0).nth(index).transpose()?;
    // A pattern without parentheses is one itself.
    let number = if pattern.captures() == 0 && number == 1 { 0 } else { number };
    Ok(found.and_then(|found| found.get(number)))
}

fn texts(text: &str, pattern: &Pattern, found: &Captures) -> Vec<Option<String>> {
    let numbers = if pattern.captures() > 0 { 1..pattern.captures() + 1 } else { 0..1 };
    numbers.map(|number| found.get(number).map(|range| text[range].to_owned())).collect()
}

fn checked_options(search: &Search<'_>, function: &str) -> Result<Options> {
    match search.subexpr {
        0.. => Options::without_global(search.flags, function),
        negative => Err(invalid("subexpr", negative)),
    }
}

/// Refuses a parameter below 1.
pub(super) fn check_positive(name: &str, value: i32) -> Result<()> {
    if value > 0 { Ok(()) } else { Err(invalid(name, value)) }
}

/// The error of a parameter out of its range.
pub(super) fn invalid(name: &str, value: i32) -> FunctionError {
    let message = format!("invalid value for parameter \"{name}\": {value}");
    FunctionError::new(INVALID_PARAMETER, message)
}

fn with_hint(error: FunctionError, hint: &str) -> FunctionError {
    if error.message.contains("global") { error.hint(hint) } else { error }
}
