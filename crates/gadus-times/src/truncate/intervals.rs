//! `date_trunc` of intervals.

use crate::error::Result;
use crate::fields::Field;
use crate::input::Unit;
use crate::values::Interval;

const NAME: &str = "interval";

impl Interval {
    /// Cuts the fields below a unit.
    ///
    /// # Errors
    /// 22023 for an unknown unit, 0A000 for one that intervals do not have.
    pub fn truncate(self, field: &Field) -> Result<Self> {
        let unit = field.unit(NAME)?;
        let mut fields = self.fields();
        let years = match unit {
            Unit::Millennium => 1000,
            Unit::Century => 100,
            Unit::Decade => 10,
            _ => 1,
        };
        fields.year = fields.year / years * years;
        let rank = match unit {
            Unit::Microsecond => return Ok(self),
            Unit::Millisecond => {
                fields.microsecond -= fields.microsecond % 1000;
                return fields.interval();
            }
            Unit::Second => 0,
            Unit::Minute => 1,
            Unit::Hour => 2,
            Unit::Day => 3,
            Unit::Month | Unit::Quarter => 4,
            Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium => 5,
            Unit::Week => {
                let error = field.unsupported(NAME);
                return Err(error.with_detail("Months usually have fractional weeks."));
            }
            _ => return Err(field.unsupported(NAME)),
        };
        if unit == Unit::Quarter {
            fields.month = fields.month / 3 * 3;
        }
        fields.microsecond = 0;
        if rank >= 1 {
            fields.second = 0;
        }
        if rank >= 2 {
            fields.minute = 0;
        }
        if rank >= 3 {
            fields.hour = 0;
        }
        if rank >= 4 {
            fields.day = 0;
        }
        if rank >= 5 {
            fields.month = 0;
        }
        fields.interval()
    }
}
