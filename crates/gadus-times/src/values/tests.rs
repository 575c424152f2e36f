//! Values and their integers.

use super::{Date, Interval, Time, TimeTz, Timestamp, TimestampTz};

#[test]
fn integers_are_read_as_they_were_given() {
    for days in [i32::MIN, -2_440_588, 0, 1, 2_145_042_905, i32::MAX] {
        assert_eq!(Date::from_unix_days(days).unwrap().to_unix_days(), days);
    }
    for value in [i64::MIN, -210_866_803_200_000_000, -1, 0, i64::MAX - 1, i64::MAX] {
        let timestamp = Timestamp::from_unix_microseconds(value).unwrap();
        assert_eq!(timestamp.to_unix_microseconds(), Some(value));
    }
}

#[test]
fn integers_beyond_the_types_are_refused() {
    assert!(Date::from_unix_days(-2_440_589).is_err());
    assert!(Date::from_unix_days(2_145_042_906).is_err());
    assert!(TimestampTz::from_unix_microseconds(-210_866_803_200_000_001).is_err());
    assert!(Time::from_microseconds(-1).is_err());
    assert!(Time::from_microseconds(86_400_000_001).is_err());
    assert!(TimeTz::new(Time::from_microseconds(0).unwrap(), 57_600).is_err());
}

#[test]
fn intervals_are_compared_by_length() {
    assert_eq!(Interval::new(1, 0, 0), Interval::new(0, 30, 0));
    assert!(Interval::new(0, 0, 86_400_000_001) > Interval::new(0, 1, 0));
    assert!(Interval::new(i32::MAX, i32::MAX, i64::MAX) > Interval::new(i32::MIN, 0, 0));
}
