//! Intervals from their texts, as PostgreSQL reads them with the style `postgres`.
//!
//! - Words are read from the last to the first, so that a unit is known before its number.
//! - A number with a fraction spreads into the smaller units: of years to whole months, of months and weeks to days and
//!   the time, of days to the time.

use super::IntervalUnit as Unit;
use super::words::{Kind, words};
use super::{
    DAY, HOUR, Interval, IntervalError, IntervalField, IntervalFields, MINUTE, SECOND, iso,
};

const DAYS_A_MONTH: i64 = 30;
const DAYS_A_WEEK: i64 = 7;
const MONTHS_A_YEAR: i64 = 12;

impl Interval {
    /// The interval that a text is.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str, fields: IntervalFields) -> Result<Self, IntervalError> {
        let read = match words(text).and_then(|words| from_words(&words, fields)) {
            Err(IntervalError::Syntax) => iso::parse(text),
            read => read,
        };
        fields.limit(read?.finish()?)
    }
}

/// What has been read.
#[derive(Debug, Default)]
pub(super) struct Read {
    years: i32,
    months: i32,
    days: i32,
    microseconds: i64,
}

impl Read {
    fn finish(self) -> Result<Interval, IntervalError> {
        let months = i64::from(self.years) * MONTHS_A_YEAR + i64::from(self.months);
        let months = i32::try_from(months).map_err(|_| IntervalError::Range)?;
        Interval { months, days: self.days, microseconds: self.microseconds }.within_range()
    }

    /// Adds a number, whole and fraction, of a unit.
    pub(super) fn add(
        &mut self,
        whole: i64,
        fraction: f64,
        unit: Unit,
    ) -> Result<(), IntervalError> {
        match unit {
            Unit::Microsecond => self.add_time(whole, fraction, 1),
            Unit::Millisecond => self.add_time(whole, fraction, SECOND / 1_000),
            Unit::Second => self.add_time(whole, fraction, SECOND),
            Unit::Minute => self.add_time(whole, fraction, MINUTE),
            Unit::Hour => self.add_time(whole, fraction, HOUR),
            Unit::Day => {
                add(&mut self.days, whole, 1)?;
                self.add_time(0, fraction, DAY)
            }
            Unit::Week => {
                add(&mut self.days, whole, DAYS_A_WEEK)?;
                self.add_days(fraction, DAYS_A_WEEK)
            }
            Unit::Month => {
                add(&mut self.months, whole, 1)?;
                self.add_days(fraction, DAYS_A_MONTH)
            }
            Unit::Year => self.add_years(whole, fraction, 1),
            Unit::Decade => self.add_years(whole, fraction, 10),
            Unit::Century => self.add_years(whole, fraction, 100),
            Unit::Millennium => self.add_years(whole, fraction, 1_000),
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // a fraction of years
    fn add_years(&mut self, whole: i64, fraction: f64, years: i64) -> Result<(), IntervalError> {
        add(&mut self.years, whole, years)?;
        let months = (fraction * (years * MONTHS_A_YEAR) as f64).round_ties_even();
        add(&mut self.months, months as i64, 1)
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // a fraction of a month
    fn add_days(&mut self, fraction: f64, days: i64) -> Result<(), IntervalError> {
        let days = fraction * days as f64;
        add(&mut self.days, days as i64, 1)?;
        self.add_time(0, days.fract(), DAY)
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // a fraction of a day
    fn add_time(&mut self, whole: i64, fraction: f64, unit: i64) -> Result<(), IntervalError> {
        add(&mut self.microseconds, whole, unit)?;
        let rest = fraction * unit as f64;
        let nearest = match rest.fract() {
            above if above > 0.5 => 1,
            below if below < -0.5 => -1,
            _ => 0,
        };
        add(&mut self.microseconds, rest as i64 + nearest, 1)
    }

    fn negate(&mut self) -> Result<(), IntervalError> {
        for part in [&mut self.years, &mut self.months, &mut self.days] {
            *part = part.checked_neg().ok_or(IntervalError::Field)?;
        }
        self.microseconds = self.microseconds.checked_neg().ok_or(IntervalError::Field)?;
        Ok(())
    }
}

/// Adds a number of a unit.
fn add<T: Copy + Into<i64> + TryFrom<i64>>(
    to: &mut T,
    count: i64,
    unit: i64,
) -> Result<(), IntervalError> {
    let sum = count.checked_mul(unit).and_then(|count| (*to).into().checked_add(count));
    *to = sum.and_then(|sum| T::try_from(sum).ok()).ok_or(IntervalError::Field)?;
    Ok(())
}

fn from_words(words: &[(Kind, String)], fields: IntervalFields) -> Result<Read, IntervalError> {
    let mut read = Read::default();
    let (mut unit, mut is_before) = (None, false);
    let mut seen = 0;
    for (kind, word) in words.iter().rev() {
        if *kind == Kind::Unit {
            is_before |= word == "ago";
            unit = match word.as_str() {
                "ago" => Some(None),
                word => Some(Some(Unit::named(word).ok_or(IntervalError::Syntax)?)),
            };
            continue;
        }
        let negative = word.strip_prefix('-');
        let plain = negative.or_else(|| word.strip_prefix('+')).unwrap_or(word);
        let time = match kind {
            Kind::Time => Some(time(plain, fields)?),
            // A sign before what is no time after all may stand before a number.
            Kind::Signed if plain.contains(':') => time(plain, fields).ok(),
            _ => None,
        };
        let filled = if let Some(time) = time {
            read.microseconds = if negative.is_some() { -time } else { time };
            // A number before a time counts days.
            unit = Some(Some(Unit::Day));
            TIME
        } else {
            let counted = match unit {
                None => unit_of_fields(fields),
                Some(unit) => unit.ok_or(IntervalError::Syntax)?,
            };
            let (whole, fraction, counted) = number(plain, negative.is_some(), counted)?;
            read.add(whole, fraction, counted)?;
            let next = if counted == Unit::Hour { Unit::Day } else { counted };
            unit = Some(Some(next));
            filled_by(counted, fraction)
        };
        if seen & filled != 0 {
            return Err(IntervalError::Syntax);
        }
        seen |= filled;
    }
    if seen == 0 {
        return Err(IntervalError::Syntax);
    }
    if is_before {
        read.negate()?;
    }
    Ok(read)
}

/// The fields of a time: none of them can be given beside it.
const TIME: u32 = filled_of(Unit::Hour) | filled_of(Unit::Minute) | SECONDS;

/// The fields of a second with a fraction.
const SECONDS: u32 =
    filled_of(Unit::Second) | filled_of(Unit::Millisecond) | filled_of(Unit::Microsecond);

const fn filled_of(unit: Unit) -> u32 {
    1 << unit as u32
}

fn filled_by(unit: Unit, fraction: f64) -> u32 {
    if unit == Unit::Second && fraction != 0.0 { SECONDS } else { filled_of(unit) }
}

/// What a number without a unit counts.
fn unit_of_fields(fields: IntervalFields) -> Unit {
    match fields.range.map(|(_, last)| last) {
        Some(IntervalField::Year) => Unit::Year,
        Some(IntervalField::Month) => Unit::Month,
        Some(IntervalField::Day) => Unit::Day,
        Some(IntervalField::Hour) => Unit::Hour,
        Some(IntervalField::Minute) => Unit::Minute,
        Some(IntervalField::Second) | None => Unit::Second,
    }
}

/// A number without its sign: the whole and the fraction, with it, and what it counts: years and months are months.
fn number(text: &str, is_negative: bool, unit: Unit) -> Result<(i64, f64, Unit), IntervalError> {
    let (digits, behind) = digits(text);
    let signed = |digits: &str| {
        let sign = if is_negative { "-" } else { "" };
        format!("{sign}{digits}").parse::<i64>().map_err(|_| IntervalError::Field)
    };
    let whole = if digits.is_empty() { 0 } else { signed(digits)? };
    if let Some(months) = behind.strip_prefix('-') {
        let (months, behind) = self::digits(months);
        let count = months.parse::<i64>().map_err(|_| IntervalError::Field);
        let months = if months.is_empty() { 0 } else { count? };
        if months >= MONTHS_A_YEAR {
            return Err(IntervalError::Field);
        }
        if !behind.is_empty() {
            return Err(IntervalError::Syntax);
        }
        let months = if is_negative { -months } else { months };
        let all = whole.checked_mul(MONTHS_A_YEAR).and_then(|years| years.checked_add(months));
        return Ok((all.ok_or(IntervalError::Field)?, 0.0, Unit::Month));
    }
    let fraction = if behind.is_empty() { 0.0 } else { fraction(behind)? };
    Ok((whole, if is_negative { -fraction } else { fraction }, unit))
}

/// Hours, minutes and seconds; two numbers are hours and minutes, but for a fraction behind them.
fn time(text: &str, fields: IntervalFields) -> Result<i64, IntervalError> {
    let part = |text: &str| text.parse::<i64>().map_err(|_| IntervalError::Field);
    let (hours, rest) = digits(text);
    let (minutes, rest) = digits(rest.strip_prefix(':').ok_or(IntervalError::Syntax)?);
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    let (hours, minutes, seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (seconds, rest) = digits(rest);
            (hours, minutes, if seconds.is_empty() { "0" } else { seconds }, rest)
        }
        None if rest.starts_with('.') || fields.is_minute_to_second() => {
            ("0", hours, minutes, rest)
        }
        None => (hours, minutes, "0", rest),
    };
    let fraction = if rest.is_empty() { 0.0 } else { fraction(rest)? };
    let (minutes, seconds) = (part(minutes)?, part(seconds)?);
    if minutes >= 60 || seconds > 60 {
        return Err(IntervalError::Field);
    }
    let mut read = Read::default();
    read.add(part(hours)?, 0.0, Unit::Hour)?;
    read.add(minutes, 0.0, Unit::Minute)?;
    // Ties go to the even microsecond here, as PostgreSQL has it.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // below a second
    let microseconds = (fraction * SECOND as f64).round_ties_even() as i64;
    read.add(seconds, 0.0, Unit::Second)?;
    read.add(microseconds, 0.0, Unit::Microsecond)?;
    Ok(read.microseconds)
}

/// A point and digits, or a point alone.
fn fraction(text: &str) -> Result<f64, IntervalError> {
    let (digits, behind) = digits(text.strip_prefix('.').ok_or(IntervalError::Syntax)?);
    match (digits, behind) {
        ("", "") => Ok(0.0),
        (_, "") => text.parse().map_err(|_| IntervalError::Syntax),
        _ => Err(IntervalError::Syntax),
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}
