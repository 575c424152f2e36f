//! Functions by name, and those that belong to none of the other files.

use super::items::Item::{Boolean, Date, Interval, Time, Timestamp, TimestampTz};
use super::items::{Item, Kind};
use super::kernel::{Computed, Context, Entry, Fault, call_of};
use super::{arithmetic, construction, fields, periods, zones};
use arrow::datatypes::DataType;
use datafusion::logical_expr::{Expr, Volatility};

const ENTRIES: &[Entry] = &[
    Entry::strict("age", age),
    // With one argument: the age at the beginning of today.
    Entry { volatility: Volatility::Stable, ..Entry::strict("age_now", age_now) },
    Entry::strict("justify_days", justified_days),
    Entry::strict("justify_hours", justified_hours),
    Entry::strict("justify_interval", justified),
    Entry::strict("isfinite", is_finite),
    Entry::strict("date_bin", binned),
];

/// Returns the function of a name.
pub(super) fn find(name: &str, arguments: usize) -> Option<&'static Entry> {
    let name = if name == "age" && arguments == 1 { "age_now" } else { name };
    let tables = [
        ENTRIES,
        arithmetic::ENTRIES,
        construction::ENTRIES,
        fields::ENTRIES,
        periods::ENTRIES,
        zones::ENTRIES,
    ];
    tables.into_iter().flatten().find(|entry| entry.name == name)
}

/// Returns true for a function or an operator whose arguments or result are dates, times, timestamps or intervals.
pub(crate) fn has_function(name: &str, arguments: &[DataType], result: &DataType) -> bool {
    let is_time = |data_type: &DataType| Kind::of(data_type).is_some_and(Kind::is_time);
    // Templates are read elsewhere.
    let is_of_template = name == "to_timestamp" && arguments.len() == 2;
    (is_time(result) || arguments.iter().any(is_time))
        && !is_of_template
        && find(name, arguments.len()).is_some()
}

/// Returns a call of a function or an operator that gives values of a type; `None` if there is none.
pub(crate) fn call(name: &str, arguments: Vec<Expr>, result: &DataType) -> Option<Expr> {
    let entry = find(name, arguments.len())?;
    Some(call_of(entry, arguments, Kind::of(result)?))
}

fn age<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    Ok(Some(match *of {
        [Some(Timestamp(one)), Some(Timestamp(other))] => Interval(one.age(other)?),
        [Some(TimestampTz(one)), Some(TimestampTz(other))] => {
            Interval(one.age(other, context.settings())?)
        }
        _ => return Err(Fault::Arguments),
    }))
}

fn age_now<'a>(of: &[Option<Item<'a>>], context: &mut Context) -> Computed<'a> {
    Ok(Some(match *of {
        [Some(Timestamp(time))] => Interval(time.age_now(context.settings())?),
        [Some(TimestampTz(time))] => Interval(time.age_now(context.settings())?),
        _ => return Err(Fault::Arguments),
    }))
}

fn justified_days<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Interval(span))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(Interval(span.justify_days()?)))
}

fn justified_hours<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Interval(span))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(Interval(span.justify_hours()?)))
}

fn justified<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    let [Some(Interval(span))] = *of else { return Err(Fault::Arguments) };
    Ok(Some(Interval(span.justify_interval()?)))
}

fn is_finite<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(Some(Boolean(match *of {
        [Some(Date(value))] => value.is_finite(),
        [Some(Timestamp(value))] => value.is_finite(),
        [Some(TimestampTz(value))] => value.is_finite(),
        [Some(Interval(_) | Time(_))] => true,
        _ => return Err(Fault::Arguments),
    })))
}

fn binned<'a>(of: &[Option<Item<'a>>], _: &mut Context) -> Computed<'a> {
    Ok(Some(match *of {
        [Some(Interval(stride)), Some(Timestamp(time)), Some(Timestamp(origin))] => {
            Timestamp(time.bin(stride, origin)?)
        }
        [Some(Interval(stride)), Some(TimestampTz(time)), Some(TimestampTz(origin))] => {
            TimestampTz(time.bin(stride, origin)?)
        }
        _ => return Err(Fault::Arguments),
    }))
}
