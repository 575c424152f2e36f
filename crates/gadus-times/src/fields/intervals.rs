//! Fields of intervals. They do not carry: the months of `15 months` are 3, its years are 1.

use super::value::Number;
use super::{Field, FieldValue, Part};
use crate::calendar::{DAY_SECONDS, MONTH_DAYS, YEAR_MONTHS};
use crate::error::Result;
use crate::input::{Reserved, Unit};
use crate::integers::float;
use crate::values::Interval;

const INTERVAL: &str = "interval";
/// Days of a year within `epoch`, by four.
const YEAR_DAYS_BY_FOUR: i64 = 1461;

impl Interval {
    /// Returns a field exactly.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn extract(self, field: &Field) -> Result<FieldValue> {
        let (years, months) = (self.months / YEAR_MONTHS, self.months % YEAR_MONTHS);
        let days_by_four = YEAR_DAYS_BY_FOUR * i64::from(years)
            + 4 * i64::from(MONTH_DAYS) * i64::from(months)
            + 4 * i64::from(self.days);
        let seconds = i128::from(days_by_four) * i128::from(DAY_SECONDS / 4);
        let epoch = seconds * 1_000_000 + i128::from(self.microseconds);
        self.part(field, FieldValue::epoch(epoch))
    }

    /// Returns a field in double precision.
    ///
    /// # Errors
    /// 22023 for an unknown name, 0A000 for a field that the type does not have.
    pub fn date_part(self, field: &Field) -> Result<f64> {
        let day = float(DAY_SECONDS);
        let epoch = float(self.microseconds) / 1_000_000.0;
        let epoch = epoch + 365.25 * day * f64::from(self.months / YEAR_MONTHS);
        let epoch = epoch + 30.0 * day * f64::from(self.months % YEAR_MONTHS);
        self.part(field, epoch + day * f64::from(self.days))
    }

    fn part<N: Number>(self, field: &Field, epoch: N) -> Result<N> {
        let unit = match field.part(INTERVAL)? {
            Part::Reserved(Reserved::Epoch) => return Ok(epoch),
            Part::Reserved(_) => return Err(field.unknown(INTERVAL)),
            Part::Unit(unit) => unit,
        };
        let fields = self.fields();
        let (second, microsecond) = (fields.second, fields.microsecond);
        Ok(N::integer(match unit {
            Unit::Microsecond => i64::from(second) * 1_000_000 + i64::from(microsecond),
            Unit::Millisecond => return Ok(N::milliseconds(second, microsecond)),
            Unit::Second => return Ok(N::seconds(second, microsecond)),
            Unit::Minute => i64::from(fields.minute),
            Unit::Hour => fields.hour,
            Unit::Day => i64::from(fields.day),
            Unit::Month => i64::from(fields.month),
            Unit::Quarter => i64::from(fields.month / 3 + 1),
            Unit::Year => i64::from(fields.year),
            Unit::Decade => i64::from(fields.year / 10),
            Unit::Century => i64::from(fields.year / 100),
            Unit::Millennium => i64::from(fields.year / 1000),
            _ => return Err(field.unsupported(INTERVAL)),
        }))
    }
}
