//! Where output goes, and how large a terminal there is.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};

use crate::failure::Failure;
use crate::output::{Format, Limits};

/// Fewer system calls; a page or two of text is seen at once anyway.
const BUFFER_BYTES: usize = 256 * 1024;
/// Rows of a long result shown on a terminal.
const ROWS_SHOWN_MAX: usize = 40;

/// True when a person reads our standard output.
pub(crate) fn is_interactive() -> bool {
    io::stdout().is_terminal()
}

/// The limits of what is shown: the terminal's, or none when a file or program reads.
pub(crate) fn limits() -> Limits {
    if !is_interactive() {
        return Limits::default();
    }
    let size = console::Term::stdout().size_checked();
    let width = size.map(|(_, columns)| usize::from(columns)).filter(|width| *width > 0);
    Limits { width_max: width, rows_max: Some(ROWS_SHOWN_MAX) }
}

/// The file at `path`, or standard output when there is none; buffered, to be flushed by the caller.
pub(crate) fn open(path: Option<&Path>) -> Result<Box<dyn Write + Send>, Failure> {
    let Some(path) = path else {
        return Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, io::stdout())));
    };
    let file = File::create(path)
        .map_err(|error| Failure::Message(format!("cannot create {}: {error}", path.display())))?;
    Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, file)))
}

/// Prints rows of texts under their headings.
pub(crate) fn print_rows<const N: usize>(
    headings: [&str; N],
    rows: &[[String; N]],
) -> Result<(), Failure> {
    let column = |(index, heading): (usize, &str)| {
        let texts = StringArray::from_iter_values(rows.iter().map(|row| &row[index]));
        (heading.to_owned(), Arc::new(texts) as ArrayRef)
    };
    let columns = headings.into_iter().enumerate().map(column);
    print_table(&[RecordBatch::try_from_iter(columns)?])
}

/// Prints a whole result as a table.
pub(crate) fn print_table(batches: &[RecordBatch]) -> Result<(), Failure> {
    let Some(first) = batches.first() else { return Ok(()) };
    let limits = Limits { rows_max: None, ..limits() };
    let mut writer = Format::Table.writer(io::stdout(), limits);
    writer.start(&first.schema())?;
    for batch in batches {
        writer.batch(batch)?;
    }
    Ok(writer.finish()?)
}
