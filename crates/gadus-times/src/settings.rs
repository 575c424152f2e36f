//! Settings of a session that texts and zones depend on.

use crate::error::{INVALID_PARAMETER, TimesError};
use crate::values::TimestampTz;
use crate::zone::TimeZone;
use std::str::FromStr;

#[cfg(test)]
mod tests;

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
        let refused = |detail: String| Err(invalid("DateStyle", text).with_detail(detail));
        let (mut style, mut order, mut has_conflict) = (None, None, false);
        let words = text.split(',').map(str::trim);
        if !text.trim().is_empty() && words.clone().any(str::is_empty) {
            return refused("List syntax is invalid.".to_owned());
        }
        for word in words.filter(|word| !word.is_empty()) {
            let word = word.to_ascii_uppercase();
            let (new_style, new_order) = match word.as_str() {
                "ISO" => (Some(DateStyle::Iso), None),
                "SQL" => (Some(DateStyle::Sql), None),
                "GERMAN" => (Some(DateStyle::German), None),
                "YMD" => (None, Some(DateOrder::Ymd)),
                "US" | "MDY" => (None, Some(DateOrder::Mdy)),
                "DMY" => (None, Some(DateOrder::Dmy)),
                _ if word.starts_with("POSTGRES") => (Some(DateStyle::Postgres), None),
                _ if word.starts_with("EURO") => (None, Some(DateOrder::Dmy)),
                _ if word.starts_with("NONEURO") => (None, Some(DateOrder::Mdy)),
                _ => {
                    let word = word.to_ascii_lowercase();
                    return refused(format!("Unrecognized key word: \"{word}\"."));
                }
            };
            has_conflict |= (new_style.is_some() && style.is_some_and(|_| style != new_style))
                || (new_order.is_some() && order.is_some_and(|_| order != new_order));
            (style, order) = (new_style.or(style), new_order.or(order));
        }
        if has_conflict {
            return refused("Conflicting \"datestyle\" specifications.".to_owned());
        }
        if style == Some(DateStyle::German) {
            order = order.or(Some(DateOrder::Dmy));
        }
        self.date_style = style.unwrap_or(self.date_style);
        self.date_order = order.unwrap_or(self.date_order);
        Ok(())
    }

    /// Returns the setting `DateStyle` as SHOW writes it, such as `ISO, MDY`.
    #[must_use]
    pub fn date_style_text(&self) -> String {
        let style = match self.date_style {
            DateStyle::Iso => "ISO",
            DateStyle::Sql => "SQL",
            DateStyle::Postgres => "Postgres",
            DateStyle::German => "German",
        };
        let order = match self.date_order {
            DateOrder::Mdy => "MDY",
            DateOrder::Dmy => "DMY",
            DateOrder::Ymd => "YMD",
        };
        format!("{style}, {order}")
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
            _ => Err(invalid("IntervalStyle", text).with_hint(
                "Available values: postgres, postgres_verbose, sql_standard, iso_8601.",
            )),
        }
    }
}

/// Refuses the value of a setting.
pub(crate) fn invalid(setting: &str, text: &str) -> TimesError {
    TimesError::new(
        INVALID_PARAMETER,
        format!("invalid value for parameter \"{setting}\": \"{text}\""),
    )
}
