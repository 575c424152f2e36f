//! Texts of values that leave and come, for all who show and read them.

use super::columns::TimeColumn;
use super::items::{Item, Kind, engine_interval};
use super::{TextSettings, error_of_times};
use crate::value::Value;
use arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewBuilder};
use arrow::datatypes::{DataType, Field};
use gadus_engine::Result;
use gadus_times::{Date, DateStyle, Interval, Settings, Time, TimesError, Timestamp, TimestampTz};
use std::fmt::Write;
use std::sync::Arc;

/// Writes the text of one row, which is not NULL.
pub type TimeWriter = Box<dyn Fn(usize, &mut String) + Send + Sync>;

/// Returns a writer of the texts of a column in the zone and the styles of a session; `None` for values that are no
/// dates, times, timestamps and intervals.
#[must_use]
pub fn time_writer(column: &dyn Array, settings: &Arc<TextSettings>) -> Option<TimeWriter> {
    Kind::of(column.data_type()).filter(|kind| kind.is_time())?;
    let values = TimeColumn::of(&column.slice(0, column.len())).ok()?;
    let settings = settings.clone();
    Some(Box::new(move |row, text| match values.get(row) {
        Ok(Some(item)) => write_item(item, &settings, text),
        // Other programs may have written it into an Arrow array.
        _ => text.push_str("(out of range)"),
    }))
}

/// Returns an array whose dates, times, timestamps and intervals are texts, also those in lists; `None` if there are none.
#[must_use]
pub fn with_time_texts(array: &ArrayRef, settings: &Arc<TextSettings>) -> Option<ArrayRef> {
    if let Some(lists) = array.as_list_opt::<i32>() {
        let values = with_time_texts(lists.values(), settings)?;
        let field = Field::new("item", DataType::Utf8View, true);
        let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
        return Some(Arc::new(ListArray::new(Arc::new(field), offsets, values, nulls)));
    }
    let write = time_writer(&**array, settings)?;
    let (mut texts, mut text) = (StringViewBuilder::with_capacity(array.len()), String::new());
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
            continue;
        }
        text.clear();
        write(row, &mut text);
        texts.append_value(&text);
    }
    Some(Arc::new(texts.finish()))
}

/// Returns an array whose dates, times and timestamps are texts as JSON has them, by ISO 8601, and whose intervals are
/// texts; `None` if there are none.
#[must_use]
pub fn with_json_times(array: &ArrayRef, settings: &Arc<TextSettings>) -> Option<ArrayRef> {
    let mut iso = (**settings).clone();
    iso.date_style = DateStyle::Iso;
    let texts = with_time_texts(array, &Arc::new(iso))?;
    let is_zoned = match array.data_type() {
        DataType::Timestamp(_, zone) => zone.is_some(),
        _ => return Some(texts),
    };
    let (texts, mut json) = (texts.as_string_view(), StringViewBuilder::new());
    for text in texts {
        json.append_option(text.map(|text| json_time(text, is_zoned)));
    }
    Some(Arc::new(json.finish()))
}

/// Returns the text of a timestamp in the form of ISO 8601, whose offsets have minutes.
fn json_time(text: &str, is_zoned: bool) -> String {
    let Some((date, rest)) = text.split_once(' ') else { return text.to_owned() };
    let (time, era) = match rest.split_once(' ') {
        Some((time, _)) => (time, " BC"),
        None => (rest, ""),
    };
    let has_minutes = time.rfind(['+', '-']).is_none_or(|sign| time[sign..].contains(':'));
    let minutes = if is_zoned && !has_minutes { ":00" } else { "" };
    format!("{date}T{time}{minutes}{era}")
}

/// Reads a text as a value of an Arrow type, in the zone and the styles of a session.
///
/// # Errors
/// PostgreSQL's for a text that is no such value; `Internal` for other types.
pub fn read_value(text: &str, data_type: &DataType, settings: &Settings) -> Result<Value> {
    let read = || -> std::result::Result<Option<Value>, TimesError> {
        Ok(match Kind::of(data_type) {
            Some(Kind::Date) => Some(Value::Date(Date::parse(text, settings)?.to_unix_days())),
            Some(Kind::Time) => Some(Value::Time(Time::parse(text, settings)?.to_microseconds())),
            Some(Kind::Timestamp) => {
                let value = Timestamp::parse(text, settings)?;
                value.to_unix_microseconds().map(Value::Timestamp)
            }
            Some(Kind::TimestampTz) => {
                let value = TimestampTz::parse(text, settings)?;
                value.to_unix_microseconds().map(Value::TimestampUtc)
            }
            Some(Kind::Interval) => {
                let value = engine_interval(Interval::parse(text, None, settings)?);
                value.within_range().ok().map(Value::Interval)
            }
            _ => None,
        })
    };
    match read() {
        Ok(Some(value)) => Ok(value),
        Ok(None) => {
            let beyond = super::columns::beyond_arrow();
            Err(crate::error::from_datafusion(beyond))
        }
        Err(error) => Err(error_of_times(&error)),
    }
}

/// Appends the text of a value.
pub(super) fn write_item(item: Item<'_>, settings: &Settings, text: &mut String) {
    match item {
        Item::Date(value) => value.write(settings, text),
        Item::Time(value) => value.write(settings, text),
        Item::Timestamp(value) => value.write(settings, text),
        Item::TimestampTz(value) => value.write(settings, text),
        Item::Interval(value) => value.write(settings, text),
        Item::Text(value) => text.push_str(value),
        // Writing to a String does not fail.
        other => drop(write!(text, "{other:?}")),
    }
}
