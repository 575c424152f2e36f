//! Tables in box drawing.
//!
//! - Column widths come from the first [`ROWS_MEASURED`] rows; a later, wider cell widens its own line
//!   only. So a table of any length takes bounded memory.
//! - With a limit on rows, the first and the last are shown, and dots between them.

use std::collections::VecDeque;
use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::layout::{self, Column, ELLIPSIS};
use super::{BatchWriter, Limits, cells};

/// Enough to meet the usual widths, few enough to be shown at once.
const ROWS_MEASURED: usize = 10_000;
const ROWS_LEFT_OUT: &str = "·";

#[derive(Debug)]
pub(super) struct Boxes<W> {
    output: W,
    limits: Limits,
    header: Vec<String>,
    numeric: Vec<bool>,
    /// Rows from the beginning that wait for the widths.
    first: Vec<Vec<String>>,
    /// The last rows, when the middle is left out.
    last: VecDeque<Vec<String>>,
    /// The columns, once their header is written.
    columns: Option<Vec<Column>>,
    rows: u64,
}

impl<W: Write> Boxes<W> {
    pub(super) fn new(output: W, limits: Limits) -> Self {
        Self {
            output,
            limits,
            header: Vec::new(),
            numeric: Vec::new(),
            first: Vec::new(),
            last: VecDeque::new(),
            columns: None,
            rows: 0,
        }
    }

    fn row(&mut self, row: Vec<String>) -> Result<(), ArrowError> {
        self.rows += 1;
        if let Some(columns) = &self.columns {
            return write_row(&mut self.output, columns, &row, false);
        }
        let Some(rows_max) = self.limits.rows_max else {
            self.first.push(row);
            return if self.first.len() < ROWS_MEASURED { Ok(()) } else { self.write_first() };
        };
        if self.first.len() < rows_max.div_ceil(2) {
            self.first.push(row);
        } else {
            self.last.push_back(row);
            if self.last.len() > rows_max / 2 {
                self.last.pop_front();
            }
        }
        Ok(())
    }

    /// Fixes the widths, and writes the header and what waits.
    fn write_first(&mut self) -> Result<(), ArrowError> {
        let mut wanted: Vec<usize> = self.header.iter().map(|name| layout::width(name)).collect();
        for row in self.first.iter().chain(&self.last) {
            for (width, cell) in wanted.iter_mut().zip(row) {
                *width = layout::width(cell).max(*width);
            }
        }
        let columns = layout::columns(&wanted, &self.numeric, self.limits.width_max);
        let cut = self.limits.width_max.is_some();
        write_border(&mut self.output, &columns, ["┌", "┬", "┐"])?;
        write_row(&mut self.output, &columns, &self.header, cut)?;
        write_border(&mut self.output, &columns, ["├", "┼", "┤"])?;
        for row in self.first.drain(..) {
            write_row(&mut self.output, &columns, &row, cut)?;
        }
        self.columns = Some(columns);
        Ok(())
    }

    fn write_last(&mut self, columns: &[Column], shown: u64) -> Result<(), ArrowError> {
        if shown < self.rows {
            let dots = vec![ROWS_LEFT_OUT.to_owned(); self.header.len()];
            write_row(&mut self.output, columns, &dots, true)?;
        }
        for row in self.last.drain(..) {
            write_row(&mut self.output, columns, &row, self.limits.width_max.is_some())?;
        }
        Ok(())
    }
}

impl<W: Write> BatchWriter for Boxes<W> {
    fn start(&mut self, schema: &SchemaRef) -> Result<(), ArrowError> {
        self.header = cells::header(schema);
        self.numeric = cells::numeric(schema);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        cells::rows(batch)?.try_for_each(|row| self.row(row?))
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        let limited = self.limits.rows_max.is_some();
        let shown = if limited { (self.first.len() + self.last.len()) as u64 } else { self.rows };
        if self.columns.is_none() {
            self.write_first()?;
        }
        let columns = self.columns.take().unwrap_or_default();
        self.write_last(&columns, shown)?;
        write_border(&mut self.output, &columns, ["└", "┴", "┘"])?;
        let shown = if shown < self.rows { format!(", {shown} shown") } else { String::new() };
        let visible = columns.iter().filter(|column| column.index.is_some()).count();
        let left_out = match (self.header.len() - visible) as u64 {
            0 => String::new(),
            count => format!(", {} left out", counted(count, "column")),
        };
        writeln!(self.output, "({}{shown}{left_out})", counted(self.rows, "row"))?;
        Ok(())
    }
}

fn write_row(
    output: &mut impl Write,
    columns: &[Column],
    cells: &[String],
    cut: bool,
) -> Result<(), ArrowError> {
    for column in columns {
        let cell = column.index.map_or(ELLIPSIS, |index| &cells[index]);
        write!(output, "│ {} ", layout::fitted(cell, column.width, column.right, cut))?;
    }
    writeln!(output, "│")?;
    Ok(())
}

fn write_border(
    output: &mut impl Write,
    columns: &[Column],
    [left, between, right]: [&str; 3],
) -> Result<(), ArrowError> {
    let lines: Vec<String> = columns.iter().map(|column| "─".repeat(column.width + 2)).collect();
    writeln!(output, "{left}{}{right}", lines.join(between))?;
    Ok(())
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
