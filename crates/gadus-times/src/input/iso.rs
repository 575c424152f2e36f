//! Fast path for the texts that programs write: `2024-03-10`, `2024-03-10 02:30:00.5`, `2024-03-10T02:30:00+05:30`.
//!
//! - Takes only texts whose meaning no setting changes: a year of four digits comes first in every order.
//! - Any other text, also one with a field beyond its range, is left to the general readers, which report faults.

use crate::calendar::{Civil, days_in_month};

/// Date and time of a text, and its offset in seconds west of UTC if it has one.
pub(super) struct Iso {
    pub(super) civil: Civil,
    pub(super) west: Option<i32>,
}

/// Reads a date and perhaps a time and an offset; `None` for any other text.
pub(super) fn read(text: &str) -> Option<Iso> {
    let text = text.as_bytes();
    let (date, mut rest) = text.split_at_checked(10)?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let year = pair(date, 0)? * 100 + pair(date, 2)?;
    let (month, day) = (pair(date, 5)?, pair(date, 8)?);
    if year == 0 || !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let mut civil = Civil { year, month, day, ..Civil::default() };
    if rest.is_empty() {
        return Some(Iso { civil, west: None });
    }
    let (clock, after) = rest.split_at_checked(9)?;
    if !matches!(clock[0], b' ' | b'T') || clock[3] != b':' || clock[6] != b':' {
        return None;
    }
    (civil.hour, civil.minute, civil.second) = (pair(clock, 1)?, pair(clock, 4)?, pair(clock, 7)?);
    if civil.hour > 23 || civil.minute > 59 || civil.second > 59 {
        return None;
    }
    rest = after;
    if let Some(after) = rest.strip_prefix(b".") {
        let count = after.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(after.len());
        if !(1..=6).contains(&count) {
            return None;
        }
        let (digits, after) = after.split_at(count);
        civil.microsecond =
            digits.iter().fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
        (count..6).for_each(|_| civil.microsecond *= 10);
        rest = after;
    }
    let west = if rest.is_empty() { None } else { Some(offset(rest)?) };
    Some(Iso { civil, west })
}

/// Reads `+hh` or `+hh:mm`, in seconds west of UTC.
fn offset(text: &[u8]) -> Option<i32> {
    let is_west = match text[0] {
        b'-' => true,
        b'+' => false,
        _ => return None,
    };
    let hours = pair(text, 1)?;
    let minutes = match text.len() {
        3 => 0,
        6 if text[3] == b':' => pair(text, 4)?,
        _ => return None,
    };
    if hours > 15 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    Some(if is_west { seconds } else { -seconds })
}

/// Returns the number of two digits.
fn pair(text: &[u8], index: usize) -> Option<i32> {
    let digit = |index: usize| text.get(index).filter(|byte| byte.is_ascii_digit());
    Some(i32::from(digit(index)? - b'0') * 10 + i32::from(digit(index + 1)? - b'0'))
}
