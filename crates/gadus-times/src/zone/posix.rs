//! POSIX texts of zones: `EST5EDT,M3.2.0,M11.1.0`, also within files of the database.

use super::rules::{LocalType, Rules, Transition};
use crate::calendar::{DAY_SECONDS, JULIAN_1970, days_in_month, is_leap, julian, weekday};

/// Rule of a zone that has daylight saving time but names no rule, as in `FOO5BAR`.
const DEFAULT_RULE: &[u8] = b",M3.2.0,M11.1.0";
/// Hours of a rule: up to a week, exclusive, as newer files of the database need.
const HOURS_MAX: i32 = 24 * 7 - 1;

/// Rule for the beginning and the end of daylight saving time in each year.
#[derive(Debug, Clone)]
pub(super) struct YearlyRule {
    pub(super) standard: usize,
    pub(super) daylight: usize,
    standard_offset: i32,
    daylight_offset: i32,
    start: Moment,
    end: Moment,
}

/// Day of a year and the seconds of it.
#[derive(Debug, Clone, Copy)]
struct Moment {
    day: RuleDay,
    seconds: i32,
}

/// Day of a year.
#[derive(Debug, Clone, Copy)]
enum RuleDay {
    /// Day from 1 to 365; February 29 is never counted.
    WithoutLeap(i32),
    /// Day from 0 to 365.
    Plain(i32),
    /// Weekday of a week of a month; week 5 is the last one.
    Week { month: i32, week: i32, weekday: i32 },
}

/// Zone as it is written: the names and offsets of its types, and the rule.
pub(super) struct Parsed {
    pub(super) types: Vec<LocalType>,
    pub(super) rule: Option<YearlyRule>,
}

/// Returns the rules of a text; `None` if it is not a zone.
pub(super) fn zone(text: &[u8]) -> Option<Rules> {
    let Parsed { types, rule } = parse(text)?;
    Rules::new(types, Vec::new(), rule)
}

/// Parses a text. A rule without transitions is perpetual daylight saving time.
pub(super) fn parse(text: &[u8]) -> Option<Parsed> {
    let mut reader = Reader(text);
    let standard = reader.name()?;
    if reader.0.is_empty() {
        return None;
    }
    let standard_offset = -reader.offset()?;
    let mut types =
        vec![LocalType { offset: standard_offset, is_daylight: false, abbreviation: standard }];
    if reader.0.is_empty() {
        return Some(Parsed { types, rule: None });
    }
    let daylight = reader.name().filter(|name| !name.is_empty())?;
    let daylight_offset = match reader.0.first() {
        None | Some(b',' | b';') => standard_offset + 3600,
        Some(_) => -reader.offset()?,
    };
    types.push(LocalType { offset: daylight_offset, is_daylight: true, abbreviation: daylight });
    if reader.0.is_empty() {
        reader.0 = DEFAULT_RULE;
    }
    reader.skip(b',').or_else(|| reader.skip(b';'))?;
    let start = reader.moment()?;
    reader.skip(b',')?;
    let end = reader.moment()?;
    if !reader.0.is_empty() {
        return None;
    }
    let rule =
        YearlyRule { standard: 0, daylight: 1, standard_offset, daylight_offset, start, end };
    if (2000..2400).all(|year| rule.transitions(year)[0].is_none()) {
        types.remove(0);
        return Some(Parsed { types, rule: None });
    }
    Some(Parsed { types, rule: Some(rule) })
}

impl YearlyRule {
    /// Returns the transitions of a year in ascending order; none if daylight saving time lasts all of it.
    pub(super) fn transitions(&self, year: i32) -> [Option<Transition>; 2] {
        let mut start = self.start.seconds_of_year(year) - i64::from(self.standard_offset);
        let mut end = self.end.seconds_of_year(year) - i64::from(self.daylight_offset);
        let (mut first, mut second) = (self.daylight, self.standard);
        let is_reversed = end < start;
        if is_reversed {
            (start, end) = (end, start);
            (first, second) = (second, first);
        }
        let year_seconds = if is_leap(year) { 366 } else { 365 } * DAY_SECONDS;
        let shift = i64::from(self.daylight_offset) - i64::from(self.standard_offset);
        if !is_reversed && (start >= end || end - start >= year_seconds + shift) {
            return [None, None];
        }
        let january = (i64::from(julian(year, 1, 1)) - i64::from(JULIAN_1970)) * DAY_SECONDS;
        let at =
            |seconds, type_index| Some(Transition { unix_seconds: january + seconds, type_index });
        [at(start, first), at(end, second)]
    }
}

impl Moment {
    /// Returns the seconds from the beginning of a year, as local time.
    fn seconds_of_year(self, year: i32) -> i64 {
        let first = julian(year, 1, 1);
        let day = match self.day {
            RuleDay::WithoutLeap(day) => day - 1 + i32::from(is_leap(year) && day >= 60),
            RuleDay::Plain(day) => day,
            RuleDay::Week { month, week, weekday: wanted } => {
                let first_of_month = julian(year, month, 1);
                let mut day = (wanted - weekday(first_of_month)).rem_euclid(7) + 7 * (week - 1);
                while day >= days_in_month(year, month) {
                    day -= 7;
                }
                first_of_month.wrapping_sub(first) + day
            }
        };
        i64::from(day) * DAY_SECONDS + i64::from(self.seconds)
    }
}

/// Rest of a text.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn skip(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    /// Reads an abbreviation, which may be empty; one in angle brackets may have digits and signs.
    fn name(&mut self) -> Option<String> {
        let is_quoted = self.skip(b'<').is_some();
        let ends = |byte: &u8| match is_quoted {
            true => *byte == b'>',
            false => matches!(byte, b'0'..=b'9' | b',' | b'-' | b'+'),
        };
        let count = self.0.iter().position(ends).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(count);
        self.0 = rest;
        if is_quoted {
            self.skip(b'>')?;
        }
        String::from_utf8(name.to_vec()).ok()
    }

    fn number(&mut self, range: std::ops::RangeInclusive<i32>) -> Option<i32> {
        let count = self.0.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        let value = std::str::from_utf8(digits).ok()?.parse().ok()?;
        range.contains(&value).then_some(value)
    }

    /// Reads hours, minutes and seconds with a sign.
    fn offset(&mut self) -> Option<i32> {
        let is_negative = self.skip(b'-').is_some();
        if !is_negative {
            self.skip(b'+');
        }
        let mut seconds = self.number(0..=HOURS_MAX)? * 3600;
        if self.skip(b':').is_some() {
            seconds += self.number(0..=59)? * 60;
            if self.skip(b':').is_some() {
                seconds += self.number(0..=60)?;
            }
        }
        Some(if is_negative { -seconds } else { seconds })
    }

    fn moment(&mut self) -> Option<Moment> {
        let day = if self.skip(b'J').is_some() {
            RuleDay::WithoutLeap(self.number(1..=365)?)
        } else if self.skip(b'M').is_some() {
            let month = self.number(1..=12)?;
            self.skip(b'.')?;
            let week = self.number(1..=5)?;
            self.skip(b'.')?;
            RuleDay::Week { month, week, weekday: self.number(0..=6)? }
        } else {
            RuleDay::Plain(self.number(0..=365)?)
        };
        let seconds = if self.skip(b'/').is_some() { self.offset()? } else { 2 * 3600 };
        Some(Moment { day, seconds })
    }
}
