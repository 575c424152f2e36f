//! Intervals in four styles.

use super::clock::{fraction, number, pair};
use crate::settings::{IntervalStyle, Settings};
use crate::values::{Interval, IntervalFields};

impl Interval {
    /// Appends the text in the style of a session.
    pub fn write(&self, settings: &Settings, text: &mut String) {
        write(*self, settings.interval_style, text);
    }
}

/// Appends an interval in a style.
pub(crate) fn write(value: Interval, style: IntervalStyle, text: &mut String) {
    let fields = value.fields();
    match style {
        IntervalStyle::Postgres => postgres(&fields, text),
        IntervalStyle::PostgresVerbose => verbose(&fields, text),
        IntervalStyle::SqlStandard => sql_standard(&fields, text),
        IntervalStyle::Iso8601 => iso_8601(&fields, text),
    }
}

impl IntervalFields {
    fn date(&self) -> [i64; 3] {
        [i64::from(self.year), i64::from(self.month), i64::from(self.day)]
    }

    fn has_year_or_month(&self) -> bool {
        self.year != 0 || self.month != 0
    }

    /// Returns the sign of the clock, whose fields all have the same: -1, 0 or 1.
    fn clock_sign(&self) -> i64 {
        let seconds = i64::from(self.minute | self.second | self.microsecond);
        if self.hour != 0 { self.hour.signum() } else { seconds.signum() }
    }
}

/// Appends `1 year 2 mons 3 days 04:05:06`. A positive field after a negative one has a sign.
fn postgres(fields: &IntervalFields, text: &mut String) {
    let begin = text.len();
    let mut is_after_negative = false;
    for (value, unit) in fields.date().into_iter().zip(["year", "mon", "day"]) {
        if value == 0 {
            continue;
        }
        if text.len() > begin {
            text.push(' ');
        }
        if is_after_negative && value > 0 {
            text.push('+');
        }
        amount(value, unit, value == 1, text);
        is_after_negative = value < 0;
    }
    let sign = fields.clock_sign();
    if text.len() > begin {
        if sign == 0 {
            return;
        }
        text.push(' ');
    }
    if sign < 0 {
        text.push('-');
    } else if is_after_negative {
        text.push('+');
    }
    clock(fields, true, text);
}

/// Appends `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`. The first field's sign is the one of all, as `ago`.
fn verbose(fields: &IntervalFields, text: &mut String) {
    text.push('@');
    let [year, month, day] = fields.date();
    let amounts = [
        (year, "year"),
        (month, "mon"),
        (day, "day"),
        (fields.hour, "hour"),
        (i64::from(fields.minute), "min"),
    ];
    let mut is_ago = None;
    for (value, unit) in amounts.into_iter().filter(|(value, _)| *value != 0) {
        let is_ago = *is_ago.get_or_insert(value < 0);
        text.push(' ');
        let value = if is_ago { value.wrapping_neg() } else { value };
        amount(value, unit, value == 1, text);
    }
    if fields.second != 0 || fields.microsecond != 0 {
        let is_negative = fields.second < 0 || fields.microsecond < 0;
        text.push(' ');
        if *is_ago.get_or_insert(is_negative) != is_negative {
            text.push('-');
        }
        seconds(fields, text);
        let is_one = fields.second.abs() == 1 && fields.microsecond == 0;
        text.push_str(if is_one { " sec" } else { " secs" });
    }
    match is_ago {
        None => text.push_str(" 0"),
        Some(true) => text.push_str(" ago"),
        Some(false) => {}
    }
}

/// Appends `1-2` or `3 4:05:06`; signs precede all fields if the standard has no text for the value.
fn sql_standard(fields: &IntervalFields, text: &mut String) {
    let sign = fields.clock_sign();
    let signs = fields.date().map(i64::signum).into_iter().chain([sign]);
    let (has_negative, has_positive) =
        (signs.clone().any(|sign| sign < 0), signs.clone().any(|sign| sign > 0));
    let has_day_or_time = fields.day != 0 || sign != 0;
    if !has_negative && !has_positive {
        text.push('0');
        return;
    }
    let mark = |is_negative: bool| if is_negative { '-' } else { '+' };
    if (has_negative && has_positive) || (fields.has_year_or_month() && has_day_or_time) {
        text.push(mark(fields.year < 0 || fields.month < 0));
        years_and_months(fields, text);
        text.push(' ');
        text.push(mark(fields.day < 0));
        number(u64::from(fields.day.unsigned_abs()), text);
        text.push(' ');
        text.push(mark(sign < 0));
        return clock(fields, false, text);
    }
    if has_negative {
        text.push('-');
    }
    if fields.has_year_or_month() {
        return years_and_months(fields, text);
    }
    if fields.day != 0 {
        number(u64::from(fields.day.unsigned_abs()), text);
        text.push(' ');
    }
    clock(fields, false, text);
}

/// Appends `P1Y2M3DT4H5M6S`.
fn iso_8601(fields: &IntervalFields, text: &mut String) {
    let [year, month, day] = fields.date();
    let sign = fields.clock_sign();
    if !fields.has_year_or_month() && day == 0 && sign == 0 {
        return text.push_str("PT0S");
    }
    text.push('P');
    designated(year, 'Y', text);
    designated(month, 'M', text);
    designated(day, 'D', text);
    if sign != 0 {
        text.push('T');
    }
    designated(fields.hour, 'H', text);
    designated(i64::from(fields.minute), 'M', text);
    if fields.second != 0 || fields.microsecond != 0 {
        if sign < 0 {
            text.push('-');
        }
        seconds(fields, text);
        text.push('S');
    }
}

fn amount(value: i64, unit: &str, is_one: bool, text: &mut String) {
    signed(value, text);
    text.push(' ');
    text.push_str(unit);
    if !is_one {
        text.push('s');
    }
}

fn designated(value: i64, unit: char, text: &mut String) {
    if value != 0 {
        signed(value, text);
        text.push(unit);
    }
}

fn signed(value: i64, text: &mut String) {
    if value < 0 {
        text.push('-');
    }
    number(value.unsigned_abs(), text);
}

fn years_and_months(fields: &IntervalFields, text: &mut String) {
    number(u64::from(fields.year.unsigned_abs()), text);
    text.push('-');
    number(u64::from(fields.month.unsigned_abs()), text);
}

/// Appends hours, minutes and seconds without a sign.
fn clock(fields: &IntervalFields, is_padded: bool, text: &mut String) {
    let hours = fields.hour.unsigned_abs();
    if is_padded && hours < 10 {
        text.push('0');
    }
    number(hours, text);
    text.push(':');
    pair(fields.minute.unsigned_abs(), text);
    text.push(':');
    pair(fields.second.unsigned_abs(), text);
    fraction(fields.microsecond.unsigned_abs(), text);
}

/// Appends seconds without a sign and without leading zeros.
fn seconds(fields: &IntervalFields, text: &mut String) {
    number(u64::from(fields.second.unsigned_abs()), text);
    fraction(fields.microsecond.unsigned_abs(), text);
}
