//! Operators of dates, times and intervals.

use super::items::Item;
use super::items::Item::{Date, Float, Integer, Interval, Time, Timestamp, TimestampTz};
use super::kernel::{Computed, Context, Entry, Fault};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::strict("+", plus),
    Entry::strict("-", minus),
    Entry::strict("*", times),
    Entry::strict("/", divided),
    Entry::strict("negate", negated),
];

fn plus<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let settings = context.settings();
    Ok(Some(match *of {
        [Some(Date(date)), Some(Integer(days))] | [Some(Integer(days)), Some(Date(date))] => {
            Date(date.add_days(days)?)
        }
        [Some(Date(date)), Some(Time(time))] | [Some(Time(time)), Some(Date(date))] => {
            Timestamp(date.at(time)?)
        }
        [Some(Date(date)), Some(Interval(span))] | [Some(Interval(span)), Some(Date(date))] => {
            Timestamp(date.add_interval(span)?)
        }
        [Some(Time(time)), Some(Interval(span))] | [Some(Interval(span)), Some(Time(time))] => {
            Time(time.add_interval(span))
        }
        [Some(Timestamp(time)), Some(Interval(span))]
        | [Some(Interval(span)), Some(Timestamp(time))] => Timestamp(time.add_interval(span)?),
        [Some(TimestampTz(time)), Some(Interval(span))]
        | [Some(Interval(span)), Some(TimestampTz(time))] => {
            TimestampTz(time.add_interval(span, settings)?)
        }
        [Some(Interval(one)), Some(Interval(other))] => Interval(one.add_interval(other)?),
        _ => return Err(Fault::Arguments),
    }))
}

fn minus<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    let settings = context.settings();
    Ok(Some(match *of {
        [Some(Date(date)), Some(Integer(days))] => Date(date.subtract_days(days)?),
        [Some(Date(one)), Some(Date(other))] => Integer(one.subtract(other)?),
        [Some(Date(date)), Some(Interval(span))] => Timestamp(date.subtract_interval(span)?),
        [Some(Time(one)), Some(Time(other))] => Interval(one.subtract(other)),
        [Some(Time(time)), Some(Interval(span))] => Time(time.subtract_interval(span)),
        [Some(Timestamp(one)), Some(Timestamp(other))] => Interval(one.subtract(other)?),
        [Some(Timestamp(time)), Some(Interval(span))] => Timestamp(time.subtract_interval(span)?),
        [Some(TimestampTz(one)), Some(TimestampTz(other))] => Interval(one.subtract(other)?),
        [Some(TimestampTz(time)), Some(Interval(span))] => {
            TimestampTz(time.subtract_interval(span, settings)?)
        }
        [Some(Interval(one)), Some(Interval(other))] => Interval(one.subtract_interval(other)?),
        _ => return Err(Fault::Arguments),
    }))
}

fn times<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(match *of {
        [Some(Interval(span)), Some(Float(factor))]
        | [Some(Float(factor)), Some(Interval(span))] => Some(Interval(span.multiply(factor)?)),
        _ => return Err(Fault::Arguments),
    })
}

fn divided<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(match *of {
        [Some(Interval(span)), Some(Float(divisor))] => Some(Interval(span.divide(divisor)?)),
        _ => return Err(Fault::Arguments),
    })
}

fn negated<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(match *of {
        [Some(Interval(span))] => Some(Interval(span.negate()?)),
        _ => return Err(Fault::Arguments),
    })
}
