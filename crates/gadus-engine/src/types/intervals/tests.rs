//! What texts mean and how intervals are written, as PostgreSQL 15 answers; and that one is the inverse of the other.

use super::*;
use gadus_base::Random;

fn read(text: &str) -> Result<String, IntervalError> {
    Interval::parse(text, IntervalFields::default()).map(|interval| interval.to_string())
}

#[test]
fn texts_are_read_as_postgresql_reads_them() {
    for line in include_str!("texts.txt").lines() {
        let (text, expected) = line.split_once(" => ").expect("a text and its interval");
        let expected = match expected {
            "22007" => Err(IntervalError::Syntax),
            "22008" => Err(IntervalError::Range),
            "22015" => Err(IntervalError::Field),
            shown => Ok(shown.to_owned()),
        };
        assert_eq!(read(text), expected, "of {text:?}");
    }
}

#[test]
fn a_type_limits_what_is_read_as_postgresql_does() {
    use IntervalField::{Day, Hour, Minute, Month, Second, Year};
    let of = |first, last| IntervalFields { range: Some((first, last)), digits: None };
    let digits = |digits| IntervalFields { range: None, digits: Some(digits) };
    for (text, fields, expected) in [
        ("7", of(Day, Day), "7 days"),
        ("7", of(Year, Year), "7 years"),
        ("7", of(Year, Month), "7 mons"),
        ("1-2", of(Year, Month), "1 year 2 mons"),
        ("1 02:03:04.5", of(Day, Second), "1 day 02:03:04.5"),
        ("1 2:03", of(Day, Minute), "1 day 02:03:00"),
        ("2:03", of(Minute, Second), "00:02:03"),
        ("1 year 2 mons 3 days 04:05:06", of(Year, Year), "1 year"),
        ("1 year 2 mons 3 days 04:05:06", of(Month, Month), "1 year 2 mons"),
        ("1 year 2 mons 3 days 04:05:06", of(Day, Day), "1 year 2 mons 3 days"),
        ("1 year 2 mons 3 days 04:05:06", of(Day, Hour), "1 year 2 mons 3 days 04:00:00"),
        ("-04:05:06", of(Hour, Minute), "-04:05:00"),
        ("1.23456 s", digits(2), "00:00:01.23"),
        ("-1.235 s", digits(2), "-00:00:01.24"),
        ("1.5 s", digits(0), "00:00:02"),
    ] {
        let read = Interval::parse(text, fields).map(|interval| interval.to_string());
        assert_eq!(read.as_deref(), Ok(expected), "of {text:?} as {fields:?}");
    }
}

#[test]
fn what_goes_beyond_the_range_is_refused() {
    let most = Interval { months: i32::MAX, days: i32::MIN, microseconds: MICROSECONDS_MAX };
    assert_eq!(Interval::from_arrow(most.to_arrow()), most);
    assert_eq!(read(&most.to_string()), Ok(most.to_string()));
    assert_eq!(read("2562048 hours"), Err(IntervalError::Range));
    assert_eq!(read("2147483648 days"), Err(IntervalError::Field));
    assert_eq!(read("-178956970 years -9 mons"), Err(IntervalError::Range));
}

#[test]
fn what_is_finer_than_a_microsecond_is_rounded() {
    let of = |nanoseconds| {
        Interval::from_arrow(IntervalMonthDayNano::new(0, 0, nanoseconds)).microseconds
    };
    assert_eq!([1_499, 1_500, -1_499, -1_500].map(of), [1, 2, -1, -2]);
    assert_eq!(of(i64::MAX), MICROSECONDS_MAX);
}

#[test]
fn only_numbers_that_an_interval_is_kept_as_are_one() {
    for wide in [i64::MAX, i64::MIN, MICROSECONDS_MAX + 1].map(i128::from) {
        assert!(!is_interval(wide), "{wide}");
        // Even so, it becomes something that can be shown.
        let _ = Interval::from_wide(wide).to_arrow();
    }
    let least = Interval { months: i32::MIN, days: i32::MIN, microseconds: -MICROSECONDS_MAX };
    assert_eq!(Interval::from_wide(least.to_wide()), least);
    assert!(is_interval(0));
}

#[test]
fn intervals_are_what_their_texts_and_their_stored_forms_say() {
    let mut random = Random::seeded(4);
    for _ in 0..10_000 {
        let interval = any(&mut random);
        let fields = IntervalFields::default();
        assert_eq!(Interval::parse(&interval.to_string(), fields), Ok(interval));
        assert_eq!(Interval::from_wide(interval.to_wide()), interval);
        assert!(is_interval(interval.to_wide()));
    }
}

/// An interval whose parts are small, large, or not there.
fn any(random: &mut Random) -> Interval {
    let mut part = |most: i64| {
        let value = random.next_u64().cast_signed() % (most + 1);
        match random.next_u64() % 3 {
            0 => 0,
            1 => value % 100,
            _ => value,
        }
    };
    let mut narrow = || i32::try_from(part(i32::MAX.into())).expect("bounded");
    let (months, days) = (narrow(), narrow());
    Interval { months, days, microseconds: part(MICROSECONDS_MAX) }
}

#[test]
fn any_text_is_read_or_refused() {
    let characters = "-+0123456789.: PYMWDTHSdayhourmonagos@\té".chars().collect::<Vec<_>>();
    let mut random = Random::seeded(5);
    for _ in 0..20_000 {
        let length = random.below(24);
        let mut draw = |_| {
            let place = random.below(characters.len() as u64);
            characters[usize::try_from(place).expect("of an array")]
        };
        let text = (0..length).map(&mut draw).collect::<String>();
        let _ = read(&text);
    }
}
