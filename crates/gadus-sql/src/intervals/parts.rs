//! Parts of intervals: what `extract` and `date_part` give, and what `date_trunc` leaves.

use super::arithmetic::SECOND;
use crate::error::{input, unsupported};
use arrow::datatypes::DataType;
use gadus_engine::{Error, Interval, IntervalUnit, Reason, Result};

const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// What is asked of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Unit(IntervalUnit),
    Quarter,
    /// The whole in seconds, a year of 365.25 days and a month of 30.
    Epoch,
}

impl Part {
    /// By a name, which is one of the units of intervals, or another that only parts have.
    ///
    /// # Errors
    /// `Input` where there is no such part, `Unsupported` for those that only points in time have.
    pub(super) fn named(name: &str) -> Result<Self> {
        let lower = name.trim().to_ascii_lowercase();
        match lower.as_str() {
            "epoch" => return Ok(Self::Epoch),
            "quarter" | "qtr" => return Ok(Self::Quarter),
            "week" | "weeks" | "w" | "dow" | "isodow" | "doy" | "isoyear" | "julian"
            | "timezone" => {
                return Err(unsupported(&format!("the unit \"{lower}\" of intervals")));
            }
            _ => {}
        }
        match IntervalUnit::named(&lower) {
            Some(unit) => Ok(Self::Unit(unit)),
            None => Err(no_part(name)),
        }
    }

    /// The type of what it gives: what has a fraction is a double, as parts of points in time are.
    pub(super) fn data_type(self) -> DataType {
        use IntervalUnit::{Millisecond, Second};
        match self {
            Self::Epoch | Self::Unit(Second | Millisecond) => DataType::Float64,
            _ => DataType::Int64,
        }
    }

    /// The part as a whole number, for those that are.
    pub(super) fn whole(self, interval: Interval) -> i64 {
        let Interval { months, days, microseconds } = interval;
        let (years, months) = (i64::from(months / 12), i64::from(months % 12));
        match self {
            Self::Quarter => months / 3 + 1,
            Self::Epoch => 0,
            Self::Unit(unit) => match unit {
                IntervalUnit::Millennium => years / 1_000,
                IntervalUnit::Century => years / 100,
                IntervalUnit::Decade => years / 10,
                IntervalUnit::Year => years,
                IntervalUnit::Month => months,
                IntervalUnit::Week => i64::from(days) / 7,
                IntervalUnit::Day => days.into(),
                IntervalUnit::Hour => microseconds / HOUR,
                IntervalUnit::Minute => microseconds / MINUTE % 60,
                IntervalUnit::Second => microseconds / SECOND % 60,
                IntervalUnit::Millisecond => microseconds % MINUTE / 1_000,
                IntervalUnit::Microsecond => microseconds % MINUTE,
            },
        }
    }

    /// The part as a double.
    #[allow(clippy::cast_precision_loss)] // seconds and their fractions
    pub(super) fn double(self, interval: Interval) -> f64 {
        let Interval { months, days, microseconds } = interval;
        let below_minute = (microseconds % MINUTE) as f64;
        match self {
            Self::Unit(IntervalUnit::Second) => below_minute / 1e6,
            Self::Unit(IntervalUnit::Millisecond) => below_minute / 1e3,
            Self::Epoch => {
                let years = f64::from(months / 12) * 365.25;
                let days = years + f64::from(months % 12) * 30.0 + f64::from(days);
                // Both are whole microseconds, which add up without loss up to 285 years.
                (days * 86_400e6 + microseconds as f64) / 1e6
            }
            other => other.whole(interval) as f64,
        }
    }

    /// The interval with what is smaller than the part dropped.
    ///
    /// # Errors
    /// `Unsupported` for weeks, of which months have fractions.
    pub(super) fn truncate(self, interval: Interval) -> Result<Interval> {
        let Interval { months, days, microseconds } = interval;
        let of_months =
            |unit: i32| Interval { months: months / unit * unit, days: 0, microseconds: 0 };
        let of_time = |unit: i64| Interval { microseconds: microseconds / unit * unit, ..interval };
        Ok(match self {
            Self::Quarter => of_months(3),
            Self::Epoch => return Err(no_part("epoch")),
            Self::Unit(unit) => match unit {
                IntervalUnit::Millennium => of_months(12_000),
                IntervalUnit::Century => of_months(1_200),
                IntervalUnit::Decade => of_months(120),
                IntervalUnit::Year => of_months(12),
                IntervalUnit::Month => of_months(1),
                IntervalUnit::Week => return Err(unsupported("the unit \"week\" of intervals")),
                IntervalUnit::Day => Interval { months, days, microseconds: 0 },
                IntervalUnit::Hour => of_time(HOUR),
                IntervalUnit::Minute => of_time(MINUTE),
                IntervalUnit::Second => of_time(SECOND),
                IntervalUnit::Millisecond => of_time(1_000),
                IntervalUnit::Microsecond => of_time(1),
            },
        })
    }
}

fn no_part(name: &str) -> Error {
    let shown = name.chars().take(60).collect::<String>();
    input(format!("unit \"{shown}\" not recognized for type interval"))
        .because(Reason::InvalidParameter)
}
