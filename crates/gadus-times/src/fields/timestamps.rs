//! Fields of timestamps.

use super::value::Number;
use super::{Field, FieldValue, Part};
use crate::calendar::{
    Civil, MICROSECONDS_1970_TO_2000, bc_year, century, decade, iso_week, iso_year, julian,
    millennium, weekday,
};
use crate::error::Result;
use crate::input::{Reserved, Unit};
use crate::settings::Settings;
use crate::values::{Timestamp, TimestampTz};

const TIMESTAMP: &str = "timestamp without time zone";
const TIMESTAMPTZ: &str = "timestamp with time zone";

impl Timestamp {
    /// Returns a field exactly; `None` for a field that repeats, of an infinity.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field) -> Result<Option<FieldValue>> {
        self.part(field)
    }

    /// Returns a field in double precision; `None` for a field that repeats, of an infinity.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn date_part(self, field: &Field) -> Result<Option<f64>> {
        self.part(field)
    }

    fn part<N: Number>(self, field: &Field) -> Result<Option<N>> {
        let part = field.part(TIMESTAMP)?;
        if !self.is_finite() {
            return infinite(part, self.0 < 0).ok_or_else(|| field.unsupported(TIMESTAMP));
        }
        let found = match part {
            Part::Reserved(Reserved::Epoch) => Some(epoch(self.0)),
            Part::Reserved(_) => None,
            Part::Unit(unit) => civil_part(&self.civil()?, unit),
        };
        found.map(Some).ok_or_else(|| field.unsupported(TIMESTAMP))
    }
}

impl TimestampTz {
    /// Returns a field exactly, in the zone of the session; `None` for a field that repeats, of an infinity.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field, settings: &Settings) -> Result<Option<FieldValue>> {
        self.part(field, settings)
    }

    /// Returns a field in double precision, in the zone of the session; `None` for a field that repeats, of an infinity.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn date_part(self, field: &Field, settings: &Settings) -> Result<Option<f64>> {
        self.part(field, settings)
    }

    fn part<N: Number>(self, field: &Field, settings: &Settings) -> Result<Option<N>> {
        let part = field.part(TIMESTAMPTZ)?;
        if !self.is_finite() {
            return infinite(part, self.0 < 0).ok_or_else(|| field.unsupported(TIMESTAMPTZ));
        }
        let found = match part {
            Part::Reserved(Reserved::Epoch) => Some(epoch(self.0)),
            Part::Reserved(_) => None,
            Part::Unit(unit) => {
                let (civil, east) = self.civil(&settings.time_zone)?;
                zone_part(east, unit).or_else(|| civil_part(&civil, unit))
            }
        };
        found.map(Some).ok_or_else(|| field.unsupported(TIMESTAMPTZ))
    }
}

/// Returns a field of an infinity; the outer `None` for one that no timestamp has.
fn infinite<N: Number>(part: Part, is_negative: bool) -> Option<Option<N>> {
    match part {
        Part::Unit(
            Unit::Year
            | Unit::Decade
            | Unit::Century
            | Unit::Millennium
            | Unit::JulianDay
            | Unit::IsoYear,
        )
        | Part::Reserved(Reserved::Epoch) => Some(Some(N::infinity(is_negative))),
        Part::Unit(_) => Some(None),
        Part::Reserved(_) => None,
    }
}

/// Returns the seconds since 1970.
fn epoch<N: Number>(microseconds: i64) -> N {
    N::timestamp_epoch(i128::from(microseconds) + i128::from(MICROSECONDS_1970_TO_2000))
}

/// Returns a field of an offset in seconds east of UTC.
pub(super) fn zone_part<N: Number>(east: i32, unit: Unit) -> Option<N> {
    let value = match unit {
        Unit::Zone => east,
        Unit::ZoneHour => east / 3600,
        Unit::ZoneMinute => east / 60 % 60,
        _ => return None,
    };
    Some(N::integer(i64::from(value)))
}

/// Returns a field of a time of day.
pub(super) fn clock_part<N: Number>(civil: &Civil, unit: Unit) -> Option<N> {
    let (second, microsecond) = (civil.second, civil.microsecond);
    Some(match unit {
        Unit::Microsecond => N::integer(i64::from(second) * 1_000_000 + i64::from(microsecond)),
        Unit::Millisecond => N::milliseconds(second, microsecond),
        Unit::Second => N::seconds(second, microsecond),
        Unit::Minute => N::integer(i64::from(civil.minute)),
        Unit::Hour => N::integer(i64::from(civil.hour)),
        _ => return None,
    })
}

/// Returns a field of a date and time.
pub(super) fn civil_part<N: Number>(civil: &Civil, unit: Unit) -> Option<N> {
    if unit == Unit::JulianDay {
        return Some(N::julian(civil.julian(), civil.clock()));
    }
    clock_part(civil, unit).or_else(|| date_part(civil, unit).map(N::integer))
}

/// Returns a field of a date.
pub(super) fn date_part(civil: &Civil, unit: Unit) -> Option<i64> {
    let Civil { year, month, day, .. } = *civil;
    Some(i64::from(match unit {
        Unit::Day => day,
        Unit::Month => month,
        Unit::Quarter => (month - 1) / 3 + 1,
        Unit::Week => iso_week(year, month, day),
        Unit::Year => bc_year(year),
        Unit::Decade => decade(year),
        Unit::Century => century(year),
        Unit::Millennium => millennium(year),
        Unit::JulianDay => julian(year, month, day),
        Unit::IsoYear => bc_year(iso_year(year, month, day)),
        Unit::Weekday => weekday(julian(year, month, day)),
        Unit::IsoWeekday => match weekday(julian(year, month, day)) {
            0 => 7,
            weekday => weekday,
        },
        Unit::YearDay => julian(year, month, day) - julian(year, 1, 1) + 1,
        _ => return None,
    }))
}
