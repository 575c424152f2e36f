//! Zones as arguments of functions: an abbreviation, a name or a POSIX text.

use super::{Abbreviation, NAME_BYTES_MAX, TimeZone, abbreviation};
use crate::calendar::Civil;
use crate::error::Result;

/// Time zone as `AT TIME ZONE` and `date_trunc` take it. An abbreviation takes precedence over a name.
#[derive(Debug, Clone)]
pub struct ZoneArgument(Meaning);

#[derive(Debug, Clone)]
enum Meaning {
    Fixed(i32),
    Abbreviation(String, TimeZone),
    Zone(TimeZone),
}

impl ZoneArgument {
    /// Returns the zone of a text.
    ///
    /// # Errors
    /// 22023 for a text that is not a zone.
    pub fn parse(text: &str) -> Result<Self> {
        let text = clipped(text, NAME_BYTES_MAX);
        Ok(Self(match abbreviation(text.to_ascii_lowercase().as_bytes()) {
            Some(Abbreviation::Fixed { offset, .. }) => Meaning::Fixed(offset),
            Some(Abbreviation::Zone(zone)) => Meaning::Abbreviation(text.to_owned(), zone),
            None => Meaning::Zone(TimeZone::named(text)?),
        }))
    }

    /// Returns the offset, in seconds east of UTC, of a local time.
    pub(crate) fn offset_of_local(&self, local: &Civil) -> i32 {
        match &self.0 {
            Meaning::Fixed(offset) => *offset,
            Meaning::Abbreviation(name, zone) => zone.offset_of_abbreviation(name, local),
            Meaning::Zone(zone) => zone.offset_of_local(local),
        }
    }

    /// Returns the offset, in seconds east of UTC, at seconds since 1970.
    pub(crate) fn offset_at(&self, unix_seconds: i64) -> i32 {
        match &self.0 {
            Meaning::Fixed(offset) => *offset,
            Meaning::Abbreviation(name, zone) => zone.offset_of_abbreviation_at(name, unix_seconds),
            Meaning::Zone(zone) => zone.offset_at(unix_seconds),
        }
    }

    /// Returns the zone by whose days `date_trunc` truncates.
    pub(crate) fn time_zone(&self) -> TimeZone {
        match &self.0 {
            Meaning::Fixed(offset) => TimeZone::fixed(*offset),
            Meaning::Abbreviation(_, zone) | Meaning::Zone(zone) => zone.clone(),
        }
    }
}

/// Returns the beginning of a text, of whole characters.
pub(crate) fn clipped(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}
