//! Text of a value, as PostgreSQL writes it.

use super::{Numeric, Repr, decimal_digits};
use dashu_int::Sign;
use dashu_int::ops::UnsignedAbs;
use std::fmt::{self, Write};

/// Bytes of a text of 128 bits: 40 digits of a fraction or 39 of an integer, a zero, a point and a sign.
const BUFFER_BYTES: usize = 48;
/// Greatest scale of a text in a buffer.
const BUFFER_SCALE_MAX: usize = 40;
/// Digits that are split off a value of more than 64 bits.
const GROUP_DIGITS: u32 = 19;
/// Power of ten of as many digits.
const GROUP: u64 = 10_u64.pow(GROUP_DIGITS);

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small { unscaled, scale } => write_small(f, *unscaled, usize::from(*scale)),
            Repr::Large { unscaled, scale } => {
                if unscaled.sign() == Sign::Negative {
                    f.write_char('-')?;
                }
                let digits = decimal_digits(&unscaled.unsigned_abs());
                write_digits(f, &digits, usize::from(*scale))
            }
            Repr::Infinity => f.write_str("Infinity"),
            Repr::NegativeInfinity => f.write_str("-Infinity"),
            Repr::Nan => f.write_str("NaN"),
        }
    }
}

impl fmt::Debug for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn write_small(f: &mut fmt::Formatter<'_>, unscaled: i128, scale: usize) -> fmt::Result {
    if scale > BUFFER_SCALE_MAX {
        f.write_str(if unscaled < 0 { "-" } else { "" })?;
        return write_digits(f, &unscaled.unsigned_abs().to_string(), scale);
    }
    let mut text = BackwardText { buffer: [0; BUFFER_BYTES], start: BUFFER_BYTES, scale };
    let mut rest = unscaled.unsigned_abs();
    // Division of 64 bits is several times faster than that of 128.
    while rest > u128::from(u64::MAX) {
        let mut group = u64::try_from(rest % u128::from(GROUP)).unwrap_or(0);
        rest /= u128::from(GROUP);
        for _ in 0..GROUP_DIGITS {
            text.push(group % 10);
            group /= 10;
        }
    }
    let mut rest = u64::try_from(rest).unwrap_or(0);
    while rest > 0 || text.digits() <= scale {
        text.push(rest % 10);
        rest /= 10;
    }
    if unscaled < 0 {
        text.push_byte(b'-');
    }
    f.write_str(std::str::from_utf8(&text.buffer[text.start..]).unwrap_or(""))
}

/// Decimal text that is written from its end.
struct BackwardText {
    buffer: [u8; BUFFER_BYTES],
    start: usize,
    scale: usize,
}

impl BackwardText {
    /// Writes a digit, and the decimal point before it.
    fn push(&mut self, digit: u64) {
        if self.scale > 0 && BUFFER_BYTES - self.start == self.scale {
            self.push_byte(b'.');
        }
        self.push_byte(b'0' + digit.to_le_bytes()[0]);
    }

    fn push_byte(&mut self, byte: u8) {
        self.start -= 1;
        self.buffer[self.start] = byte;
    }

    /// Returns the count of digits written.
    fn digits(&self) -> usize {
        let written = BUFFER_BYTES - self.start;
        written - usize::from(self.scale > 0 && written > self.scale)
    }
}

/// Writes digits of an integer with a decimal point before the last `scale` of them.
fn write_digits(f: &mut fmt::Formatter<'_>, digits: &str, scale: usize) -> fmt::Result {
    if scale == 0 {
        return f.write_str(digits);
    }
    match digits.len().checked_sub(scale) {
        Some(point @ 1..) => {
            let (integer, fraction) = digits.split_at(point);
            f.write_str(integer)?;
            f.write_char('.')?;
            f.write_str(fraction)
        }
        _ => write!(f, "0.{digits:0>scale$}"),
    }
}
