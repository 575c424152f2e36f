//! Random values, the same in each run: of all ranges, with edges.

use gadus_base::Random;
use gadus_times::{
    Date, DateOrder, DateStyle, Interval, IntervalStyle, Settings, Time, TimeZone, TimestampTz,
};

/// Microseconds since 1970 at the edges of the types and around changes of daylight saving time.
const EDGES: [i64; 12] = [
    i64::MIN,
    i64::MAX,
    -210_866_803_200_000_000,
    -210_866_803_199_999_999,
    i64::MAX - 1,
    0,
    -1,
    951_782_400_000_000,
    1_710_053_999_999_999,
    1_710_054_000_000_000,
    1_730_613_600_000_000,
    -2_717_650_800_000_000,
];

/// Zones with daylight saving time, odd offsets and without either.
const ZONES: [&str; 8] = [
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Pacific/Apia",
    "FOO3BAR",
];

/// Returns microseconds since 1970; one of eight is an edge.
pub(crate) fn microseconds(random: &mut Random) -> i64 {
    match random.below(8) {
        0 => EDGES[index(random, EDGES.len())],
        1 | 2 => integer(random, -210_866_803_200_000_000, i64::MAX - 1),
        _ => integer(random, -4_000_000_000_000_000, 4_000_000_000_000_000),
    }
}

/// Returns a finite point in time between 1843 and 2096.
pub(crate) fn recent(random: &mut Random) -> TimestampTz {
    let value = integer(random, -4_000_000_000_000_000, 4_000_000_000_000_000);
    TimestampTz::from_unix_microseconds(value).unwrap()
}

pub(crate) fn date(random: &mut Random) -> Date {
    let days = match random.below(4) {
        0 => integer(random, -2_440_588, 2_145_042_905),
        1 => integer(random, -2_440_588, 100_000_000),
        _ => integer(random, -100_000, 100_000),
    };
    Date::from_unix_days(i32::try_from(days).unwrap()).unwrap()
}

pub(crate) fn time(random: &mut Random) -> Time {
    Time::from_microseconds(integer(random, 0, 86_400_000_000)).unwrap()
}

pub(crate) fn interval(random: &mut Random) -> Interval {
    let mut part = |limit: i64| match random.below(3) {
        0 => 0,
        1 => integer(random, -40, 40),
        _ => integer(random, -limit, limit),
    };
    let (months, days) = (part(i64::from(i32::MAX)), part(i64::from(i32::MAX)));
    let microseconds = part(i64::MAX / 2);
    let narrow = |value| i32::try_from(value).unwrap();
    Interval::new(narrow(months), narrow(days), microseconds)
}

/// Returns settings of any styles and zone.
pub(crate) fn settings(random: &mut Random) -> Settings {
    let mut settings = Settings::new(recent(random));
    settings.date_style =
        [DateStyle::Iso, DateStyle::Sql, DateStyle::Postgres, DateStyle::German][index(random, 4)];
    settings.date_order = [DateOrder::Mdy, DateOrder::Dmy, DateOrder::Ymd][index(random, 3)];
    settings.interval_style = [
        IntervalStyle::Postgres,
        IntervalStyle::PostgresVerbose,
        IntervalStyle::SqlStandard,
        IntervalStyle::Iso8601,
    ][index(random, 4)];
    settings.time_zone = TimeZone::named(ZONES[index(random, ZONES.len())]).unwrap();
    settings
}

pub(crate) fn index(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.below(u64::try_from(count).unwrap())).unwrap()
}

pub(crate) fn integer(random: &mut Random, low: i64, high: i64) -> i64 {
    let width = high.wrapping_sub(low).cast_unsigned();
    let offset = if width == u64::MAX { random.next_u64() } else { random.below(width + 1) };
    low.wrapping_add(offset.cast_signed())
}
