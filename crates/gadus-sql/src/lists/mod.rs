//! Lists, structures and maps in columns; lists beside values: `x = ANY (list)`, `x < ALL (list)`, and lists as PostgreSQL writes them.
//!
//! - DataFusion finds an element without asking whether another one is NULL, so that `3 = ANY` of 1 and
//!   NULL is false there, where it is unknown: below NOT that gives rows that are none. Its own words are
//!   replaced by functions before it reads a statement.
//! - A list whose elements are known is what IN takes, and is looked for as IN is.

mod assigned;
mod casts;
mod of_query;
mod operators;
mod quantified;
mod spelling;
mod tables;
mod text;

pub(crate) use assigned::assign_nested;
pub(crate) use casts::{called, keys};
pub(crate) use operators::{ListOperators, beside};
pub(crate) use quantified::{Quantified, quantified_functions};
pub(crate) use spelling::{call, respell};
pub use text::{list_elements, write_element};
