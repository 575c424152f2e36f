//! Settings of a session that texts and zones depend on.

use crate::error::{INVALID_PARAMETER, TimesError};
use crate::values::TimestampTz;
use crate::zone::TimeZone;
use std::str::FromStr;

/// Style of dates in output: the first word of the setting `DateStyle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DateStyle {
    /// `1997-12-17 07:37:16-08`
    #[default]
    Iso,
    /// `12/17/1997 07:37:16.00 PST`
    Sql,
    /// `Wed Dec 17 07:37:16 1997 PST`
    Postgres,
    /// `17.12.1997 07:37:16.00 PST`
    German,
}

/// Order of day, month and year in input, and of day and month in output: the second word of the setting `DateStyle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DateOrder {
    /// Month, day, year.
    #[default]
    Mdy,
    /// Day, month, year.
    Dmy,
    /// Year, month, day.
    Ymd,
}

/// Style of intervals: the setting `IntervalStyle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum IntervalStyle {
    /// `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    PostgresVerbose,
    /// `+1-2 +3 +4:05:06`
    SqlStandard,
    /// `P1Y2M3DT4H5M6S`
    Iso8601,
}

/// Settings of a session, and the time of its transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Style of dates in output.
    pub date_style: DateStyle,
    /// Order of day, month and year.
    pub date_order: DateOrder,
    /// Style of intervals in output; `SqlStandard` also spreads a leading sign in input.
    pub interval_style: IntervalStyle,
    /// Time zone of the session.
    pub time_zone: TimeZone,
    /// Start of the transaction: `now`, `today`, and the day of a `timetz` without a date.
    pub now: TimestampTz,
}

impl Settings {
    /// Returns PostgreSQL's default styles, in UTC, for a transaction that started at `now`.
    #[must_use]
    pub fn new(now: TimestampTz) -> Self {
        Self {
            date_style: DateStyle::default(),
            date_order: DateOrder::default(),
            interval_style: IntervalStyle::default(),
            time_zone: TimeZone::utc(),
            now,
        }
    }

    /// Sets styles from a text such as `ISO, DMY`; one that the text does not name stays as it is.
    ///
    /// # Errors
    /// 22023 for an unknown or a conflicting word.
    pub fn set_date_style(&mut self, text: &str) -> Result<(), TimesError> {
        let (mut style, mut order) = (None, None);
        for word in text.split(',') {
            let word = word.trim().to_ascii_uppercase();
            let (new_style, new_order) = match word.as_str() {
                "ISO" => (Some(DateStyle::Iso), None),
                "SQL" => (Some(DateStyle::Sql), None),
                "GERMAN" => (Some(DateStyle::German), order.or(Some(DateOrder::Dmy))),
                "YMD" => (None, Some(DateOrder::Ymd)),
                "US" | "NONEURO" | "NONEUROPEAN" | "MDY" => (None, Some(DateOrder::Mdy)),
                _ if word.starts_with("POSTGRES") => (Some(DateStyle::Postgres), None),
                _ if word == "DMY" || word.starts_with("EURO") => (None, Some(DateOrder::Dmy)),
                _ => return Err(invalid("DateStyle", text)),
            };
            if style.is_some() && new_style.is_some() && style != new_style {
                return Err(invalid("DateStyle", text));
            }
            (style, order) = (style.or(new_style), new_order.or(order));
        }
        self.date_style = style.unwrap_or(self.date_style);
        self.date_order = order.unwrap_or(self.date_order);
        Ok(())
    }
}

impl FromStr for IntervalStyle {
    type Err = TimesError;

    fn from_str(text: &str) -> Result<Self, TimesError> {
        match text.to_ascii_lowercase().as_str() {
            "postgres" => Ok(Self::Postgres),
            "postgres_verbose" => Ok(Self::PostgresVerbose),
            "sql_standard" => Ok(Self::SqlStandard),
            "iso_8601" => Ok(Self::Iso8601),
            _ => Err(invalid("IntervalStyle", text)),
        }
    }
}

fn invalid(setting: &str, text: &str) -> TimesError {
    TimesError::new(
        INVALID_PARAMETER,
        format!("invalid value for parameter \"{setting}\": \"{text}\""),
    )
}
