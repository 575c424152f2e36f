//! Dates.

use super::clock::{pair, year};
use super::write_infinity;
use crate::calendar::{DateFields, bc_year};
use crate::settings::{DateOrder, DateStyle, Settings};
use crate::values::Date;

impl Date {
    /// Appends the text in the style of a session.
    pub fn write(&self, settings: &Settings, text: &mut String) {
        if !self.is_finite() {
            return write_infinity(*self == Self::NEGATIVE_INFINITY, text);
        }
        let fields = self.fields();
        let delimiter = match settings.date_style {
            DateStyle::Iso => return iso(fields, true, text),
            DateStyle::Sql => '/',
            DateStyle::Postgres => '-',
            DateStyle::German => '.',
        };
        numbers(fields, settings, delimiter, text);
        era(fields, text);
    }
}

/// Appends year, month and day; with the era if it ends the text.
pub(super) fn iso(fields: DateFields, is_end: bool, text: &mut String) {
    year(bc_year(fields.year).unsigned_abs(), text);
    text.push('-');
    pair(fields.month.unsigned_abs(), text);
    text.push('-');
    pair(fields.day.unsigned_abs(), text);
    if is_end {
        era(fields, text);
    }
}

/// Appends day, month and year, or month, day and year.
pub(super) fn numbers(fields: DateFields, settings: &Settings, delimiter: char, text: &mut String) {
    let is_day_first =
        settings.date_style == DateStyle::German || settings.date_order == DateOrder::Dmy;
    let (first, second) = match is_day_first {
        true => (fields.day, fields.month),
        false => (fields.month, fields.day),
    };
    pair(first.unsigned_abs(), text);
    text.push(delimiter);
    pair(second.unsigned_abs(), text);
    text.push(delimiter);
    year(bc_year(fields.year).unsigned_abs(), text);
}

/// Appends `BC` for a year before Christ.
pub(super) fn era(fields: DateFields, text: &mut String) {
    if fields.year <= 0 {
        text.push_str(" BC");
    }
}
