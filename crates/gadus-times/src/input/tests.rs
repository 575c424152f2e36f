//! Spellings of dates, times and intervals, and the faults of texts.

use super::offset::offset;
use super::tokens::{Kind, Tokens};
use super::{Fault, numerals};
use crate::settings::{DateOrder, Settings};
use crate::values::{Date, Interval, TimestampTz};

fn settings() -> Settings {
    Settings::new(TimestampTz(0))
}

fn kinds(text: &str) -> Vec<Kind> {
    let tokens = Tokens::split(text, 153).unwrap_or_else(|_| panic!("{text}"));
    (0..tokens.count()).filter_map(|index| tokens.kind(index)).collect()
}

#[test]
fn tokens_are_split_by_characters_alone() {
    use Kind::{Date, Number, Signed, Special, Text, Time};
    assert_eq!(kinds("Fri Feb-7-1997 15:23:27 -08"), [Text, Date, Time, Signed]);
    assert_eq!(kinds("J2451187"), [Text, Number]);
    assert_eq!(kinds("20011225T040506.789+0530"), [Number, Text, Number, Signed]);
    assert_eq!(kinds("gmt+3 -infinity 1.5"), [Date, Special, Number]);
}

#[test]
fn one_date_has_many_spellings() {
    let expected = Date::make(1999, 1, 8).unwrap();
    let spellings = [
        "1999-01-08",
        "January 8, 1999",
        "1/8/1999",
        "19990108",
        "990108",
        "1999.008",
        "J2451187",
        "08-Jan-1999",
        "99-Jan-08",
        "Jan-08-99",
        "y1999m01d08",
        "1999-01-08 AD Friday",
    ];
    for text in spellings {
        let mut settings = settings();
        if text == "99-Jan-08" {
            settings.date_order = DateOrder::Ymd;
        }
        assert_eq!(Date::parse(text, &settings), Ok(expected), "{text}");
    }
}

#[test]
fn orders_of_day_and_month_differ() {
    let mut settings = settings();
    settings.date_order = DateOrder::Dmy;
    assert_eq!(Date::parse("1/8/1999", &settings), Date::make(1999, 8, 1));
    let error = Date::parse("1/18/1999", &settings).unwrap_err();
    assert_eq!(error.sqlstate(), "22008");
    assert_eq!(error.hint(), Some("Perhaps you need a different \"datestyle\" setting."));
}

#[test]
fn one_interval_has_a_text_in_each_style() {
    let texts = [
        "1 year 2 mons 3 days 04:05:06",
        "@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs",
        "+1-2 +3 +4:05:06",
        "P1Y2M3DT4H5M6S",
        "P0001-02-03T04:05:06",
        "P00010203T040506",
    ];
    for text in texts {
        let value = Interval::parse(text, None, &settings()).unwrap();
        let expected = (14, 3, 14_706_000_000);
        assert_eq!((value.months, value.days, value.microseconds), expected, "{text}");
    }
}

#[test]
fn offsets_are_west_of_utc_and_below_sixteen_hours() {
    assert_eq!(offset(b"+05:30"), Ok(-19_800));
    assert_eq!(offset(b"-0800"), Ok(28_800));
    assert_eq!(offset(b"+16"), Err(Fault::Offset));
    assert_eq!(offset(b"05"), Err(Fault::Format));
}

#[test]
fn numbers_are_those_of_c() {
    assert_eq!(numerals::number(b"1.5e3x"), Some((1500.0, &b"x"[..])));
    assert_eq!(numerals::number(b"0x1Fp1"), Some((62.0, &b""[..])));
    assert_eq!(numerals::number(b"-.5"), Some((-0.5, &b""[..])));
    assert_eq!(numerals::number(b"1e400"), None);
    assert_eq!(numerals::number(b"-"), None);
    assert!(numerals::leading(b"99999999999999999999").overflows);
}
