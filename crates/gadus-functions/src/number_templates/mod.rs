//! Templates of numbers: `to_char` and `to_number`.
//!
//! - `template` reads a template, `spelling` prepares the digits of a value, `write` and `read` go through the template
//!   item by item.
//! - The locale is C: a point, a comma between thousands, and a blank for the currency.

mod read;
mod spelling;
mod template;
#[cfg(test)]
mod tests;
mod write;

pub use read::to_number;
pub use spelling::{
    bigint_to_char, decimal_to_char, double_to_char, integer_to_char, numeric_to_char,
};
pub use template::fraction_digits;

pub(crate) use write::ordinal_suffix;
