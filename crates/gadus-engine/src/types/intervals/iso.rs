//! Intervals as ISO 8601 writes them: `P1Y2M3DT4H5M6.7S`, and `P0001-02-03T04:05:06`.

use super::IntervalError;
use super::IntervalUnit as Unit;
use super::read::Read;

/// The greatest number, as PostgreSQL has it: doubles are exact up to it.
const NUMBER_MAX: f64 = 1e15;

/// What an interval of this form is.
pub(super) fn parse(text: &str) -> Result<Read, IntervalError> {
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty());
    let mut read = Read::default();
    let (mut is_time, mut has_field) = (false, false);
    while let Some(text) = rest.filter(|text| !text.is_empty()) {
        if let Some(behind) = text.strip_prefix('T') {
            (is_time, has_field) = (true, false);
            rest = Some(behind);
            continue;
        }
        let (whole, fraction, behind) = number(text)?;
        let unit = match (behind.chars().next(), is_time) {
            (Some('Y'), false) => Unit::Year,
            (Some('M'), false) => Unit::Month,
            (Some('W'), false) => Unit::Week,
            (Some('D'), false) => Unit::Day,
            (Some('H'), true) => Unit::Hour,
            (Some('M'), true) => Unit::Minute,
            (Some('S'), true) => Unit::Second,
            (Some('T') | None, false) | (None, true) if !has_field => {
                let width = text.find(|character: char| !character.is_ascii_digit());
                let width = width.unwrap_or(text.len());
                if width == if is_time { 6 } else { 8 } {
                    packed(&mut read, whole, fraction, is_time)?;
                    rest = Some(behind);
                    continue;
                }
                rest = Some(parted(&mut read, text, is_time)?);
                continue;
            }
            (Some('-'), false) | (Some(':'), true) if !has_field => {
                rest = Some(parted(&mut read, text, is_time)?);
                continue;
            }
            _ => return Err(IntervalError::Syntax),
        };
        read.add(whole, fraction, unit)?;
        has_field = true;
        rest = behind.get(1..);
    }
    if rest.is_none() { Err(IntervalError::Syntax) } else { Ok(read) }
}

/// `00010203` and `040506`.
fn packed(read: &mut Read, whole: i64, fraction: f64, is_time: bool) -> Result<(), IntervalError> {
    let (first, second, third) = (whole / 10_000, whole / 100 % 100, whole % 100);
    let units = units(is_time);
    read.add(first, 0.0, units[0])?;
    read.add(second, 0.0, units[1])?;
    read.add(third, fraction, units[2])
}

/// `0001-02-03` and `04:05:06`, of which the last ones may be missing; gives what is behind.
fn parted<'a>(read: &mut Read, text: &'a str, is_time: bool) -> Result<&'a str, IntervalError> {
    let delimiter = if is_time { ':' } else { '-' };
    let mut rest = text;
    for (place, unit) in units(is_time).into_iter().enumerate() {
        let (whole, fraction, behind) = number(rest)?;
        read.add(whole, fraction, unit)?;
        match behind.chars().next() {
            None => return Ok(""),
            Some('T') if !is_time => return Ok(behind),
            Some(next) if next == delimiter && place < 2 => rest = &behind[1..],
            Some(_) => break,
        }
    }
    Err(IntervalError::Syntax)
}

fn units(is_time: bool) -> [Unit; 3] {
    match is_time {
        true => [Unit::Hour, Unit::Minute, Unit::Second],
        false => [Unit::Year, Unit::Month, Unit::Day],
    }
}

/// A number with its sign and its fraction, and what is behind it.
#[allow(clippy::cast_possible_truncation)] // checked against the greatest
fn number(text: &str) -> Result<(i64, f64, &str), IntervalError> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.')) {
        return Err(IntervalError::Syntax);
    }
    let is_part = |(place, character): (usize, char)| {
        let has_sign = place == 0 || text[..place].ends_with(['e', 'E']);
        character.is_ascii_digit()
            || matches!(character, '.' | 'e' | 'E')
            || (has_sign && character == '-')
    };
    let end = text.char_indices().find(|character| !is_part(*character));
    let (number, behind) = text.split_at(end.map_or(text.len(), |(place, _)| place));
    let value = number.parse::<f64>().map_err(|_| IntervalError::Syntax)?;
    if value.abs() > NUMBER_MAX {
        return Err(IntervalError::Field);
    }
    Ok((value.trunc() as i64, value.fract(), behind))
}
