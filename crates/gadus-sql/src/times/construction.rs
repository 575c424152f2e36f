//! `make_date` and the like, `to_timestamp`, and conversions that are called as functions.

use super::items::Item;
use super::items::Item::{Date, Float, Integer, Interval, Text, Time, Timestamp, TimestampTz};
use super::kernel::{Computed, Context, Entry, Fault};
use gadus_times::{
    Date as PlainDate, Interval as PlainInterval, Time as PlainTime, Timestamp as PlainTimestamp,
    TimestampTz as PlainTimestampTz,
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::strict("make_date", date),
    Entry::strict("make_time", time),
    Entry::strict("make_timestamp", timestamp),
    Entry::strict("make_timestamptz", timestamptz),
    Entry::strict("make_interval", interval),
    Entry::strict("to_timestamp", of_seconds),
    Entry::strict("timestamp", of_date_and_time),
    Entry::strict("timestamptz", zoned_of_date_and_time),
];

fn date<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Integer(year)), Some(Integer(month)), Some(Integer(day))] = *of else {
        return Err(Fault::Arguments);
    };
    Ok(Some(Date(PlainDate::make(year, month, day)?)))
}

fn time<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Integer(hour)), Some(Integer(minute)), Some(Float(second))] = *of else {
        return Err(Fault::Arguments);
    };
    Ok(Some(Time(PlainTime::make(hour, minute, second)?)))
}

fn timestamp<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [
        Some(Integer(year)),
        Some(Integer(month)),
        Some(Integer(day)),
        Some(Integer(hour)),
        Some(Integer(minute)),
        Some(Float(second)),
    ] = *of
    else {
        return Err(Fault::Arguments);
    };
    Ok(Some(Timestamp(PlainTimestamp::make(year, month, day, hour, minute, second)?)))
}

fn timestamptz<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [ref parts @ .., Some(Text(zone))] = *of else {
        return match timestamp(of, context)? {
            Some(Timestamp(local)) => {
                Ok(Some(TimestampTz(local.to_timestamptz(context.settings())?)))
            }
            _ => Err(Fault::Arguments),
        };
    };
    match timestamp(parts, context)? {
        Some(Timestamp(local)) => Ok(Some(TimestampTz(local.at_made_zone(zone)?))),
        _ => Err(Fault::Arguments),
    }
}

fn interval<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [
        Some(Integer(years)),
        Some(Integer(months)),
        Some(Integer(weeks)),
        Some(Integer(days)),
        Some(Integer(hours)),
        Some(Integer(minutes)),
        Some(Float(seconds)),
    ] = *of
    else {
        return Err(Fault::Arguments);
    };
    let made = PlainInterval::make((years, months), (weeks, days), (hours, minutes, seconds))?;
    Ok(Some(Interval(made)))
}

fn of_seconds<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Float(seconds))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(TimestampTz(PlainTimestampTz::from_unix_seconds(seconds)?)))
}

fn of_date_and_time<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Date(date)), Some(Time(time))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(Timestamp(date.at(time)?)))
}

fn zoned_of_date_and_time<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let [Some(Date(date)), Some(Time(time))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(TimestampTz(date.at(time)?.to_timestamptz(context.settings())?)))
}
