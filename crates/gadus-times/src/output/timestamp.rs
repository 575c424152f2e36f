//! Timestamps.
//!
//! - ISO shows the offset of a zone; the other styles show its abbreviation.

use super::clock::{clock, offset, pair, year};
use super::date::{era, iso, numbers};
use super::write_infinity;
use crate::calendar::{Civil, DateFields, bc_year, weekday};
use crate::settings::{DateOrder, DateStyle, Settings};
use crate::values::{Timestamp, TimestampTz};

/// Bytes of an abbreviation at most.
const ABBREVIATION_BYTES_MAX: usize = 10;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Offset in seconds east of UTC, and abbreviation, of a point in time.
struct Zone<'a> {
    east: i32,
    abbreviation: &'a str,
}

impl Timestamp {
    /// Appends the text in the style of a session.
    pub fn write(&self, settings: &Settings, text: &mut String) {
        match self.civil() {
            Ok(civil) => write(&civil, None, settings, text),
            Err(_) => write_infinity(self.0 < 0, text),
        }
    }
}

impl TimestampTz {
    /// Appends the text in the style and the zone of a session.
    pub fn write(&self, settings: &Settings, text: &mut String) {
        let local = settings.time_zone.local_type(self.unix_seconds());
        let zone = Zone { east: local.offset, abbreviation: &local.abbreviation };
        match self.civil_at(local.offset) {
            Ok(civil) => write(&civil, Some(&zone), settings, text),
            Err(_) => write_infinity(self.0 < 0, text),
        }
    }
}

fn write(civil: &Civil, zone: Option<&Zone<'_>>, settings: &Settings, text: &mut String) {
    let date = DateFields { year: civil.year, month: civil.month, day: civil.day };
    match settings.date_style {
        DateStyle::Iso => {
            iso(date, false, text);
            text.push(' ');
            clock(civil, text);
            if let Some(zone) = zone {
                offset(zone.east, text);
            }
        }
        DateStyle::Sql | DateStyle::German => {
            let delimiter = if settings.date_style == DateStyle::Sql { '/' } else { '.' };
            numbers(date, settings, delimiter, text);
            text.push(' ');
            clock(civil, text);
            abbreviation(zone, text);
        }
        DateStyle::Postgres => {
            named(civil, settings, text);
            abbreviation(zone, text);
        }
    }
    era(date, text);
}

/// Appends `Wed Dec 17 07:37:16 1997`.
fn named(civil: &Civil, settings: &Settings, text: &mut String) {
    let name = |names: &[&'static str], index: i32| {
        usize::try_from(index).ok().and_then(|index| names.get(index).copied()).unwrap_or("")
    };
    let month = name(&MONTHS, civil.month - 1);
    text.push_str(name(&WEEKDAYS, weekday(civil.julian())));
    text.push(' ');
    if settings.date_order == DateOrder::Dmy {
        pair(civil.day.unsigned_abs(), text);
        text.push(' ');
        text.push_str(month);
    } else {
        text.push_str(month);
        text.push(' ');
        pair(civil.day.unsigned_abs(), text);
    }
    text.push(' ');
    clock(civil, text);
    text.push(' ');
    year(bc_year(civil.year).unsigned_abs(), text);
}

fn abbreviation(zone: Option<&Zone<'_>>, text: &mut String) {
    if let Some(zone) = zone {
        text.push(' ');
        text.push_str(crate::zone::clipped(zone.abbreviation, ABBREVIATION_BYTES_MAX));
    }
}
