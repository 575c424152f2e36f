//! Fields of dates.

use super::timestamps::date_part;
use super::value::Number;
use super::{Field, FieldValue, Part};
use crate::calendar::{Civil, DAY_SECONDS};
use crate::error::Result;
use crate::input::{Reserved, Unit};
use crate::values::Date;

const DATE: &str = "date";

impl Date {
    /// Returns a field exactly; `None` for a field that repeats, of an infinity.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field) -> Result<Option<FieldValue>> {
        let part = field.part(DATE)?;
        if part == Part::Reserved(Reserved::Epoch) {
            let seconds = i64::from(self.to_unix_days()) * DAY_SECONDS;
            return Ok(Some(match self.is_finite() {
                true => FieldValue::integer(seconds),
                false => FieldValue::infinity(self.0 < 0),
            }));
        }
        let Part::Unit(unit) = part else { return Err(field.unsupported(DATE)) };
        if !self.is_finite() {
            return self.infinite(unit).ok_or_else(|| field.unsupported(DATE));
        }
        let mut civil = Civil::default();
        civil.set_date(self.fields());
        let found = date_part(&civil, unit).map(FieldValue::integer);
        found.map(Some).ok_or_else(|| field.unsupported(DATE))
    }

    /// Returns a field of the midnight at which the date begins, in double precision.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that a timestamp does not have, 22008 for a date after the last one.
    pub fn date_part(self, field: &Field) -> Result<Option<f64>> {
        self.to_timestamp()?.date_part(field)
    }

    fn infinite(self, unit: Unit) -> Option<Option<FieldValue>> {
        match unit {
            Unit::Day
            | Unit::Month
            | Unit::Quarter
            | Unit::Week
            | Unit::Weekday
            | Unit::IsoWeekday
            | Unit::YearDay => Some(None),
            Unit::Year
            | Unit::Decade
            | Unit::Century
            | Unit::Millennium
            | Unit::JulianDay
            | Unit::IsoYear => Some(Some(FieldValue::infinity(self.0 < 0))),
            _ => None,
        }
    }
}
