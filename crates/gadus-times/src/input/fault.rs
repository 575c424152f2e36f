//! Reasons to refuse a text, before the text and its type are known.

use crate::error::{INTERVAL_FIELD, INVALID_FORMAT, OUT_OF_RANGE, TimesError, ZONE_DISPLACEMENT};

/// Reason to refuse a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not a date or time.
    Format,
    /// Value of a field beyond its range.
    Field,
    /// Month or day beyond its range, perhaps since they are in the other order.
    MonthOrDay,
    /// Offset of a zone beyond its range.
    Offset,
    /// Error that has its message already.
    Report(TimesError),
}

impl Fault {
    /// Returns the error for a text that was to be a value of a type.
    #[cold]
    pub(crate) fn report(self, text: &str, type_name: &str) -> TimesError {
        let range = || format!("date/time field value out of range: \"{text}\"");
        match self {
            Self::Format => TimesError::new(
                INVALID_FORMAT,
                format!("invalid input syntax for type {type_name}: \"{text}\""),
            ),
            Self::Field if type_name == "interval" => TimesError::new(
                INTERVAL_FIELD,
                format!("interval field value out of range: \"{text}\""),
            ),
            Self::Field => TimesError::new(OUT_OF_RANGE, range()),
            Self::MonthOrDay => TimesError::new(OUT_OF_RANGE, range())
                .with_hint("Perhaps you need a different \"datestyle\" setting."),
            Self::Offset => TimesError::new(
                ZONE_DISPLACEMENT,
                format!("time zone displacement out of range: \"{text}\""),
            ),
            Self::Report(error) => error,
        }
    }
}
