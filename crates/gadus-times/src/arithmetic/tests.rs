//! Months, days and times of different lengths.

use crate::settings::Settings;
use crate::values::{Interval, Timestamp, TimestampTz};
use crate::zone::TimeZone;

fn settings() -> Settings {
    let mut settings = Settings::new(TimestampTz(0));
    settings.time_zone = TimeZone::named("America/New_York").unwrap();
    settings
}

#[test]
fn months_end_with_their_last_day() {
    let settings = settings();
    let value = Timestamp::parse("2024-01-31 12:00", &settings).unwrap();
    let sum = value.add_interval(Interval::new(1, 0, 0)).unwrap();
    assert_eq!(sum.to_text(&settings), "2024-02-29 12:00:00");
}

#[test]
fn days_are_of_the_clock_and_hours_are_elapsed() {
    let settings = settings();
    let value = TimestampTz::parse("2024-03-09 12:00", &settings).unwrap();
    let day = value.add_interval(Interval::new(0, 1, 0), &settings).unwrap();
    let hours = value.add_interval(Interval::new(0, 0, 86_400_000_000), &settings).unwrap();
    assert_eq!(day.to_text(&settings), "2024-03-10 12:00:00-04");
    assert_eq!(hours.to_text(&settings), "2024-03-10 13:00:00-04");
}

#[test]
fn fractions_are_carried_down() {
    let settings = settings();
    let value = Interval::new(1, 1, 0).multiply(0.5).unwrap();
    assert_eq!(value.to_text(&settings), "15 days 12:00:00");
    assert_eq!(Interval::new(1, 0, 0).divide(0.0).unwrap_err().sqlstate(), "22012");
}

#[test]
fn ages_borrow_days_of_the_earlier_month() {
    let settings = settings();
    let at = |text| Timestamp::parse(text, &settings).unwrap();
    let age = at("2001-04-10").age(at("1957-06-13")).unwrap();
    assert_eq!(age.to_text(&settings), "43 years 9 mons 27 days");
}
