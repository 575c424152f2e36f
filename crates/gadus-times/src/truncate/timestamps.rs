//! `date_trunc` of timestamps.

use crate::calendar::{Civil, YEAR_MONTHS, date_of_julian, iso_week, julian_of_iso_week};
use crate::error::{Result, TimesError};
use crate::fields::Field;
use crate::input::Unit;
use crate::settings::Settings;
use crate::values::{Timestamp, TimestampTz};
use crate::zone::{TimeZone, ZoneArgument};

impl Timestamp {
    /// Cuts the fields below a unit; an infinity stays one.
    ///
    /// # Errors
    /// 22023 for an unknown unit, 0A000 for one that timestamps do not have, 22008 beyond the range of the type.
    pub fn truncate(self, field: &Field) -> Result<Self> {
        const NAME: &str = "timestamp without time zone";
        if !self.is_finite() {
            return Ok(self);
        }
        let unit = field.unit(NAME)?;
        let mut civil = self.civil()?;
        truncate(&mut civil, unit).ok_or_else(|| field.unsupported(NAME))?;
        Self::checked(civil.to_microseconds(0))
    }
}

impl TimestampTz {
    /// Cuts the fields below a unit in the zone of the session; an infinity stays one.
    ///
    /// # Errors
    /// 22023 for an unknown unit, 0A000 for one that timestamps do not have, 22008 beyond the range of the type.
    pub fn truncate(self, field: &Field, settings: &Settings) -> Result<Self> {
        match self.is_finite() {
            true => self.truncate_within(field, &settings.time_zone),
            false => Ok(self),
        }
    }

    /// Cuts the fields below a unit in a zone; an infinity stays one.
    ///
    /// # Errors
    /// 22023 for an unknown unit, 0A000 for one that timestamps do not have, 22008 beyond the range of the type.
    pub fn truncate_in_zone(self, field: &Field, zone: &ZoneArgument) -> Result<Self> {
        match self.is_finite() {
            true => self.truncate_within(field, &zone.time_zone()),
            false => Ok(self),
        }
    }

    fn truncate_within(self, field: &Field, zone: &TimeZone) -> Result<Self> {
        const NAME: &str = "timestamp with time zone";
        let unit = field.unit(NAME)?;
        let (mut civil, mut east) = self.civil(zone)?;
        let is_date = truncate(&mut civil, unit).ok_or_else(|| field.unsupported(NAME))?;
        // Days and longer begin at midnight, which may have another offset; an hour may be one of two in an overlap.
        if is_date {
            east = zone.offset_of_local(&civil);
        }
        civil.to_microseconds(-east).map(Self).ok_or_else(TimesError::timestamp_range)
    }
}

/// Cuts the fields below a unit; true for a unit of days or longer, `None` for one that timestamps do not have.
fn truncate(civil: &mut Civil, unit: Unit) -> Option<bool> {
    match unit {
        Unit::Microsecond => return Some(false),
        Unit::Millisecond => {
            civil.microsecond -= civil.microsecond % 1000;
            return Some(false);
        }
        Unit::Second | Unit::Minute | Unit::Hour => {
            civil.microsecond = 0;
            if unit != Unit::Second {
                civil.second = 0;
            }
            if unit == Unit::Hour {
                civil.minute = 0;
            }
            return Some(false);
        }
        _ => {}
    }
    let year = civil.year;
    let first = |year| Some((year, 1, 1));
    let begin = match unit {
        Unit::Day => Some((year, civil.month, civil.day)),
        Unit::Week => Some(monday(civil)),
        Unit::Month => Some((year, civil.month, 1)),
        Unit::Quarter => Some((year, 3 * ((civil.month - 1) / 3) + 1, 1)),
        Unit::Year => first(year),
        Unit::Decade if year > 0 => first(year / 10 * 10),
        Unit::Decade => first(-((9 - year) / 10) * 10),
        Unit::Century => first(century_begin(year)),
        // PostgreSQL truncates to the century as well, which changes nothing but a year before Christ.
        Unit::Millennium if year > 0 => first(century_begin((year + 999) / 1000 * 1000 - 999)),
        Unit::Millennium => first(century_begin(-((1000 - year) / 1000) * 1000 + 1)),
        _ => None,
    };
    let (year, month, day) = begin?;
    *civil = Civil { year, month, day, ..Civil::default() };
    Some(true)
}

fn century_begin(year: i32) -> i32 {
    if year > 0 { (year + 99) / 100 * 100 - 99 } else { -((100 - year) / 100) * 100 + 1 }
}

/// Returns the Monday of the week. A year before or after the date's is the one of its week.
fn monday(civil: &Civil) -> (i32, i32, i32) {
    let week = iso_week(civil.year, civil.month, civil.day);
    let mut year = civil.year;
    if week >= 52 && civil.month == 1 {
        year -= 1;
    }
    if week <= 1 && civil.month == YEAR_MONTHS {
        year += 1;
    }
    let date = date_of_julian(julian_of_iso_week(year, week));
    (date.year, date.month, date.day)
}
