//! Hostile texts and extreme operands are refused or computed, and never panic.

use crate::call_values::Arguments;
use crate::calls::{call, settings};
use crate::random::{date, index, interval, microseconds, time};
use gadus_base::Random;
use gadus_times::{
    Date, Field, Interval, Settings, Time, TimeTz, TimeZone, Timestamp, TimestampTz, ZoneArgument,
};

const CHARACTERS: &[u8] = b"0123456789-+:./ ,abdefjmnopstuyzTZPYMWDHS<>\t\x00";

fn read_all(text: &str, settings: &Settings) {
    let _ = Date::parse(text, settings);
    let _ = Timestamp::parse(text, settings);
    let _ = TimestampTz::parse(text, settings);
    let _ = Time::parse(text, settings);
    let _ = TimeTz::parse(text, settings);
    let _ = Interval::parse(text, None, settings);
    let _ = TimeZone::setting(text);
    let _ = ZoneArgument::parse(text);
    let _ = Field::new(text);
}

#[test]
fn random_texts_do_not_panic() {
    let mut random = Random::seeded(41);
    for _ in 0..60_000 {
        let length = index(&mut random, 24);
        let text: String = (0..length)
            .map(|_| char::from(CHARACTERS[index(&mut random, CHARACTERS.len())]))
            .collect();
        read_all(&text, &crate::random::settings(&mut random));
    }
}

#[test]
fn long_texts_are_refused() {
    let settings =
        settings("ISO, MDY|postgres|UTC", TimestampTz::from_unix_microseconds(0).unwrap());
    for unit in ["1", "1 ", "a", "-", "+1 ", "1:", "1.", "é", "1 day ", "P", "PT"] {
        for count in [50, 100, 1_000, 1_000_000] {
            read_all(&unit.repeat(count), &settings);
        }
    }
    assert!(Interval::parse(&"1 day ".repeat(100), None, &settings).is_err());
}

#[test]
fn extreme_operands_do_not_panic() {
    let mut random = Random::seeded(42);
    let units = ["epoch", "julian", "week", "isoyear", "century", "second", "timezone_minute"];
    let numbers = [0.0, -0.0, 1.0, -1.5, 1e-300, 1e300, f64::NAN, f64::INFINITY, f64::MIN];
    for _ in 0..20_000 {
        let settings = crate::random::settings(&mut random);
        let value = TimestampTz::from_unix_microseconds(microseconds(&mut random)).unwrap();
        let local = Timestamp::from_unix_microseconds(microseconds(&mut random)).unwrap();
        let (span, other) = (interval(&mut random), interval(&mut random));
        let (date, time) = (date(&mut random), time(&mut random));
        let number = numbers[index(&mut random, numbers.len())];
        let field = Field::new(units[index(&mut random, units.len())]);
        let _ = (value.add_interval(span, &settings), value.subtract_interval(span, &settings));
        let _ =
            (local.add_interval(span), local.subtract_interval(span), local.age(Timestamp(value)));
        let _ = (date.add_interval(span), date.at(time), date.to_timestamptz(&settings));
        let _ = (span.multiply(number), span.divide(number), span.justify_interval());
        let _ = (
            local.bin(span, local),
            value.bin(other, value),
            span.add_interval(other),
            span.negate(),
        );
        let _ = (value.extract(&field, &settings), local.extract(&field), span.extract(&field));
        let _ = (value.truncate(&field, &settings), local.truncate(&field), span.truncate(&field));
        let _ = (value.at_offset(span, &settings), local.at_offset(span, &settings));
        let _ = (value.to_text(&settings), local.to_text(&settings), span.to_text(&settings));
        let _ =
            (value.to_date(&settings), value.to_timetz(&settings), local.to_timestamptz(&settings));
    }
}

/// Takes a point in time as local time.
#[allow(non_snake_case)] // as a constructor
fn Timestamp(value: TimestampTz) -> Timestamp {
    match value.to_unix_microseconds() {
        Some(integer) => Timestamp::from_unix_microseconds(integer).unwrap(),
        None => Timestamp::INFINITY,
    }
}

#[test]
fn extreme_numbers_make_values_or_errors() {
    let settings =
        settings("ISO, MDY|postgres|UTC", TimestampTz::from_unix_microseconds(0).unwrap());
    let numbers = ["0", "-1", "13", "2147483647", "-2147483648"];
    for year in numbers {
        for month in numbers {
            for day in numbers {
                call("make_date", &[year, month, day], &settings);
                call("make_timestamp", &["2000", "1", "1", year, month, "1e308"], &settings);
                call("make_interval", &[year, month, day, year, month, day, "1e300"], &settings);
            }
        }
    }
    let arguments = Arguments { texts: &["infinity"], settings: &settings };
    assert!(!arguments.date(0).unwrap().is_finite());
}
