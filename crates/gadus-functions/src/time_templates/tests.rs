//! Templates of points in time, with PostgreSQL's answers.

use super::{Span, Zone, interval_to_char, timestamp_to_char, to_date, to_timestamp};

const UTC: Zone<'_> = Zone { offset_seconds: 0, abbreviation: "UTC" };

#[test]
fn zones_are_written_with_their_offset() {
    let nepal = Zone { offset_seconds: 20_700, abbreviation: "+0545" };
    let written = timestamp_to_char(0, Some(nepal), "HH24:MI TZ OF FMOF TZH:TZM").unwrap();
    assert_eq!(written.as_deref(), Some("00:00 +0545 +05:45 +5:45 +05:45"));
    let west = Zone { offset_seconds: -28_800, abbreviation: "PST" };
    let written = timestamp_to_char(0, Some(west), "tz OF TZH").unwrap();
    assert_eq!(written.as_deref(), Some("pst -08 -08"));
}

#[test]
fn texts_without_an_offset_are_local_time() {
    assert_eq!(to_timestamp("2024", "YYYY").unwrap(), (1_704_067_200_000_000, false));
    assert_eq!(to_timestamp("2024 +01", "YYYY TZH").unwrap(), (1_704_063_600_000_000, true));
}

#[test]
fn points_in_time_are_written_by_a_template() {
    // 2021-01-03 15:04:05.678901 in UTC.
    let point = 1_609_686_245_678_901;
    for (template, expected) in [
        ("YYYY-MM-DD HH24:MI:SS.US", "2021-01-03 15:04:05.678901"),
        ("Day, DD Month YYYY", "Sunday   , 03 January   2021"),
        ("FMDay, FMDD FMMonth YYYY", "Sunday, 3 January 2021"),
        ("Dy Mon DDth", "Sun Jan 03rd"),
        ("HH12:MI AM", "03:04 PM"),
        ("hh:mi p.m.", "03:04 p.m."),
        ("Y,YYY YYY YY Y CC", "2,021 021 21 1 21"),
        ("IYYY-IW-ID IDDD", "2020-53-7 371"),
        ("DDD D WW W Q J", "003 1 01 1 1 2459218"),
        ("RM rm FMRM", "I    i    I"),
        ("SSSS MS FF1 FF3", "54245 678 6 678"),
        ("TZ TZH:TZM OF", "UTC +00:00 +00"),
        ("\"Year\" YYYY \\\"x\\\"", "Year 2021 \"x\""),
        ("BC a.d.", "AD a.d."),
        ("FMHH24:FMMI:FMSS", "15:4:5"),
        ("YYYYth", "2021st"),
    ] {
        let written = timestamp_to_char(point, Some(UTC), template).unwrap();
        assert_eq!(written.as_deref(), Some(expected), "{template}");
    }
    assert_eq!(timestamp_to_char(point, None, "TZ").unwrap().as_deref(), Some(""));
    assert_eq!(timestamp_to_char(point, None, "").unwrap(), None);
    // 44-03-15 BC.
    let written = timestamp_to_char(-63_517_824_000_000_000, None, "YYYY-MM-DD BC CC").unwrap();
    assert_eq!(written.as_deref(), Some("0044-03-15 BC -01"));
}

#[test]
fn intervals_have_no_calendar() {
    let span = Span { months: 14, days: -3, microseconds: 97_445_500_000 };
    for (template, expected) in [
        ("YYYY MM DD HH24:MI:SS.US", "0001 02 -3 27:04:05.500000"),
        ("HH12 AM", "03 AM"),
        ("DDD WW Q CC", "417 60 1 00"),
        ("SSSS", "97445"),
        ("RM", "II  "),
        ("FMYYYY-FMMM", "1-2"),
    ] {
        let written = interval_to_char(span, template).unwrap();
        assert_eq!(written.as_deref(), Some(expected), "{template}");
    }
    let error = interval_to_char(span, "Month").unwrap_err();
    assert_eq!(error.message, "invalid format specification for an interval value");
    assert_eq!(error.sqlstate, "22007");
}

#[test]
fn points_in_time_are_read_by_a_template() {
    for (text, template, expected) in [
        ("0097/Feb/16 --> 08:14:30", "YYYY/Mon/DD --> HH:MI:SS", -59_102_063_130_000_000),
        ("2011$03!18 23_38_15", "YYYY-MM-DD HH24:MI:SS", 1_300_491_495_000_000),
        ("05121445482000", "MMDDHH24MISSYYYY", 958_142_748_000_000),
        ("2000January09Sunday", "YYYYFMMonthDDFMDay", 947_376_000_000_000),
        ("97/2/16 8:14:30 pm", "FMYY/FMMM/FMDD FMHH:FMMI:FMSS PM", 856_124_070_000_000),
        ("2005527", "YYYYWWD", 1_135_382_400_000_000),
        ("2006-W01-5", "IYYY-\"W\"IW-ID", 1_136_505_600_000_000),
        ("2458872", "J", 1_579_737_600_000_000),
        ("2020-02-29 12:00 -05:30", "YYYY-MM-DD HH24:MI TZH:TZM", 1_582_997_400_000_000),
        ("19971116 12:34:56.789", "YYYYMMDD HH24:MI:SS.MS", 879_683_696_789_000),
        ("44-02-01 11:12:13 BC", "YYYY-MM-DD HH24:MI:SS BC", -63_521_412_467_000_000),
        ("1,582nd VIII 21", "Y,YYYth FMRM DD", -12_224_044_800_000_000),
        ("2003365", "YYYYDDD", 1_072_828_800_000_000),
        ("20 05", "CC YY", -2_051_222_400_000_000),
    ] {
        assert_eq!(to_timestamp(text, template).unwrap().0, expected, "{text}");
    }
    assert_eq!(to_date("05 Dec 2000", "DD Mon YYYY").unwrap(), 11_296);
}

#[test]
fn texts_that_do_not_fit_are_refused() {
    for (text, template, state, message) in [
        ("19971", "YYYYMMDD", "22007", "source string too short for \"MM\" formatting field"),
        ("19971)24", "YYYYMMDD", "22007", "invalid value \"1)\" for \"MM\""),
        (
            "Friday 1-Janvier-2012",
            "Day DD-Month-YYYY",
            "22007",
            "invalid value \"Janvier-2012\" for \"Month\"",
        ),
        ("2005 1", "YYYY IW", "22007", "invalid combination of date conventions"),
        ("1 2", "MM MM", "22007", "conflicting values for \"MM\" field in formatting string"),
        ("10000000000", "FMYYYY", "22008", "value for \"YYYY\" in source string is out of range"),
        ("13:00", "HH:MI", "22007", "hour \"13\" is invalid for the 12-hour clock"),
        ("1", "DDD", "22007", "cannot calculate day of year without year information"),
        ("2011-02-30", "YYYY-MM-DD", "22008", "date/time field value out of range: \"2011-02-30\""),
        ("2011 16", "YYYY TZH", "22009", "time zone displacement out of range: \"2011 16\""),
        ("UTC", "TZ", "0A000", "formatting field \"TZ\" is only supported in to_char"),
    ] {
        let error = to_timestamp(text, template).unwrap_err();
        assert_eq!((error.sqlstate, &*error.message), (state, message), "{text}");
    }
}
