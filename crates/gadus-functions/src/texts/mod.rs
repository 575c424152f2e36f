//! Functions of texts: `format` and Unicode escapes.

mod format;
mod parts;
#[cfg(test)]
mod tests;
mod unicode_escapes;

pub use format::format;
pub use parts::{chr, split_part};
pub use unicode_escapes::unistr;
