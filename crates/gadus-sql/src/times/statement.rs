//! Settings and times of the statement that a thread works for.

use super::TextSettings;
use gadus_base::clock;
use gadus_times::{Settings, TimeZone, TimestampTz};

/// Settings of a statement, with the start of its transaction, and its own start.
#[derive(Debug, Clone)]
pub(crate) struct StatementTimes {
    /// Time zone, styles, and the start of the transaction.
    pub(crate) settings: TextSettings,
    /// Start of the statement.
    pub(crate) began: TimestampTz,
}

impl StatementTimes {
    /// Returns the times of a statement that begins now, outside transactions unless one began before.
    pub(crate) fn begin(settings: &TextSettings, transaction: Option<TimestampTz>) -> Self {
        let began = statement_timestamp();
        let now = transaction.unwrap_or(began);
        Self { settings: settings.of_transaction(now), began }
    }
}

impl Default for StatementTimes {
    fn default() -> Self {
        Self::begin(&default_settings(), None)
    }
}

/// Returns the settings of a session that has set nothing.
pub(crate) fn default_settings() -> TextSettings {
    let mut settings = Settings::new(TimestampTz::NEGATIVE_INFINITY);
    if let Ok(utc) = TimeZone::named("UTC") {
        settings.time_zone = utc;
    }
    TextSettings::new(settings)
}

/// Returns the time of the clock on the wall.
pub(crate) fn statement_timestamp() -> TimestampTz {
    let since_1970 = i64::try_from(clock().wall_time().0.as_micros()).ok();
    let now = since_1970.and_then(|time| TimestampTz::from_unix_microseconds(time).ok());
    now.unwrap_or(TimestampTz::NEGATIVE_INFINITY)
}
