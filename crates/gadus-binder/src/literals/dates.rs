//! Dates, times and timestamps in ISO 8601 and the common forms next to it.
//!
//! - Other orders of fields, zones by name and words such as `now` depend on the session: these texts stay as written.

use super::calendar::{DAY_MICROSECONDS, Date, TIMESTAMP_RANGE, days_of_month, time_shown};
use super::date_fields::{BYTES_MAX, Clock, Fault, Field, INT, clock, fields, leading_number};
use super::{Read, refused};
use crate::bound::Constant;
use crate::error::Result;

/// Largest displacement of a zone, in hours.
const ZONE_HOURS_MAX: i64 = 15;

/// Point in time that is not finite, or has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    Epoch,
    Infinity,
    MinusInfinity,
}

/// Fields of a text.
#[derive(Debug, Default)]
struct Moment {
    special: Option<Special>,
    date: Option<Date>,
    /// Microseconds of the day.
    time: Option<i64>,
    /// Seconds east of Greenwich.
    zone: Option<i64>,
    is_before_christ: bool,
    has_era: bool,
}

/// Reads a date; a time after it is checked and left out.
pub(super) fn date(text: &str) -> Read {
    let Some(moment) = moment(text, "date")? else { return Ok(None) };
    if let Some(special) = moment.special {
        return Ok(Some(Constant::Text(special.shown("1970-01-01"))));
    }
    let Some(date) = moment.date else { return Ok(None) };
    if !date.is_valid() {
        return Err(refused("22008", format!("date out of range: \"{text}\"")));
    }
    Ok(Some(Constant::Text(format!("{}{}", date.shown(), date.era()))))
}

/// Reads a timestamp; a zone is checked and left out.
pub(super) fn timestamp(text: &str) -> Read {
    let Some(moment) = moment(text, "timestamp")? else { return Ok(None) };
    if let Some(special) = moment.special {
        return Ok(Some(Constant::Text(special.shown("1970-01-01 00:00:00"))));
    }
    let Some(microseconds) = moment.microseconds() else { return Ok(None) };
    if !moment.is_countable() || !TIMESTAMP_RANGE.contains(&microseconds) {
        return Err(refused("22008", format!("timestamp out of range: \"{text}\"")));
    }
    Ok(Some(Constant::Text(timestamp_shown(microseconds, ""))))
}

/// Reads a timestamp with its zone; without one it stays as written, because the session's is meant.
pub(super) fn timestamptz(text: &str) -> Read {
    let Some(moment) = moment(text, "timestamp with time zone")? else { return Ok(None) };
    if let Some(special) = moment.special {
        return Ok(Some(Constant::Text(special.shown("1970-01-01 00:00:00+00"))));
    }
    let Some(local) = moment.microseconds() else { return Ok(None) };
    let out_of_range = || refused("22008", format!("timestamp out of range: \"{text}\""));
    if !moment.is_countable() {
        return Err(out_of_range());
    }
    let Some(zone) = moment.zone else {
        // No zone is farther away than a day.
        let is_out = !TIMESTAMP_RANGE.contains(&local.saturating_add(DAY_MICROSECONDS))
            && !TIMESTAMP_RANGE.contains(&local.saturating_sub(DAY_MICROSECONDS));
        return if is_out { Err(out_of_range()) } else { Ok(None) };
    };
    let microseconds = local.saturating_sub(zone * 1_000_000);
    if !TIMESTAMP_RANGE.contains(&microseconds) {
        return Err(out_of_range());
    }
    Ok(Some(Constant::Text(timestamp_shown(microseconds, "+00"))))
}

/// Reads a time of day; a zone is checked and left out.
pub(super) fn time(text: &str) -> Read {
    let found = time_and_zone(text, "time")?;
    Ok(found.map(|(time, _)| Constant::Text(time_shown(time))))
}

/// Reads a time of day with its zone; without one it stays as written.
pub(super) fn timetz(text: &str) -> Read {
    let Some((time, Some(zone))) = time_and_zone(text, "time with time zone")? else {
        return Ok(None);
    };
    let (sign, size) = (if zone < 0 { '-' } else { '+' }, zone.abs());
    let mut shown = format!("{}{sign}{:02}", time_shown(time), size / 3600);
    if size % 3600 != 0 {
        shown.push_str(&format!(":{:02}", size / 60 % 60));
    }
    if size % 60 != 0 {
        shown.push_str(&format!(":{:02}", size % 60));
    }
    Ok(Some(Constant::Text(shown)))
}

/// Returns true if a text names a point in time by the present one.
pub(super) fn names_present(text: &str) -> bool {
    let is_present = |field: &Field| match field {
        Field::Word(word) => {
            matches!(word.as_str(), "now" | "today" | "tomorrow" | "yesterday")
        }
        _ => false,
    };
    text.len() <= BYTES_MAX && fields(text).is_ok_and(|fields| fields.iter().any(is_present))
}

impl Special {
    fn shown(self, epoch: &str) -> String {
        match self {
            Self::Epoch => epoch.to_owned(),
            Self::Infinity => "infinity".to_owned(),
            Self::MinusInfinity => "-infinity".to_owned(),
        }
    }
}

impl Moment {
    /// Returns the microseconds since 2000-01-01.
    fn microseconds(&self) -> Option<i64> {
        let days = self.date?.days();
        Some(days.saturating_mul(DAY_MICROSECONDS).saturating_add(self.time.unwrap_or(0)))
    }

    fn is_countable(&self) -> bool {
        self.date.is_some_and(Date::is_countable)
    }

    /// Adds one field; `None` if its meaning is not certain.
    fn add(
        &mut self,
        field: &Field,
        next: Option<&Field>,
    ) -> std::result::Result<Option<()>, Fault> {
        match field {
            Field::Date(text) if self.date.is_none() && self.time.is_none() => {
                let Some(date) = iso_date(text) else { return Ok(None) };
                self.date = Some(date?);
            }
            Field::Time(text) if self.time.is_none() => self.time = Some(time_of_day(text)?),
            Field::Signed(text) if self.zone.is_none() && self.time.is_some() => {
                self.zone = Some(displacement(text)?);
            }
            Field::Word(word) => match word.as_str() {
                "t" if self.date.is_some() && matches!(next, Some(Field::Time(_))) => {}
                "z" | "utc" | "gmt" if self.zone.is_none() && self.time.is_some() => {
                    self.zone = Some(0);
                }
                "bc" | "ad" if !self.has_era && self.date.is_some() => {
                    (self.has_era, self.is_before_christ) = (true, word == "bc");
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }
        Ok(Some(()))
    }
}

/// Reads the fields of a date or a timestamp; `None` if their meaning is not certain.
fn moment(text: &str, type_name: &str) -> Result<Option<Moment>> {
    if text.len() > BYTES_MAX {
        return Ok(None);
    }
    let found = fields(text).and_then(|fields| moment_of(&fields));
    found.map_err(|fault| fault.error(text, type_name))
}

fn moment_of(fields: &[Field]) -> std::result::Result<Option<Moment>, Fault> {
    if let [Field::Word(word) | Field::SignedWord(word)] = fields {
        let special = match word.as_str() {
            "epoch" => Special::Epoch,
            "infinity" => Special::Infinity,
            "-infinity" => Special::MinusInfinity,
            "now" | "today" | "tomorrow" | "yesterday" | "+infinity" => return Ok(None),
            _ => return Err(Fault::Format),
        };
        return Ok(Some(Moment { special: Some(special), ..Moment::default() }));
    }
    if fields.iter().all(|field| matches!(field, Field::Word(word) if !is_special(word))) {
        return Err(Fault::Format);
    }
    if is_too_little(fields) {
        return Err(Fault::Format);
    }
    let mut moment = Moment::default();
    let mut rest = fields;
    if let Some((date, after)) = named_month(fields) {
        moment.date = Some(date);
        rest = after;
    }
    for (place, field) in rest.iter().enumerate() {
        if moment.add(field, rest.get(place + 1))?.is_none() {
            return Ok(None);
        }
    }
    let Some(date) = moment.date else {
        return match moment.time {
            Some(_) => Err(Fault::Format),
            None => Ok(None),
        };
    };
    moment.date = Some(validated(date, moment.is_before_christ)?);
    Ok(Some(moment))
}

/// Returns true for numbers that are no date in any order of fields: one or two that may be months, or a year alone.
fn is_too_little(fields: &[Field]) -> bool {
    let is_month = |field: &Field| match field {
        Field::Number(digits) if digits.len() <= 2 => {
            digits.parse().is_ok_and(|number: u8| (1..=12).contains(&number))
        }
        _ => false,
    };
    match fields {
        [Field::Number(digits)] if (3..=4).contains(&digits.len()) => {
            digits.parse().is_ok_and(|number: u16| number > 0)
        }
        [_] | [_, _] => fields.iter().all(is_month),
        _ => false,
    }
}

fn is_special(word: &str) -> bool {
    ["now", "today", "tomorrow", "yesterday", "epoch", "infinity", "allballs"].contains(&word)
}

/// Reads `YYYY-MM-DD`; `None` for other forms.
fn iso_date(text: &str) -> Option<std::result::Result<Date, Fault>> {
    let groups = text.split('-').collect::<Vec<_>>();
    let [year, month, day] = groups.as_slice() else { return None };
    let is_number =
        |group: &&str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_iso = groups.iter().all(is_number)
        && year.len() >= 3
        && (1..=2).contains(&month.len())
        && (1..=2).contains(&day.len());
    if !is_iso {
        return None;
    }
    let number = |group: &str| leading_number(group, INT).map(|(number, _)| number);
    let date = || Ok(Date { year: number(year)?, month: number(month)?, day: number(day)? });
    Some(date())
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Reads `January 8 1999` and `8 January 1999`, and returns the fields after it.
fn named_month(fields: &[Field]) -> Option<(Date, &[Field])> {
    let (word, day, year, rest) = match fields {
        [Field::Word(word), Field::Number(day), Field::Number(year), rest @ ..]
        | [Field::Number(day), Field::Word(word), Field::Number(year), rest @ ..] => {
            (word, day, year, rest)
        }
        _ => return None,
    };
    let is_month = |month: &&str| *month == word || (word.len() == 3 && month.starts_with(word));
    let month = MONTHS.iter().position(is_month)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if day.len() > 2 || year.len() != 4 || !is_number(day) || !is_number(year) {
        return None;
    }
    let month = i64::try_from(month).ok()? + 1;
    // A number beyond the days of any month is taken for something else.
    let day = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    Some((Date { year: year.parse().ok()?, month, day }, rest))
}

/// Checks the fields of a date, and counts years before the first one from zero down (`ValidateDate`).
fn validated(date: Date, is_before_christ: bool) -> std::result::Result<Date, Fault> {
    if date.year <= 0 {
        return Err(Fault::Overflow);
    }
    let year = if is_before_christ { 1 - date.year } else { date.year };
    if !(1..=12).contains(&date.month) || !(1..=31).contains(&date.day) {
        return Err(Fault::OrderOverflow);
    }
    if date.day > days_of_month(year, date.month) {
        return Err(Fault::Overflow);
    }
    Ok(Date { year, ..date })
}

/// Reads a time of at most 24 hours, in microseconds.
fn time_of_day(text: &str) -> std::result::Result<i64, Fault> {
    microseconds_of(clock(text)?)
}

fn microseconds_of(clock: Clock) -> std::result::Result<i64, Fault> {
    if clock.hours > 24 {
        return Err(Fault::Overflow);
    }
    let minutes = clock.hours * 60 + clock.minutes;
    let time = (minutes * 60 + clock.seconds) * 1_000_000 + clock.microseconds;
    if time > DAY_MICROSECONDS {
        return Err(Fault::Overflow);
    }
    Ok(time)
}

/// Reads the displacement of a zone, in seconds east of Greenwich (`DecodeTimezone`).
fn displacement(text: &str) -> std::result::Result<i64, Fault> {
    let is_negative = text.starts_with('-');
    let number = |text| leading_number(text, INT).map_err(|_| Fault::ZoneOverflow);
    let (mut hours, mut rest) = number(text.get(1..).unwrap_or_default())?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minutes, rest) = number(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (seconds, rest) = number(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let is_valid = (0..=ZONE_HOURS_MAX).contains(&hours)
        && (0..60).contains(&minutes)
        && (0..60).contains(&seconds);
    if !is_valid {
        return Err(Fault::ZoneOverflow);
    }
    if !rest.is_empty() {
        return Err(Fault::Format);
    }
    let size = (hours * 60 + minutes) * 60 + seconds;
    Ok(if is_negative { -size } else { size })
}

/// Reads a time of day and its zone; `None` if the meaning is not certain.
fn time_and_zone(text: &str, type_name: &str) -> Result<Option<(i64, Option<i64>)>> {
    if text.len() > BYTES_MAX {
        return Ok(None);
    }
    let found = fields(text).and_then(|fields| match fields.as_slice() {
        [Field::Time(time), rest @ ..] => {
            // The zone is read before the hours are checked.
            let clock = clock(time)?;
            let zone = match rest {
                [] => None,
                [Field::Signed(zone)] => Some(displacement(zone)?),
                [Field::Word(zone)] if matches!(zone.as_str(), "z" | "utc" | "gmt") => Some(0),
                _ => return Ok(None),
            };
            Ok(Some((microseconds_of(clock)?, zone)))
        }
        [] => Err(Fault::Format),
        [Field::Number(digits)] if digits.len() <= 3 && !digits.contains('.') => Err(Fault::Format),
        // The month would be a zone.
        [Field::Date(text)]
            if iso_date(text).is_some_and(|date| date.is_ok_and(|date| date.month <= 12)) =>
        {
            Err(Fault::Format)
        }
        [Field::Word(word)] if !is_special(word) => Err(Fault::Format),
        _ => Ok(None),
    });
    found.map_err(|fault| fault.error(text, type_name))
}

fn timestamp_shown(microseconds: i64, zone: &str) -> String {
    let date = Date::of_days(microseconds.div_euclid(DAY_MICROSECONDS));
    let time = time_shown(microseconds.rem_euclid(DAY_MICROSECONDS));
    format!("{} {time}{zone}{}", date.shown(), date.era())
}
