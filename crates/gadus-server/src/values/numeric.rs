//! Decimals in text, and in PostgreSQL's binary form: digits of base 10,000 around a point.

use crate::error::{Failure, SqlState};
use bytes::{Buf, BufMut, BytesMut};

const BASE: u128 = 10_000;
const NEGATIVE: u16 = 0x4000;
const POSITIVE: u16 = 0x0000;
const NOT_A_NUMBER: u16 = 0xC000;
const INFINITE: u16 = 0xD000;
const NEGATIVE_INFINITE: u16 = 0xF000;
/// Digits that a decimal has at most.
const DIGITS_MAX: usize = 38;
/// Groups of four digits that a decimal has at most, also with 128 zeros behind its digits.
const GROUPS_MAX: usize = 48;

/// Writes a decimal as text, with all digits of its scale.
pub(super) fn put_text(body: &mut BytesMut, value: i128, scale: i8) {
    if value < 0 {
        body.put_u8(b'-');
    }
    let digits = value.unsigned_abs().to_string();
    let Ok(behind) = usize::try_from(scale) else {
        body.put_slice(digits.as_bytes());
        body.put_bytes(b'0', if value == 0 { 0 } else { usize::from(scale.unsigned_abs()) });
        return;
    };
    let padded = format!("{digits:0>width$}", width = behind + 1);
    let (whole, fraction) = padded.split_at(padded.len() - behind);
    body.put_slice(whole.as_bytes());
    if !fraction.is_empty() {
        body.put_u8(b'.');
        body.put_slice(fraction.as_bytes());
    }
}

/// Writes a decimal in binary.
pub(super) fn put_binary(body: &mut BytesMut, value: i128, scale: i8) {
    let behind = u32::from(scale.unsigned_abs());
    let mut rest = value.unsigned_abs();
    // Digits behind the point fill whole groups of four.
    let (groups_behind, missing) = match scale {
        0.. => (behind.div_ceil(4), behind.next_multiple_of(4) - behind),
        _ => (0, behind),
    };
    let mut groups = [0_u16; GROUPS_MAX];
    let mut count = 0;
    let mut push = |group: u128| {
        groups[count] = u16::try_from(group).unwrap_or(0);
        count += 1;
    };
    if missing > 0 {
        // The lowest group has fewer digits of the value.
        let taken = 10_u128.pow((4 - missing % 4) % 4);
        let shift = 10_u128.pow(missing % 4);
        for _ in 0..missing / 4 {
            push(0);
        }
        if missing % 4 > 0 {
            push((rest % taken) * shift);
            rest /= taken;
        }
    }
    while rest > 0 {
        push(rest % BASE);
        rest /= BASE;
    }
    let groups = &groups[..count];
    // Groups of zeros at the low end are not sent.
    let low = groups.iter().take_while(|group| **group == 0).count();
    let sent = &groups[low..];
    let weight =
        i32::try_from(groups.len()).unwrap_or(0) - i32::try_from(groups_behind).unwrap_or(0) - 1;
    body.put_u16(u16::try_from(sent.len()).unwrap_or(0));
    body.put_i16(if sent.is_empty() { 0 } else { i16::try_from(weight).unwrap_or(0) });
    body.put_u16(if value < 0 { NEGATIVE } else { POSITIVE });
    body.put_u16(u16::try_from(scale).unwrap_or(0));
    for group in sent.iter().rev() {
        body.put_u16(*group);
    }
}

/// Writes a decimal of any length in binary, from its digits as text.
pub(super) fn put_wide_binary(body: &mut BytesMut, unscaled: &str, scale: i8) {
    match usize::try_from(scale) {
        Ok(behind) => put_digits(body, unscaled, behind),
        Err(_) => {
            let zeros = usize::from(scale.unsigned_abs());
            put_digits(body, &format!("{unscaled}{:0<zeros$}", ""), 0);
        }
    }
}

/// Writes digits, so many of them behind the point, in binary.
fn put_digits(body: &mut BytesMut, digits: &str, behind: usize) {
    let (is_negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits),
    };
    let padded = format!("{digits:0>width$}", width = behind + 1);
    let (whole, fraction) = padded.split_at(padded.len() - behind);
    // Groups of four on each side of the point.
    let whole = format!("{whole:0>width$}", width = whole.len().next_multiple_of(4));
    let fraction = format!("{fraction:0<width$}", width = fraction.len().next_multiple_of(4));
    let value = |sum: u16, digit: &u8| sum * 10 + u16::from(digit - b'0');
    let group = |digits: &[u8]| digits.iter().fold(0, value);
    let groups = [whole.as_bytes(), fraction.as_bytes()].concat();
    let groups = groups.chunks(4).map(group).collect::<Vec<_>>();
    let high = groups.iter().take_while(|group| **group == 0).count();
    let low = groups.iter().rposition(|group| *group > 0).map_or(high, |last| last + 1);
    let sent = &groups[high..low];
    let weight = i16::try_from(whole.len() / 4 - 1).unwrap_or(0) - i16::try_from(high).unwrap_or(0);
    body.put_u16(u16::try_from(sent.len()).unwrap_or(0));
    body.put_i16(if sent.is_empty() { 0 } else { weight });
    body.put_u16(if is_negative { NEGATIVE } else { POSITIVE });
    body.put_u16(u16::try_from(behind).unwrap_or(0));
    for group in sent {
        body.put_u16(*group);
    }
}

/// Writes a numeric in binary, from its text.
pub(super) fn put_binary_of_text(body: &mut BytesMut, text: &str) {
    let special = match text {
        "NaN" => Some(NOT_A_NUMBER),
        "Infinity" => Some(INFINITE),
        "-Infinity" => Some(NEGATIVE_INFINITE),
        _ => None,
    };
    if let Some(special) = special {
        body.put_slice(&[0; 4]);
        body.put_u16(special);
        body.put_u16(0);
        return;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    put_digits(body, &format!("{whole}{fraction}"), fraction.len());
}

/// Reads a decimal in binary: unscaled value and scale.
pub(super) fn read_binary(mut bytes: &[u8]) -> Result<(i128, i8), Failure> {
    let wrong = || Failure::new(SqlState::INVALID_BINARY, "a numeric has a wrong binary form");
    if bytes.len() < 8 {
        return Err(wrong());
    }
    let (count, weight) = (usize::from(bytes.get_u16()), i32::from(bytes.get_i16()));
    let (sign, scale) = (bytes.get_u16(), bytes.get_u16());
    if bytes.len() != count * 2 {
        return Err(wrong());
    }
    if !matches!(sign, POSITIVE | NEGATIVE) {
        let text = "NaN and infinity are no values of a numeric here";
        return Err(Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, text));
    }
    let scale =
        i8::try_from(scale).ok().filter(|scale| usize::from(scale.unsigned_abs()) <= DIGITS_MAX);
    let scale = scale.ok_or_else(too_long)?;
    let mut value = 0_i128;
    for place in 0..count {
        let group = i128::from(bytes.get_u16());
        if group >= 10_000 {
            return Err(wrong());
        }
        // The power of ten of the group's lowest digit, in units of the scale.
        let place = i32::try_from(place).map_err(|_| too_long())?;
        let power = (weight - place) * 4 + i32::from(scale);
        let part = match u32::try_from(power) {
            Ok(power) => 10_i128.checked_pow(power).and_then(|unit| group.checked_mul(unit)),
            // Digits behind the scale: a client sends none but zeros.
            Err(_) => Some(group / 10_i128.pow(power.unsigned_abs().min(4))),
        };
        value = part.and_then(|part| value.checked_add(part)).ok_or_else(too_long)?;
    }
    Ok((if sign == NEGATIVE { -value } else { value }, scale))
}

/// Reads a decimal as text: unscaled value and scale.
pub(super) fn read_text(text: &str) -> Result<(i128, i8), Failure> {
    let wrong = || {
        let shown = text.chars().take(60).collect::<String>();
        let message = format!("invalid input syntax for type numeric: \"{shown}\"");
        Failure::new(SqlState::INVALID_TEXT, message)
    };
    let trimmed = text.trim();
    let (digits, exponent) = match trimmed.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().map_err(|_| wrong())?),
        None => (trimmed, 0),
    };
    let (is_negative, digits) = match digits.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
        return Err(match trimmed.to_ascii_lowercase().as_str() {
            "nan" | "infinity" | "-infinity" | "inf" | "-inf" => {
                let text = "NaN and infinity are no values of a numeric here";
                Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, text)
            }
            _ => wrong(),
        });
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() + fraction.len() > 2 * DIGITS_MAX {
        return Err(too_long());
    }
    let scale = i32::try_from(fraction.len()).map_err(|_| too_long())?.checked_sub(exponent);
    let scale = scale.ok_or_else(too_long)?;
    let mut value = format!("0{whole}{fraction}").parse::<i128>().map_err(|_| too_long())?;
    if scale < 0 {
        let unit = 10_i128.checked_pow(scale.unsigned_abs());
        value = unit.and_then(|unit| value.checked_mul(unit)).ok_or_else(too_long)?;
    }
    let scale = i8::try_from(scale.max(0)).ok();
    let scale = scale.filter(|scale| usize::from(scale.unsigned_abs()) <= DIGITS_MAX);
    Ok((if is_negative { -value } else { value }, scale.ok_or_else(too_long)?))
}

fn too_long() -> Failure {
    let text = format!("a numeric has at most {DIGITS_MAX} digits");
    Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, text)
}
