//! AT TIME ZONE, and the clock.

use super::items::Item;
use super::items::Item::{Interval, Text, Timestamp, TimestampTz};
use super::kernel::{Computed, Context, Entry, Fault};
use super::statement::statement_timestamp;
use datafusion::logical_expr::Volatility;

pub(super) const ENTRIES: &[Entry] = &[
    Entry::strict("timezone", at_time_zone),
    Entry { volatility: Volatility::Stable, ..Entry::strict("now", now) },
    Entry { volatility: Volatility::Stable, ..Entry::strict("transaction_timestamp", now) },
    Entry {
        volatility: Volatility::Stable,
        ..Entry::strict("statement_timestamp", statement_began)
    },
    Entry { volatility: Volatility::Volatile, ..Entry::strict("clock_timestamp", clock_time) },
    Entry { volatility: Volatility::Stable, ..Entry::strict("current_date", today) },
    Entry { volatility: Volatility::Stable, ..Entry::strict("localtime", local_time) },
    Entry { volatility: Volatility::Stable, ..Entry::strict("localtimestamp", local_timestamp) },
];

fn at_time_zone<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    Ok(Some(match *of {
        [Some(Text(zone)), Some(Timestamp(time))] => {
            TimestampTz(time.at_zone(&context.zone(zone)?)?)
        }
        [Some(Text(zone)), Some(TimestampTz(time))] => {
            Timestamp(time.at_zone(&context.zone(zone)?)?)
        }
        [Some(Interval(offset)), Some(Timestamp(time))] => {
            TimestampTz(time.at_offset(offset, context.settings())?)
        }
        [Some(Interval(offset)), Some(TimestampTz(time))] => {
            Timestamp(time.at_offset(offset, context.settings())?)
        }
        _ => return Err(Fault::Arguments),
    }))
}

fn now<'a>(_: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    Ok(Some(TimestampTz(context.settings().now)))
}

fn statement_began<'a>(_: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    Ok(Some(TimestampTz(context.times.began)))
}

fn clock_time<'a>(_: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(Some(TimestampTz(statement_timestamp())))
}

fn today<'a>(_: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let settings = context.settings();
    Ok(Some(Item::Date(settings.now.to_date(settings)?)))
}

fn local_time<'a>(_: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let settings = context.settings();
    Ok(settings.now.to_time(settings)?.map(Item::Time))
}

fn local_timestamp<'a>(_: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let settings = context.settings();
    Ok(Some(Timestamp(settings.now.to_timestamp(settings)?)))
}
