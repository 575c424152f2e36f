//! Values to texts, in the styles of a session.
//!
//! - Each type has `write`, which appends to a string and allocates nothing else, and `to_text`.

mod clock;
mod date;
mod interval;
#[cfg(test)]
mod tests;
mod timestamp;

use crate::settings::Settings;
use crate::values::{Date, Interval, Time, TimeTz, Timestamp, TimestampTz};
pub(crate) use interval::write as write_interval;

/// Longest text of a date, a time or a timestamp.
const BYTES_MAX: usize = 48;

macro_rules! texts {
    ($($type:ident: $what:literal),*) => {
        $(impl $type {
            #[doc = concat!("Returns the text of ", $what, " in the style of a session.")]
            #[must_use]
            pub fn to_text(&self, settings: &Settings) -> String {
                let mut text = String::with_capacity(BYTES_MAX);
                self.write(settings, &mut text);
                text
            }
        })*
    };
}

texts!(
    Date: "a date",
    Time: "a time",
    TimeTz: "a time with its offset",
    Timestamp: "a timestamp",
    TimestampTz: "a point in time, in the zone of the session,",
    Interval: "an interval"
);

/// Appends an infinity.
fn write_infinity(is_negative: bool, text: &mut String) {
    text.push_str(if is_negative { "-infinity" } else { "infinity" });
}
