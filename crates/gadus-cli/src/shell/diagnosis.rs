//! Errors of statements for people: the line with a caret below the position, detail and hint, as psql has them.

use gadus::{Diagnosis, Error};
use unicode_width::UnicodeWidthStr;

/// Columns of a line that are shown; longer ones are cut around the position.
const COLUMNS_MAX: usize = 72;

/// Returns an error's message, with the line that it is about.
pub(super) fn described(error: &Error, sql: &str) -> String {
    let mut text = error.to_string();
    let Some(Diagnosis { detail, hint, position, .. }) = error.diagnosis() else { return text };
    if let Some(lines) = position.and_then(|position| pointed(sql, position)) {
        text.push('\n');
        text.push_str(&lines);
    }
    for (name, part) in [("DETAIL", detail), ("HINT", hint)] {
        if let Some(part) = part {
            text.push_str(&format!("\n{name}:  {part}"));
        }
    }
    text
}

/// Returns the line of a position, and a caret below it.
fn pointed(sql: &str, position: usize) -> Option<String> {
    let before = sql.get(..position)?;
    let number = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = sql[begin..].split('\n').next()?.trim_end();
    let (line, at) = window(line, position - begin);
    let line = line.replace('\t', " ");
    let head = format!("LINE {number}: ");
    let column = head.width() + line.get(..at).map_or(0, UnicodeWidthStr::width);
    Some(format!("{head}{line}\n{}^", " ".repeat(column)))
}

/// Returns a part of a line around an offset that fits, and the offset in it.
fn window(line: &str, at: usize) -> (String, usize) {
    if line.width() <= COLUMNS_MAX || !line.is_char_boundary(at) {
        return (line.to_owned(), at);
    }
    let (before, after) = line.split_at(at);
    let kept_before = before.chars().rev().take(COLUMNS_MAX / 2).map(char::len_utf8).sum::<usize>();
    let kept_after = after.chars().take(COLUMNS_MAX / 2).map(char::len_utf8).sum::<usize>();
    let head = if kept_before < before.len() { "..." } else { "" };
    let tail = if kept_after < after.len() { "..." } else { "" };
    let (before, after) = (&before[before.len() - kept_before..], &after[..kept_after]);
    (format!("{head}{before}{after}{tail}"), head.len() + before.len())
}

#[cfg(test)]
mod tests;
