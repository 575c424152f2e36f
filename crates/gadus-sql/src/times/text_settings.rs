//! Settings of a session that the texts of values depend on.

use gadus_engine::{write_double, write_real};
use gadus_functions::{bytes, numbers};
use gadus_times::{Settings, TimestampTz};
use std::fmt::{self, Write};
use std::ops::{Deref, DerefMut};

/// Digits of double precision that no conversion loses.
const DOUBLE_DIGITS: i32 = 15;

/// Digits of single precision that no conversion loses.
const REAL_DIGITS: i32 = 6;

/// Settings of dates and times, of floating-point numbers, and of byte strings.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSettings {
    times: Settings,
    /// `extra_float_digits`: above zero, numbers have the fewest digits that mean them.
    pub(crate) extra_float_digits: i32,
    /// `bytea_output`: true for escapes in the place of hexadecimal digits.
    pub(crate) escapes_bytes: bool,
}

impl TextSettings {
    /// Returns the settings of a session that has set nothing but times.
    pub(crate) fn new(times: Settings) -> Self {
        Self { times, extra_float_digits: 1, escapes_bytes: false }
    }

    /// Returns the settings for a transaction that began then.
    pub(crate) fn of_transaction(&self, now: TimestampTz) -> Self {
        let mut settings = self.clone();
        settings.now = now;
        settings
    }

    /// Writes a number of double precision.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_double(&self, out: &mut impl Write, value: f64) -> fmt::Result {
        match self.extra_float_digits {
            1.. => write_double(out, value),
            fewer if value.is_finite() => out.write_str(&rounded(value, DOUBLE_DIGITS + fewer)),
            _ => write_double(out, value),
        }
    }

    /// Writes a number of single precision.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write_real(&self, out: &mut impl Write, value: f32) -> fmt::Result {
        match self.extra_float_digits {
            1.. => write_real(out, value),
            fewer if value.is_finite() => {
                out.write_str(&rounded(value.into(), REAL_DIGITS + fewer))
            }
            _ => write_real(out, value),
        }
    }

    /// Returns true if byte strings are written with escapes.
    #[must_use]
    pub fn escapes_bytes(&self) -> bool {
        self.escapes_bytes
    }

    /// Returns the text of a byte string.
    #[must_use]
    pub fn bytes_text(&self, value: &[u8]) -> String {
        match self.escapes_bytes {
            true => bytes::escapes(value),
            false => bytes::write_bytes(value),
        }
    }
}

fn rounded(value: f64, digits: i32) -> String {
    numbers::with_digits(value, usize::try_from(digits).unwrap_or(1))
}

impl Deref for TextSettings {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.times
    }
}

impl DerefMut for TextSettings {
    fn deref_mut(&mut self) -> &mut Settings {
        &mut self.times
    }
}
