//! Functions of texts: `format` and Unicode escapes.

mod format;
#[cfg(test)]
mod tests;
mod unicode_escapes;

pub use format::format;
pub use unicode_escapes::unistr;
