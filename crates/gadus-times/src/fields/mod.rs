//! Fields of values: `extract`, exact, and `date_part`, in double precision.
//!
//! - A field is named by a text in any case, with PostgreSQL's synonyms. A caller with a constant prepares it once as
//!   [`Field`].
//! - Of an infinity, fields that always grow are infinite, fields that repeat are NULL.

mod clock;
mod dates;
mod intervals;
#[cfg(test)]
mod tests;
mod timestamps;
mod value;

use crate::error::{INVALID_PARAMETER, NOT_SUPPORTED, TimesError};
use crate::input::{Reserved, Unit, Word, date_word, interval_word};
use crate::zone::clipped;
pub use value::FieldValue;

/// Bytes of a name that PostgreSQL keeps.
const NAME_BYTES_MAX: usize = 63;

/// Name of a field or a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: String,
    meaning: Option<Word>,
}

impl Field {
    /// Returns the field of a name, in any case. An unknown name is refused when it is applied: by its type's message.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let name = clipped(&name.to_ascii_lowercase(), NAME_BYTES_MAX).to_owned();
        let meaning = interval_word(name.as_bytes()).or_else(|| date_word(name.as_bytes()));
        Self { name, meaning }
    }

    /// Returns the unit or the reserved word.
    ///
    /// # Errors
    /// 22023 for an unknown name.
    pub(crate) fn part(&self, type_name: &str) -> Result<Part, TimesError> {
        match self.meaning {
            Some(Word::Unit(unit)) => Ok(Part::Unit(unit)),
            Some(Word::Reserved(reserved)) => Ok(Part::Reserved(reserved)),
            _ => Err(self.unknown(type_name)),
        }
    }

    /// Returns the unit of a span of time: that of `date_trunc`.
    ///
    /// # Errors
    /// 22023 for an unknown name.
    pub(crate) fn unit(&self, type_name: &str) -> Result<Unit, TimesError> {
        match interval_word(self.name.as_bytes()) {
            Some(Word::Unit(unit)) => Ok(unit),
            _ => Err(self.unknown(type_name)),
        }
    }

    /// Refuses a name that is not a field of any type.
    #[cold]
    pub(crate) fn unknown(&self, type_name: &str) -> TimesError {
        let message = format!("unit \"{}\" not recognized for type {type_name}", self.name);
        TimesError::new(INVALID_PARAMETER, message)
    }

    /// Refuses a field that a type does not have.
    #[cold]
    pub(crate) fn unsupported(&self, type_name: &str) -> TimesError {
        let message = format!("unit \"{}\" not supported for type {type_name}", self.name);
        TimesError::new(NOT_SUPPORTED, message)
    }
}

/// Meaning of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Unit(Unit),
    Reserved(Reserved),
}
