//! Points in time and intervals written by a template.

use super::keys::{DAYS, Key, Letters, MONTHS, ROMAN_MONTHS};
use super::template::{Field, Item, parse};
use crate::error::{FunctionError, Result};
use crate::times::julian::{date_of_julian, iso_day_of_year, iso_week, iso_year, julian, weekday};
use crate::times::{MICROSECONDS_PER_DAY, UNIX_EPOCH_JULIAN};

/// SQLSTATE of a template that does not fit a value.
const INVALID_DATETIME: &str = "22007";

/// Interval: months, days and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Months.
    pub months: i32,
    /// Days.
    pub days: i32,
    /// Time of day.
    pub microseconds: i64,
}

/// Offset of a time zone and its name at a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone<'a> {
    /// Seconds east of UTC.
    pub offset_seconds: i32,
    /// Abbreviation, such as `CEST`.
    pub abbreviation: &'a str,
}

/// Fields of a point in time or an interval.
#[derive(Debug, Default)]
struct Fields<'a> {
    year: i32,
    month: i32,
    day: i32,
    hour: i64,
    minute: i64,
    second: i64,
    microsecond: i64,
    weekday: i32,
    day_of_year: i32,
    is_interval: bool,
    zone: Option<Zone<'a>>,
}

/// Writes local time, in microseconds since 1970, of a time zone if it has one.
///
/// # Errors
/// 22P02 of an ordinal of what is no number.
pub fn timestamp_to_char(
    microseconds: i64,
    zone: Option<Zone<'_>>,
    template: &str,
) -> Result<Option<String>> {
    let days = microseconds.div_euclid(MICROSECONDS_PER_DAY);
    let day = i32::try_from(days).unwrap_or(i32::MAX).saturating_add(UNIX_EPOCH_JULIAN);
    let (year, month, day_of_month) = date_of_julian(day);
    let mut fields = Fields {
        year,
        month,
        day: day_of_month,
        weekday: weekday(day),
        day_of_year: day - julian(year, 1, 1) + 1,
        zone,
        ..Fields::default()
    };
    fields.set_time(microseconds.rem_euclid(MICROSECONDS_PER_DAY));
    fields.write(template)
}

/// Writes an interval.
///
/// # Errors
/// 22007 of a template with fields of the calendar.
pub fn interval_to_char(span: Span, template: &str) -> Result<Option<String>> {
    let (year, month) = (span.months / 12, span.months % 12);
    let day_of_year = (year.wrapping_mul(12).wrapping_add(month)).wrapping_mul(30);
    let mut fields = Fields {
        year,
        month,
        day: span.days,
        day_of_year: day_of_year.wrapping_add(span.days),
        is_interval: true,
        ..Fields::default()
    };
    fields.set_time(span.microseconds);
    fields.write(template)
}

impl Fields<'_> {
    fn set_time(&mut self, microseconds: i64) {
        self.microsecond = microseconds % 1_000_000;
        let seconds = microseconds / 1_000_000;
        (self.hour, self.minute, self.second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    }

    fn write(&self, template: &str) -> Result<Option<String>> {
        if template.is_empty() {
            return Ok(None);
        }
        let mut written = String::new();
        for item in parse(template) {
            match item {
                Item::Text(character) | Item::Space(character) | Item::Separator(character) => {
                    written.push(character);
                }
                Item::Field(field) => {
                    if self.is_interval && is_of_calendar(field.key) {
                        return Err(no_interval());
                    }
                    let mut value = match self.name(&field) {
                        Some(name) => name,
                        None => {
                            let mut number = self.number(&field);
                            if let Some(ordinal) = field.ordinal.filter(|_| !number.is_empty()) {
                                ordinal.append(&mut number)?;
                            }
                            number
                        }
                    };
                    written.push_str(&value);
                    value.clear();
                }
            }
        }
        Ok(Some(written))
    }

    /// Writes a field that is a word, or a zone.
    fn name(&self, field: &Field) -> Option<String> {
        let is_short = field.is_fill_mode || field.is_translated;
        let padded = |name: String, width: usize| {
            let width = if is_short { 0 } else { width };
            format!("{name:<width$}")
        };
        let month = usize::try_from(self.month - 1).ok();
        let month = month.and_then(|month| MONTHS.get(month)).copied().unwrap_or_default();
        let day = usize::try_from(self.weekday).ok().and_then(|day| DAYS.get(day));
        let day = day.copied().unwrap_or_default();
        Some(match field.key {
            Key::Meridiem { has_dots, letters } => {
                let is_after_noon = self.hour % 24 >= 12;
                marker(if is_after_noon { "PM" } else { "AM" }, has_dots, letters)
            }
            Key::Era { has_dots, letters } => {
                marker(if self.year <= 0 { "BC" } else { "AD" }, has_dots, letters)
            }
            Key::DayName(letters) => padded(letters.of(day), 9),
            Key::MonthName(letters) => padded(letters.of(month), 9),
            Key::ShortDayName(letters) => letters.of(&day[..3]),
            Key::ShortMonthName(letters) => letters.of(&month[..3]),
            Key::Zone(letters) => {
                self.zone.map_or_else(String::new, |zone| letters.of(zone.abbreviation))
            }
            Key::Offset => self.offset(field.is_fill_mode),
            Key::ZoneHour => {
                let (sign, hours, _) = self.offset_parts();
                format!("{sign}{hours:02}")
            }
            Key::ZoneMinute => format!("{:02}", self.offset_parts().2),
            Key::RomanMonth(letters) => self.roman_month(letters, field.is_fill_mode),
            Key::Fixed => String::new(),
            _ => return None,
        })
    }

    /// Returns the sign, the hours and the minutes of the offset.
    fn offset_parts(&self) -> (char, u32, u32) {
        let seconds = self.zone.map_or(0, |zone| zone.offset_seconds);
        let minutes = seconds.unsigned_abs() / 60;
        (if seconds < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }

    fn offset(&self, is_fill_mode: bool) -> String {
        let (sign, hours, minutes) = self.offset_parts();
        let mut shown = match is_fill_mode {
            true => format!("{sign}{hours}"),
            false => format!("{sign}{hours:02}"),
        };
        if self.zone.is_some_and(|zone| zone.offset_seconds % 3600 != 0) {
            shown.push_str(&format!(":{minutes:02}"));
        }
        shown
    }

    fn roman_month(&self, letters: Letters, is_fill_mode: bool) -> String {
        let index = match self.month {
            0 if self.year == 0 => return String::new(),
            0 => {
                if self.year >= 0 {
                    0
                } else {
                    11
                }
            }
            ..0 => -(self.month + 1),
            month => 12 - month,
        };
        let index = usize::try_from(index).unwrap_or(0);
        let name = letters.of(ROMAN_MONTHS.get(index).copied().unwrap_or_default());
        let width = if is_fill_mode { 0 } else { 4 };
        format!("{name:<width$}")
    }

    /// Writes a field that is a number.
    fn number(&self, field: &Field) -> String {
        let padded = |value: i64, width: usize| {
            let width = if field.is_fill_mode { 0 } else { width };
            format!("{value:0width$}")
        };
        // The sign takes a place of its own.
        let signed =
            |value: i64, sign: i64, width: usize| padded(value, width + usize::from(sign < 0));
        let (year, month, day) = (self.year, self.month, self.day);
        match field.key {
            Key::Hour12 => {
                let hour = if self.hour % 12 == 0 { 12 } else { self.hour % 12 };
                signed(hour, self.hour, 2)
            }
            Key::Hour24 => signed(self.hour, self.hour, 2),
            Key::Minute => signed(self.minute, self.minute, 2),
            Key::Second => signed(self.second, self.second, 2),
            Key::Fraction(digits) => self.fraction(digits),
            Key::Millisecond => self.fraction(3),
            Key::Microsecond => self.fraction(6),
            Key::SecondOfDay => (self.hour * 3600 + self.minute * 60 + self.second).to_string(),
            Key::Month => signed(month.into(), month.into(), 2),
            Key::DayOfYear => padded(self.day_of_year.into(), 3),
            Key::IsoDayOfYear => padded(iso_day_of_year(year, month, day).into(), 3),
            Key::DayOfMonth => padded(day.into(), 2),
            Key::DayOfWeek => (self.weekday + 1).to_string(),
            Key::IsoDay => (if self.weekday == 0 { 7 } else { self.weekday }).to_string(),
            Key::Week => padded(i64::from((self.day_of_year - 1) / 7 + 1), 2),
            Key::IsoWeek => padded(iso_week(year, month, day).into(), 2),
            Key::WeekOfMonth => ((day - 1) / 7 + 1).to_string(),
            Key::Quarter if month == 0 => String::new(),
            Key::Quarter => ((month - 1) / 3 + 1).to_string(),
            Key::Century => {
                let century = self.century();
                match century {
                    -99..=99 => signed(century, century, 2),
                    _ => century.to_string(),
                }
            }
            Key::YearWithComma => {
                let year = self.shown(year);
                format!("{},{:03}", year / 1000, year - year / 1000 * 1000)
            }
            Key::Year(digits) => self.year(self.shown(year), digits, field),
            Key::IsoYear(digits) => {
                self.year(self.shown(iso_year(year, month, day)), digits, field)
            }
            Key::Julian => julian(year, month, day).to_string(),
            _ => String::new(),
        }
    }

    fn fraction(&self, digits: usize) -> String {
        let unit = 10_i64.pow(u32::try_from(6 - digits).unwrap_or(0));
        format!("{:0digits$}", self.microsecond / unit)
    }

    /// Returns the year as people count it: there is no year 0.
    fn shown(&self, year: i32) -> i64 {
        let year = i64::from(year);
        if !self.is_interval && year <= 0 { 1 - year } else { year }
    }

    fn year(&self, year: i64, digits: usize, field: &Field) -> String {
        let is_negative = self.shown(self.year) < 0;
        let width = match digits {
            1 => 1,
            _ if field.is_fill_mode => 0,
            digits => digits + usize::from(is_negative),
        };
        let year = if digits == 4 { year } else { year % [1, 10, 100, 1000][digits] };
        format!("{year:0width$}")
    }

    fn century(&self) -> i64 {
        let year = i64::from(self.year);
        match year {
            _ if self.is_interval => year / 100,
            1.. => (year - 1) / 100 + 1,
            _ => year / 100 - 1,
        }
    }
}

/// Writes a word of two letters, perhaps with dots.
fn marker(word: &str, has_dots: bool, letters: Letters) -> String {
    let word = letters.of(word);
    match has_dots {
        true => word.chars().flat_map(|letter| [letter, '.']).collect(),
        false => word,
    }
}

/// True of fields that no interval has.
fn is_of_calendar(key: Key) -> bool {
    matches!(
        key,
        Key::Zone(_)
            | Key::ZoneHour
            | Key::ZoneMinute
            | Key::Offset
            | Key::Era { .. }
            | Key::MonthName(_)
            | Key::ShortMonthName(_)
            | Key::DayName(_)
            | Key::ShortDayName(_)
            | Key::DayOfWeek
            | Key::IsoDay
    )
}

fn no_interval() -> FunctionError {
    let message = "invalid format specification for an interval value";
    let hint = "Intervals are not tied to specific calendar dates.";
    FunctionError::new(INVALID_DATETIME, message).hint(hint)
}
