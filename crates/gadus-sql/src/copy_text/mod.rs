//! PostgreSQL's formats of COPY: options, lines that are read and lines that are written.
//!
//! - Text: a row is a line, values have tabs between them, `\` is before what is not meant as it is written. CSV as
//!   PostgreSQL has it. Of the binary format only the options are here.

mod lines;
mod options;
mod rows;
mod writer;

pub(crate) use options::OPTIONS_OF_LINES;
pub use options::{CopyForm, CopyFormat, CopyHeader};
pub use rows::CopyRows;
pub(crate) use writer::LineWriter;
pub use writer::put_line;

#[cfg(test)]
mod tests;
