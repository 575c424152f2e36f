//! TimeZone, DateStyle, IntervalStyle, and other settings of the texts of values.

use crate::error::{coded, input};
use crate::times::{TextSettings, default_settings, error_of_times};
use datafusion::sql::sqlparser::ast::{DateTimeField, Expr, Interval as WrittenInterval, Value};
use gadus_engine::{Diagnosis, Result};
use gadus_times::{Interval, TimeZone, TimesError};
use std::sync::{Arc, LazyLock};

/// Setting that times depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeVariable {
    TimeZone,
    DateStyle,
    IntervalStyle,
    ExtraFloatDigits,
    ByteaOutput,
}

/// Values of these settings.
#[derive(Debug, Clone)]
pub(super) struct TimeVariables(Arc<TextSettings>);

static DEFAULT: LazyLock<Arc<TextSettings>> = LazyLock::new(|| Arc::new(default_settings()));

impl Default for TimeVariables {
    fn default() -> Self {
        Self(DEFAULT.clone())
    }
}

impl TimeVariable {
    /// Returns the values that the setting takes, for users.
    pub(super) fn values(self) -> &'static str {
        match self {
            Self::TimeZone => "a name of the IANA database, a POSIX text or hours east of UTC",
            Self::DateStyle => "ISO, SQL, Postgres or German, and MDY, DMY or YMD",
            Self::IntervalStyle => "postgres, postgres_verbose, sql_standard or iso_8601",
            Self::ExtraFloatDigits => "a number from -15 to 3",
            Self::ByteaOutput => "hex or escape",
        }
    }
}

impl TimeVariables {
    /// Sets one of them; returns its value as SHOW writes it.
    pub(super) fn set(&mut self, variable: TimeVariable, value: &str) -> Result<String> {
        let mut settings = (*self.0).clone();
        let shown = match variable {
            TimeVariable::ExtraFloatDigits => {
                settings.extra_float_digits = float_digits(value)?;
                settings.extra_float_digits.to_string()
            }
            TimeVariable::ByteaOutput => {
                settings.escapes_bytes = escapes_bytes(value)?;
                value.to_ascii_lowercase()
            }
            _ => {
                let shown = read(&mut settings, variable, value);
                shown.map_err(|error| error_of_times(&error))?
            }
        };
        self.0 = Arc::new(settings);
        Ok(shown)
    }

    pub(super) fn settings(&self) -> &Arc<TextSettings> {
        &self.0
    }
}

fn read(
    settings: &mut TextSettings,
    variable: TimeVariable,
    value: &str,
) -> std::result::Result<String, TimesError> {
    Ok(match variable {
        TimeVariable::TimeZone => {
            settings.time_zone = TimeZone::setting(value)?;
            settings.time_zone.name().to_owned()
        }
        TimeVariable::DateStyle => {
            settings.set_date_style(value)?;
            settings.date_style_text()
        }
        TimeVariable::IntervalStyle => {
            settings.interval_style = value.parse()?;
            value.to_ascii_lowercase()
        }
        TimeVariable::ExtraFloatDigits | TimeVariable::ByteaOutput => value.to_owned(),
    })
}

/// Reads `extra_float_digits`.
fn float_digits(value: &str) -> Result<i32> {
    let message = match value.trim().parse() {
        Ok(digits @ -15..=3) => return Ok(digits),
        Ok(digits) => format!(
            "{digits} is outside the valid range for parameter \"extra_float_digits\" (-15 .. 3)"
        ),
        Err(_) => format!("invalid value for parameter \"extra_float_digits\": \"{value}\""),
    };
    Err(coded("22023", message))
}

/// Reads `bytea_output`.
fn escapes_bytes(value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "hex" => Ok(false),
        "escape" => Ok(true),
        _ => {
            let message = format!("invalid value for parameter \"bytea_output\": \"{value}\"");
            Err(coded("22023", message))
        }
    }
}

/// Returns true for settings of a session that has set none of them.
pub(super) fn are_default(settings: &Arc<TextSettings>) -> bool {
    Arc::ptr_eq(settings, &DEFAULT) || **settings == **DEFAULT
}

/// Returns the zone of `SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE`; `None` for other forms.
pub(super) fn zone_of_interval(value: &Expr) -> Option<Result<String>> {
    let Expr::Interval(WrittenInterval { value, leading_field, .. }) = value else { return None };
    let Expr::Value(text) = &**value else { return None };
    let Value::SingleQuotedString(text) = &text.value else { return None };
    // A number alone counts the field that is named.
    let unit = match leading_field {
        Some(DateTimeField::Hour) if text.trim().parse::<i32>().is_ok() => " hours",
        Some(DateTimeField::Minute) if text.trim().parse::<i32>().is_ok() => " minutes",
        _ => "",
    };
    let span = Interval::parse(&format!("{text}{unit}"), None, &DEFAULT);
    Some(match span {
        Err(error) => Err(error_of_times(&error)),
        Ok(Interval { months: 1.. | ..=-1, .. }) => Err(refused("month")),
        Ok(Interval { days: 1.. | ..=-1, .. }) => Err(refused("day")),
        Ok(Interval { microseconds, .. }) => match i32::try_from(microseconds / 1_000_000) {
            Ok(seconds) => Ok(TimeZone::fixed(seconds).name().to_owned()),
            Err(_) => Err(refused("year")),
        },
    })
}

fn refused(unit: &str) -> gadus_engine::Error {
    input(format!("cannot specify {unit}s in time zone interval")).diagnosed(Diagnosis {
        sql_state: Some("22023"),
        detail: None,
        hint: None,
        position: None,
    })
}
