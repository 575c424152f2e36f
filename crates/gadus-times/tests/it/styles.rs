//! Texts of each style are read as the values they were written from.

use crate::random::{date, interval, microseconds, settings, time};
use gadus_base::Random;
use gadus_times::{
    Date, DateOrder, DateStyle, Interval, IntervalStyle, Time, TimeTz, Timestamp, TimestampTz,
};

#[test]
fn dates_are_read_as_they_were_written() {
    let mut random = Random::seeded(21);
    for _ in 0..20_000 {
        let mut settings = settings(&mut random);
        if settings.date_style != DateStyle::Iso && settings.date_order == DateOrder::Ymd {
            settings.date_order = DateOrder::Mdy;
        }
        if settings.date_style == DateStyle::German {
            settings.date_order = DateOrder::Dmy;
        }
        let value = date(&mut random);
        assert_eq!(Date::parse(&value.to_text(&settings), &settings).unwrap(), value);
    }
}

#[test]
fn timestamps_are_read_as_they_were_written() {
    let mut random = Random::seeded(22);
    for _ in 0..20_000 {
        let mut settings = settings(&mut random);
        if settings.date_style == DateStyle::German {
            settings.date_order = DateOrder::Dmy;
        } else if settings.date_order == DateOrder::Ymd {
            settings.date_order = DateOrder::Mdy;
        }
        let value = Timestamp::from_unix_microseconds(microseconds(&mut random)).unwrap();
        let text = value.to_text(&settings);
        assert_eq!(Timestamp::parse(&text, &settings).unwrap(), value, "{text}");
    }
}

#[test]
fn points_in_time_are_read_as_they_were_written_in_iso() {
    let mut random = Random::seeded(23);
    for _ in 0..20_000 {
        let mut settings = settings(&mut random);
        settings.date_style = DateStyle::Iso;
        let value = TimestampTz::from_unix_microseconds(microseconds(&mut random)).unwrap();
        let text = value.to_text(&settings);
        // Local time of the first day may be before the first date.
        match TimestampTz::parse(&text, &settings) {
            Ok(read) => assert_eq!(read, value, "{text}"),
            Err(error) => assert!(text.starts_with("4714-11-23"), "{text} {error}"),
        }
    }
}

#[test]
fn times_are_read_as_they_were_written() {
    let mut random = Random::seeded(24);
    for _ in 0..5_000 {
        let settings = settings(&mut random);
        let value = time(&mut random);
        assert_eq!(Time::parse(&value.to_text(&settings), &settings).unwrap(), value);
        let offset = crate::random::integer(&mut random, -57_599, 57_599);
        let value = TimeTz::new(value, i32::try_from(offset).unwrap()).unwrap();
        assert_eq!(TimeTz::parse(&value.to_text(&settings), &settings).unwrap(), value);
    }
}

#[test]
fn intervals_are_read_as_they_were_written() {
    let mut random = Random::seeded(25);
    for _ in 0..20_000 {
        let settings = settings(&mut random);
        let value = interval(&mut random);
        let text = value.to_text(&settings);
        let Ok(read) = Interval::parse(&text, None, &settings) else {
            // PostgreSQL's numbers of this style are in double precision up to 10^15.
            assert!(matches!(settings.interval_style, IntervalStyle::Iso8601), "{text}");
            continue;
        };
        assert_eq!(
            (read.months, read.days, read.microseconds),
            (value.months, value.days, value.microseconds),
            "{text}"
        );
    }
}
