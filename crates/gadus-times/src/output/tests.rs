//! Texts of one value in each style.

use crate::settings::{DateOrder, DateStyle, IntervalStyle, Settings};
use crate::values::{Interval, TimestampTz};
use crate::zone::TimeZone;

#[test]
fn points_in_time_have_a_text_in_each_style() {
    let mut settings = Settings::new(TimestampTz(0));
    settings.time_zone = TimeZone::named("America/Los_Angeles").unwrap();
    let value = TimestampTz::from_unix_microseconds(882_373_036_120_000).unwrap();
    let styles = [
        (DateStyle::Iso, "1997-12-17 07:37:16.12-08"),
        (DateStyle::Sql, "17/12/1997 07:37:16.12 PST"),
        (DateStyle::Postgres, "Wed 17 Dec 07:37:16.12 1997 PST"),
        (DateStyle::German, "17.12.1997 07:37:16.12 PST"),
    ];
    settings.date_order = DateOrder::Dmy;
    for (style, expected) in styles {
        settings.date_style = style;
        assert_eq!(value.to_text(&settings), expected);
    }
}

#[test]
fn mixed_signs_are_written_in_each_style() {
    let mut settings = Settings::new(TimestampTz(0));
    let value = Interval::new(-14, 3, -14_706_500_000);
    let styles = [
        (IntervalStyle::Postgres, "-1 years -2 mons +3 days -04:05:06.5"),
        (IntervalStyle::PostgresVerbose, "@ 1 year 2 mons -3 days 4 hours 5 mins 6.5 secs ago"),
        (IntervalStyle::SqlStandard, "-1-2 +3 -4:05:06.5"),
        (IntervalStyle::Iso8601, "P-1Y-2M3DT-4H-5M-6.5S"),
    ];
    for (style, expected) in styles {
        settings.interval_style = style;
        assert_eq!(value.to_text(&settings), expected);
    }
}
