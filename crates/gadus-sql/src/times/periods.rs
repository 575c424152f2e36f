//! OVERLAPS of two periods.

use super::items::Item;
use super::items::Item::{Boolean, Interval, Time, Timestamp, TimestampTz};
use super::kernel::{Computed, Context, Entry, Fault};
use gadus_times::{Settings, TimesError, overlaps};

pub(super) const ENTRIES: &[Entry] =
    &[Entry { is_strict: false, ..Entry::strict("overlaps", overlapping) }];

type Given<T> = Result<Option<T>, TimesError>;

fn overlapping<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [first, first_end, second, second_end] = *of else { return Err(Fault::Arguments) };
    let settings = context.settings();
    let known = of.iter().flatten().find(|item| !matches!(item, Interval(_)));
    let found = match known {
        Some(Time(_)) => {
            let at = |item: Option<Item<'_>>| match item {
                Some(Time(value)) => Some(value),
                _ => None,
            };
            let end = |begin, end: Option<Item<'_>>| -> Given<_> {
                Ok(match (at(begin), end) {
                    (Some(begin), Some(Interval(span))) => Some(begin.add_interval(span)),
                    (_, end) => at(end),
                })
            };
            overlaps((at(first), end(first, first_end)?), (at(second), end(second, second_end)?))
        }
        Some(Timestamp(_)) => {
            let at = |item: Option<Item<'_>>| match item {
                Some(Timestamp(value)) => Some(value),
                _ => None,
            };
            let end = |begin, end: Option<Item<'_>>| -> Given<_> {
                Ok(match (at(begin), end) {
                    (Some(begin), Some(Interval(span))) => Some(begin.add_interval(span)?),
                    (_, end) => at(end),
                })
            };
            overlaps((at(first), end(first, first_end)?), (at(second), end(second, second_end)?))
        }
        Some(TimestampTz(_)) => {
            overlapping_in_zone([first, first_end, second, second_end], settings)?
        }
        // All are NULL, or intervals.
        _ => None,
    };
    Ok(found.map(Boolean))
}

/// Compares periods of points in time, to which days are added in the zone of the session.
fn overlapping_in_zone(of: [Option<Item<'_>>; 4], settings: &Settings) -> Given<bool> {
    let at = |item: Option<Item<'_>>| match item {
        Some(TimestampTz(value)) => Some(value),
        _ => None,
    };
    let end = |begin, end: Option<Item<'_>>| -> Given<_> {
        Ok(match (at(begin), end) {
            (Some(begin), Some(Interval(span))) => Some(begin.add_interval(span, settings)?),
            (_, end) => at(end),
        })
    };
    let [first, first_end, second, second_end] = of;
    Ok(overlaps((at(first), end(first, first_end)?), (at(second), end(second, second_end)?)))
}
