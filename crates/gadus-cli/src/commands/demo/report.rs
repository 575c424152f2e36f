//! What the demo prints, and the figures that it ends with.

use std::io::{self, Write};
use std::sync::Arc;

use gadus::arrow::array::{ArrayRef, RecordBatch, StringArray};

use crate::failure::Failure;
use crate::terminal;

/// The running report.
#[derive(Debug, Default)]
pub(super) struct Report {
    headings: usize,
    figures: Vec<(String, String)>,
}

impl Report {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Begins a part.
    pub(super) fn heading(&mut self, text: &str) -> Result<(), Failure> {
        self.headings += 1;
        self.line(&format!("\n{}. {text}\n", self.headings))
    }

    pub(super) fn line(&self, text: &str) -> Result<(), Failure> {
        Ok(writeln!(io::stdout(), "{text}")?)
    }

    /// Notes a figure for the end.
    pub(super) fn figure(&mut self, what: &str, figure: &str) {
        self.figures.push((what.to_owned(), figure.to_owned()));
    }

    /// Prints all figures.
    pub(super) fn summary(&mut self) -> Result<(), Failure> {
        self.heading("Summary")?;
        let column = |part: fn(&(String, String)) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(self.figures.iter().map(part)))
        };
        let columns = [("what", column(|line| &line.0)), ("figure", column(|line| &line.1))];
        terminal::print_table(&[RecordBatch::try_from_iter(columns)?])
    }
}
