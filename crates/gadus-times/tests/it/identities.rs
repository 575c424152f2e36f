//! Identities between calls, on random values.

use crate::random::{date, interval, microseconds, recent, settings, time};
use gadus_base::Random;
use gadus_times::{Field, Interval, Timestamp, TimestampTz};

/// Units from the shortest to the longest.
const UNITS: [&str; 11] = [
    "microsecond",
    "millisecond",
    "second",
    "minute",
    "hour",
    "day",
    "month",
    "quarter",
    "year",
    "century",
    "millennium",
];

fn timestamp(random: &mut Random) -> Timestamp {
    Timestamp::from_unix_microseconds(microseconds(random)).unwrap()
}

#[test]
fn differences_of_timestamps_are_undone_by_addition() {
    let mut random = Random::seeded(31);
    for _ in 0..10_000 {
        let (one, other) = (timestamp(&mut random), timestamp(&mut random));
        // Longer differences than 64 bits wrap around, as in PostgreSQL.
        let integers = (one.to_unix_microseconds().unwrap(), other.to_unix_microseconds().unwrap());
        if integers.0.checked_sub(integers.1).is_none() {
            continue;
        }
        if let Ok(difference) = one.subtract(other) {
            assert_eq!(other.add_interval(difference).unwrap(), one);
            assert!(difference.days.unsigned_abs() < 300_000_000);
        }
        let (one, other) = (date(&mut random), date(&mut random));
        assert_eq!(other.add_days(one.subtract(other).unwrap()).unwrap(), one);
    }
}

#[test]
fn elapsed_time_is_the_same_in_all_zones() {
    let mut random = Random::seeded(32);
    for _ in 0..10_000 {
        let (start, settings) = (recent(&mut random), settings(&mut random));
        let span = Interval::new(
            0,
            0,
            crate::random::integer(&mut random, -1_000_000_000_000, 1_000_000_000_000),
        );
        let end = start.add_interval(span, &settings).unwrap();
        let elapsed = end.subtract(start).unwrap();
        assert_eq!(i128::from(span.microseconds), elapsed.length());
    }
}

#[test]
fn truncation_is_idempotent_and_longer_units_absorb_shorter_ones() {
    let mut random = Random::seeded(33);
    for _ in 0..3_000 {
        let value = timestamp(&mut random);
        for (index, unit) in UNITS.iter().enumerate() {
            let Ok(cut) = value.truncate(&Field::new(unit)) else { continue };
            assert!(cut <= value);
            for shorter in &UNITS[..=index] {
                assert_eq!(cut.truncate(&Field::new(shorter)).unwrap(), cut);
            }
        }
    }
}

#[test]
fn truncated_points_in_time_are_not_later() {
    let mut random = Random::seeded(34);
    for _ in 0..3_000 {
        let (value, settings) = (recent(&mut random), settings(&mut random));
        for unit in UNITS.iter().chain(&["week", "decade"]) {
            let cut = value.truncate(&Field::new(unit), &settings).unwrap();
            assert!(cut <= value, "{unit}");
        }
    }
}

#[test]
fn points_in_time_survive_the_way_over_local_time_outside_of_overlaps() {
    let mut random = Random::seeded(35);
    let mut moved = 0;
    for _ in 0..10_000 {
        let (value, settings) = (recent(&mut random), settings(&mut random));
        let back = value.to_timestamp(&settings).unwrap().to_timestamptz(&settings).unwrap();
        // An overlap takes the later of two points.
        assert!(back >= value);
        moved += usize::from(back != value);
    }
    assert!(moved < 20, "{moved}");
}

#[test]
fn sums_of_intervals_are_undone_and_justified_lengths_kept() {
    let mut random = Random::seeded(36);
    for _ in 0..10_000 {
        let (one, other) = (interval(&mut random), interval(&mut random));
        if let Ok(sum) = one.add_interval(other) {
            let back = sum.subtract_interval(other).unwrap();
            assert_eq!(
                (back.months, back.days, back.microseconds),
                (one.months, one.days, one.microseconds)
            );
        }
        for justified in [one.justify_days(), one.justify_hours(), one.justify_interval()] {
            assert!(justified.is_err() || justified == Ok(one));
        }
    }
}

#[test]
fn times_of_day_wrap_around() {
    let mut random = Random::seeded(37);
    for _ in 0..5_000 {
        let (value, span) = (time(&mut random), interval(&mut random));
        let back = value.add_interval(span).subtract_interval(span);
        let midnight = value.to_microseconds() == 86_400_000_000;
        assert!(midnight || back == value);
    }
}

#[test]
fn order_of_points_in_time_is_that_of_their_integers() {
    let mut random = Random::seeded(38);
    for _ in 0..5_000 {
        let (one, other) = (microseconds(&mut random), microseconds(&mut random));
        let value = |integer| TimestampTz::from_unix_microseconds(integer).unwrap();
        assert_eq!(value(one).cmp(&value(other)), one.cmp(&other));
    }
}
