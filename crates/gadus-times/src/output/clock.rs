//! Digits, times and offsets.

use crate::calendar::Civil;
use crate::settings::Settings;
use crate::values::{Time, TimeTz};

/// Two digits of each number below 100.
const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends a number of two digits or more.
pub(super) fn pair(value: u32, text: &mut String) {
    if value >= 100 {
        return number(u64::from(value), text);
    }
    let index = 2 * value as usize;
    let digits = &PAIRS[index..index + 2];
    text.push(char::from(digits[0]));
    text.push(char::from(digits[1]));
}

/// Appends a number without leading zeros.
pub(super) fn number(value: u64, text: &mut String) {
    use std::fmt::Write;
    // Writing to a string cannot fail.
    let _ = write!(text, "{value}");
}

/// Appends a year of four digits or more.
pub(super) fn year(value: u32, text: &mut String) {
    if value >= 10_000 {
        return number(u64::from(value), text);
    }
    pair(value / 100, text);
    pair(value % 100, text);
}

/// Appends the fraction of a second without trailing zeros.
pub(super) fn fraction(microsecond: u32, text: &mut String) {
    if microsecond == 0 {
        return;
    }
    text.push('.');
    let end = text.len() + 6;
    pair(microsecond / 10_000, text);
    pair(microsecond / 100 % 100, text);
    pair(microsecond % 100, text);
    debug_assert_eq!(text.len(), end);
    text.truncate(text.trim_end_matches('0').len());
}

/// Appends hour, minute, second and fraction.
pub(super) fn clock(civil: &Civil, text: &mut String) {
    pair(civil.hour.unsigned_abs(), text);
    text.push(':');
    pair(civil.minute.unsigned_abs(), text);
    text.push(':');
    pair(civil.second.unsigned_abs(), text);
    fraction(civil.microsecond.unsigned_abs(), text);
}

/// Appends an offset in seconds east of UTC, as short as possible.
pub(super) fn offset(east: i32, text: &mut String) {
    let seconds = east.unsigned_abs();
    text.push(if east >= 0 { '+' } else { '-' });
    pair(seconds / 3600, text);
    if !seconds.is_multiple_of(3600) {
        text.push(':');
        pair(seconds / 60 % 60, text);
    }
    if !seconds.is_multiple_of(60) {
        text.push(':');
        pair(seconds % 60, text);
    }
}

impl Time {
    /// Appends the text; it is the same in all styles.
    pub fn write(&self, _settings: &Settings, text: &mut String) {
        clock(&self.civil(), text);
    }
}

impl TimeTz {
    /// Appends the text; it is the same in all styles.
    pub fn write(&self, settings: &Settings, text: &mut String) {
        self.time.write(settings, text);
        offset(self.west.wrapping_neg(), text);
    }
}
