//! Arrays of texts and times, cast and written.

use super::items::Kind;
use super::{cast_array, default_settings, is_cast, literal, with_time_texts};
use arrow::array::{ArrayRef, AsArray, StringViewArray};
use arrow::datatypes::DataType;
use gadus_times::TimeZone;
use std::sync::Arc;

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringViewArray::from_iter_values(values))
}

fn read(values: &[&str], kind: Kind) -> ArrayRef {
    cast_array(&texts(values), &kind.arrow()).expect("a cast").expect("values")
}

#[test]
fn texts_of_timestamps_are_read_and_written_with_infinities_and_years_before_christ() {
    let values = [
        "infinity",
        "-infinity",
        "4713-11-24 00:00:00 BC",
        "2024-02-29 12:00:00.5",
        "12024-01-01 00:00:00",
    ];
    let array = read(&values, Kind::Timestamp);
    let written = with_time_texts(&array, &Arc::new(default_settings())).expect("texts");
    let written = written.as_string_view().iter().flatten().collect::<Vec<_>>();
    assert_eq!(written, values);
}

#[test]
fn points_in_time_are_written_in_the_zone_of_a_session() {
    let array = read(&["2024-07-01 12:00:00+00", "2024-01-01 12:00:00+00"], Kind::TimestampTz);
    let mut settings = default_settings();
    settings.time_zone = TimeZone::named("Europe/Zurich").expect("a zone");
    let written = with_time_texts(&array, &Arc::new(settings)).expect("texts");
    let written = written.as_string_view().iter().flatten().collect::<Vec<_>>();
    assert_eq!(written, ["2024-07-01 14:00:00+02", "2024-01-01 13:00:00+01"]);
}

#[test]
fn what_arrow_does_not_reach_is_refused() {
    for (text, kind) in [
        ("294276-12-31 23:59:59", Kind::Timestamp),
        ("294276-12-31 23:59:59+00", Kind::TimestampTz),
        ("3000000 hours", Kind::Interval),
    ] {
        let error = cast_array(&texts(&[text]), &kind.arrow()).expect("a cast").unwrap_err();
        let diagnosis = error.diagnosis().expect("a diagnosis");
        assert_eq!(diagnosis.sql_state, Some("22008"), "{text}");
        assert!(diagnosis.detail.is_some(), "{text}");
    }
}

#[test]
fn literals_that_name_the_time_of_a_statement_are_no_constants() {
    let date = DataType::Date32;
    assert!(literal("today", &date).is_none());
    assert!(literal("2024-01-01", &date).is_some_and(|value| value.is_ok()));
    assert!(literal("2024-02-30", &date).is_some_and(|value| value.is_err()));
}

#[test]
fn casts_are_those_of_the_catalog() {
    let of = |from: Kind, to: Kind| is_cast(&from.arrow(), &to.arrow());
    assert!(of(Kind::Interval, Kind::Time) && of(Kind::Time, Kind::Interval));
    assert!(!of(Kind::Time, Kind::Timestamp) && !of(Kind::Date, Kind::Time));
    assert!(!of(Kind::Date, Kind::Date) && !of(Kind::Integer, Kind::Date));
}
