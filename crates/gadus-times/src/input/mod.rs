//! Texts to values: PostgreSQL's readers of dates, times and intervals.
//!
//! - A text is split into tokens by their characters alone, then each token is interpreted by those before it.
//! - Which fields are set already is a mask; a second token for a field is an error.
//! - No length, number or nesting of a text is trusted: integers wrap or saturate as PostgreSQL's do, and range checks
//!   decide.

mod clock;
mod date_fields;
mod date_time;
mod fault;
mod interval;
mod interval_amounts;
mod interval_iso;
mod iso;
mod labelled;
mod mask;
mod number_fields;
mod numerals;
mod offset;
mod parse;
mod parse_interval;
#[cfg(test)]
mod tests;
mod time_only;
mod tokens;
mod vocabulary;
mod words;

pub(crate) use date_fields::validate as validate_date;
pub(crate) use fault::Fault;
pub(crate) use offset::offset as parse_offset;
pub(crate) use vocabulary::{Reserved, Unit, Word, date_word, interval_word};
