//! Points in time made of parts, with PostgreSQL's answers.

use super::{make_timestamp, timestamp_of_seconds};

#[test]
fn parts_make_a_point_in_time() {
    assert_eq!(make_timestamp(1970, 1, 1, 0, 0, 0.0).unwrap(), 0);
    assert_eq!(make_timestamp(2000, 2, 29, 24, 0, 0.0).unwrap(), 951_868_800_000_000);
    assert_eq!(make_timestamp(2013, 7, 15, 8, 15, 23.5).unwrap(), 1_373_876_123_500_000);
    assert_eq!(make_timestamp(-44, 3, 15, 12, 30, 15.0).unwrap(), -63_517_778_985_000_000);
    assert_eq!(make_timestamp(-4714, 11, 24, 0, 0, 0.0).unwrap(), -210_866_803_200_000_000);
}

#[test]
fn parts_out_of_range_are_refused() {
    for (parts, message) in [
        ((0, 7, 15, 12, 30, 15.0), "date field value out of range: 0-07-15"),
        ((2013, 2, 29, 0, 0, 0.0), "date field value out of range: 2013-02-29"),
        ((-4714, 10, 1, 0, 0, 0.0), "date out of range: -4714-10-01"),
        ((2013, 1, 1, 25, 0, 5.5), "time field value out of range: 25:00:5.5"),
        ((2013, 1, 1, 24, 0, 7.0), "time field value out of range: 24:00:07"),
        ((2013, 1, 1, 0, 0, f64::NAN), "time field value out of range: 0:00:NaN"),
        ((-4714, 11, 23, 0, 0, 0.0), "timestamp out of range: -4714-11-23 0:00:00"),
    ] {
        let (year, month, day, hour, minute, second) = parts;
        let error = make_timestamp(year, month, day, hour, minute, second).unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), ("22008", message));
    }
}

#[test]
fn seconds_are_counted_from_1970() {
    assert_eq!(timestamp_of_seconds(1_284_352_323.5).unwrap(), 1_284_352_323_500_000);
    assert_eq!(timestamp_of_seconds(-0.25).unwrap(), -250_000);
    let error = timestamp_of_seconds(1e20).unwrap_err();
    assert_eq!(error.message, "timestamp out of range: \"1e+20\"");
    assert_eq!(timestamp_of_seconds(f64::NAN).unwrap_err().message, "timestamp cannot be NaN");
}
