//! Markdown tables, one line per row.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::{BatchWriter, cells};

#[derive(Debug)]
pub(super) struct Markdown<W> {
    output: W,
}

impl<W: Write> Markdown<W> {
    pub(super) fn new(output: W) -> Self {
        Self { output }
    }

    fn line(&mut self, cells: &[String]) -> Result<(), ArrowError> {
        for cell in cells {
            // A bar would end the cell, a backslash would escape what follows.
            write!(self.output, "| {} ", cell.replace('\\', "\\\\").replace('|', "\\|"))?;
        }
        writeln!(self.output, "|")?;
        Ok(())
    }
}

impl<W: Write> BatchWriter for Markdown<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        self.line(&cells::header(schema))?;
        for right in cells::numeric(schema) {
            write!(self.output, "{}", if right { "|---:" } else { "|---" })?;
        }
        writeln!(self.output, "|")?;
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        cells::rows(batch)?.try_for_each(|row| self.line(&row?))
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        Ok(())
    }
}
