//! Units, zones and strides.

use crate::fields::Field;
use crate::settings::Settings;
use crate::values::{Interval, Timestamp, TimestampTz};
use crate::zone::{TimeZone, ZoneArgument};

#[test]
fn centuries_and_weeks_begin_with_their_first_day() {
    let settings = Settings::new(TimestampTz(0));
    let value = Timestamp::parse("2000-01-02 20:38:40", &settings).unwrap();
    let cut = |unit| value.truncate(&Field::new(unit)).unwrap().to_text(&settings);
    assert_eq!(cut("century"), "1901-01-01 00:00:00");
    assert_eq!(cut("week"), "1999-12-27 00:00:00");
    assert_eq!(cut("decade"), "2000-01-01 00:00:00");
}

#[test]
fn hours_of_an_overlap_stay_apart() {
    let mut settings = Settings::new(TimestampTz(0));
    settings.time_zone = TimeZone::named("Europe/Berlin").unwrap();
    for text in ["2024-10-27 02:30:00+02", "2024-10-27 02:30:00+01"] {
        let value = TimestampTz::parse(text, &settings).unwrap();
        let cut = value.truncate(&Field::new("hour"), &settings).unwrap();
        assert_eq!(cut.to_text(&settings), text.replace("30", "00"));
    }
    let value = TimestampTz::parse("2024-10-27 02:30:00+02", &settings).unwrap();
    let zone = ZoneArgument::parse("Asia/Kolkata").unwrap();
    let cut = value.truncate_in_zone(&Field::new("day"), &zone).unwrap();
    assert_eq!(cut.to_text(&settings), "2024-10-26 20:30:00+02");
}

#[test]
fn strides_are_counted_from_the_origin_down_too() {
    let settings = Settings::new(TimestampTz(0));
    let at = |text| Timestamp::parse(text, &settings).unwrap();
    let stride = Interval::new(0, 0, 900_000_000);
    let bin = at("2020-02-11 15:44:17").bin(stride, at("2020-02-11 16:02:30")).unwrap();
    assert_eq!(bin, at("2020-02-11 15:32:30"));
    assert_eq!(
        at("2020-02-11").bin(Interval::new(1, 0, 0), at("2020-01-01")).unwrap_err().sqlstate(),
        "0A000"
    );
}
