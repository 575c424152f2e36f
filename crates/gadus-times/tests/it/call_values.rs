//! Arguments and results of calls as texts.

use gadus_times::{
    Date, Field, FieldValue, Interval, Result, Settings, Time, TimeTz, Timestamp, TimestampTz,
};
use std::cmp::Ordering;

/// Result of a call as a text.
pub(crate) type Answer = Result<String>;

/// Arguments of a call.
pub(crate) struct Arguments<'a> {
    pub(crate) texts: &'a [&'a str],
    pub(crate) settings: &'a Settings,
}

impl Arguments<'_> {
    pub(crate) fn date(&self, index: usize) -> Result<Date> {
        Date::parse(self.texts[index], self.settings)
    }

    pub(crate) fn timestamp(&self, index: usize) -> Result<Timestamp> {
        Timestamp::parse(self.texts[index], self.settings)
    }

    pub(crate) fn optional_timestamp(&self, index: usize) -> Result<Option<Timestamp>> {
        match self.texts[index] {
            "NULL" => Ok(None),
            _ => self.timestamp(index).map(Some),
        }
    }

    pub(crate) fn timestamptz(&self, index: usize) -> Result<TimestampTz> {
        TimestampTz::parse(self.texts[index], self.settings)
    }

    pub(crate) fn time(&self, index: usize) -> Result<Time> {
        Time::parse(self.texts[index], self.settings)
    }

    pub(crate) fn timetz(&self, index: usize) -> Result<TimeTz> {
        TimeTz::parse(self.texts[index], self.settings)
    }

    pub(crate) fn interval(&self, index: usize) -> Result<Interval> {
        Interval::parse(self.texts[index], None, self.settings)
    }

    pub(crate) fn integer(&self, index: usize) -> i32 {
        self.texts[index].parse().unwrap()
    }

    pub(crate) fn digits(&self, index: usize) -> u8 {
        self.texts[index].parse().unwrap()
    }

    pub(crate) fn float(&self, index: usize) -> f64 {
        self.texts[index].parse().unwrap()
    }
}

pub(crate) fn field(name: &str) -> Field {
    Field::new(name)
}

/// Returns the digits of a field.
pub(crate) fn number(value: FieldValue) -> String {
    let (unscaled, scale) = match value {
        FieldValue::Infinity => return "Infinity".to_owned(),
        FieldValue::NegativeInfinity => return "-Infinity".to_owned(),
        FieldValue::Decimal { unscaled, scale } => (unscaled, usize::from(scale)),
    };
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (integer, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{integer}{point}{fraction}")
}

/// Returns the bits of a number in double precision; zeros are equal.
pub(crate) fn bits(value: f64) -> String {
    format!("{:016x}", (value + 0.0).to_bits())
}

pub(crate) fn boolean(value: bool) -> String {
    if value { "true" } else { "false" }.to_owned()
}

pub(crate) fn ordering(order: Ordering) -> String {
    match order {
        Ordering::Less => "-1",
        Ordering::Equal => "0",
        Ordering::Greater => "1",
    }
    .to_owned()
}

/// Returns the text of a value that may be NULL.
pub(crate) fn optional<T>(text: impl Fn(T) -> String) -> impl Fn(Option<T>) -> String {
    move |value| value.map_or_else(|| "NULL".to_owned(), &text)
}
