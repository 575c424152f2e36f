//! Numerals at the beginning of a text, as C's library reads them.

/// Integer at the beginning of a text.
pub(super) struct Leading<'a> {
    /// Value; the nearest bound if it does not fit.
    pub(super) value: i64,
    /// True if the value does not fit 64 bits.
    pub(super) overflows: bool,
    /// Text after the numeral; all of it if there is none.
    pub(super) rest: &'a [u8],
}

/// Reads an integer of any size, with a sign.
pub(super) fn leading(text: &[u8]) -> Leading<'_> {
    let spaces = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    let text = &text[spaces.unwrap_or(0)..];
    let (is_negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let count = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if count == 0 {
        return Leading { value: 0, overflows: false, rest: text };
    }
    let (digits, rest) = digits.split_at(count);
    let mut value = Some(0_i64);
    for digit in digits {
        let digit = i64::from(digit - b'0');
        let signed = if is_negative { -digit } else { digit };
        value = value.and_then(|value| value.checked_mul(10)?.checked_add(signed));
    }
    let bound = if is_negative { i64::MIN } else { i64::MAX };
    Leading { value: value.unwrap_or(bound), overflows: value.is_none(), rest }
}

/// Reads an integer of 32 bits, with a sign; `None` if it does not fit.
pub(super) fn leading_i32(text: &[u8]) -> Option<(i32, &[u8])> {
    let found = leading(text);
    Some((i32::try_from(found.value).ok().filter(|_| !found.overflows)?, found.rest))
}

/// Reads a decimal point and digits up to the end of a text.
pub(super) fn fraction(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b".")?;
    if digits.is_empty() {
        return Some(0.0);
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    leading_fraction(text)
}

/// Reads a decimal point and the digits after it, whatever follows.
pub(super) fn leading_fraction(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b".")?;
    let count = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    if count == 0 {
        return Some(0.0);
    }
    std::str::from_utf8(&text[..=count]).ok()?.parse().ok()
}

/// Returns the microseconds of a fraction of a second.
pub(super) fn microseconds(fraction: f64) -> i32 {
    crate::integers::truncated_i32((fraction * 1_000_000.0).round_ties_even())
}

/// Number at the beginning of a text, as C's `strtod` reads it, and the text after it.
///
/// `None` if there is none, or if it overflows or underflows. Infinities, NaN and hexadecimal numbers are numbers.
pub(super) fn number(text: &[u8]) -> Option<(f64, &[u8])> {
    let (sign, body) = match text.first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    for (name, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        let has_name =
            body.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()));
        if has_name {
            return Some((sign * value, &body[name.len()..]));
        }
    }
    if let [b'0', b'x' | b'X', digits @ ..] = body
        && let Some((value, rest)) = hexadecimal(digits)
    {
        return Some((sign * value, rest));
    }
    let integer = digits(body);
    let mut end = integer;
    let mut has_digits = integer > 0;
    if body.get(end) == Some(&b'.') {
        let count = digits(&body[end + 1..]);
        if has_digits || count > 0 {
            end += 1 + count;
            has_digits = true;
        }
    }
    if !has_digits {
        return None;
    }
    if matches!(body.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(body.get(end + 1), Some(b'-' | b'+')));
        let count = digits(body.get(end + 1 + signed..).unwrap_or_default());
        if count > 0 {
            end += 1 + signed + count;
        }
    }
    let (numeral, rest) = body.split_at(end);
    let value: f64 = std::str::from_utf8(numeral).ok()?.parse().ok()?;
    let mantissa = numeral.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    let is_zero = !mantissa.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    let is_exact = value.is_normal() || (is_zero && value == 0.0);
    is_exact.then_some((sign * value, rest))
}

fn digits(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len())
}

/// Reads digits after `0x`, with a point and a binary exponent.
fn hexadecimal(text: &[u8]) -> Option<(f64, &[u8])> {
    let (mut value, mut scale, mut count) = (0.0_f64, None, 0);
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        match char::from(*first).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                scale = scale.map(|scale: f64| scale / 16.0);
                count += 1;
            }
            None if *first == b'.' && scale.is_none() => scale = Some(1.0),
            None => break,
        }
        rest = others;
    }
    if count == 0 {
        return None;
    }
    let mut value = value * scale.unwrap_or(1.0);
    if let Some((b'p' | b'P', exponent)) = rest.split_first() {
        let found = leading(exponent);
        if found.rest.len() < exponent.len() {
            value *= 2.0_f64.powi(crate::integers::low_bits(found.value.clamp(-5000, 5000)));
            rest = found.rest;
        }
    }
    (value.is_normal() || value == 0.0).then_some((value, rest))
}
