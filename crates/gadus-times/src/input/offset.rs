//! Numeric offsets of zones: `+05:30`, `-0800`, `+01:02:03`.

use super::fault::Fault;
use super::numerals::leading_i32;

/// Hours of an offset at most.
const HOURS_MAX: i32 = 15;

/// Returns the seconds west of UTC of a signed offset.
///
/// # Errors
/// A format fault without a sign or with other characters, an offset fault beyond the range.
pub(crate) fn offset(text: &[u8]) -> Result<i32, Fault> {
    let is_negative = match text.first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(Fault::Format),
    };
    let (mut hours, mut rest) = leading_i32(&text[1..]).ok_or(Fault::Offset)?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(after) = rest.strip_prefix(b":") {
        (minutes, rest) = leading_i32(after).ok_or(Fault::Offset)?;
        if let Some(after) = rest.strip_prefix(b":") {
            (seconds, rest) = leading_i32(after).ok_or(Fault::Offset)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let is_valid = (0..=HOURS_MAX).contains(&hours)
        && (0..60).contains(&minutes)
        && (0..60).contains(&seconds);
    if !is_valid {
        return Err(Fault::Offset);
    }
    if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let east = (hours * 60 + minutes) * 60 + seconds;
    Ok(if is_negative { east } else { -east })
}
