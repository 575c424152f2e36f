//! Rows of texts that are read from the data of a COPY.

use super::lines::Lines;
use super::options::{CopyForm, CopyHeader};
use arrow::array::{ArrayRef, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use gadus_engine::Result;
use std::sync::Arc;

/// Rows of a COPY from text or CSV, until they are handed on.
#[derive(Debug)]
pub struct CopyRows {
    lines: Lines,
    names: Vec<String>,
    builders: Vec<StringBuilder>,
    /// Number of the line of each row.
    numbers: Vec<u64>,
    bytes: usize,
    /// The line of names has not been read yet.
    has_header: bool,
}

impl CopyRows {
    /// Begins to read rows of so many columns; a row of more bytes is refused.
    #[must_use]
    pub fn new(names: Vec<String>, form: CopyForm, row_bytes_max: usize) -> Self {
        let builders = names.iter().map(|_| StringBuilder::new()).collect();
        let has_header = form.header != CopyHeader::None;
        let lines = Lines::new(form, &names, row_bytes_max);
        Self { lines, names, builders, numbers: Vec::new(), bytes: 0, has_header }
    }

    /// Takes data as it comes.
    pub fn push(&mut self, data: &[u8]) {
        self.lines.push(data);
    }

    /// Reads the rows that have come whole; at the end everything: the last line may have no end.
    ///
    /// # Errors
    /// `22P04` for a line that is no row, `22021` for bytes that are no text.
    pub fn take(&mut self, is_end: bool) -> Result<()> {
        while self.lines.read(is_end)? {
            if std::mem::take(&mut self.has_header) {
                self.check_header()?;
                continue;
            }
            let line = self.lines.line();
            let (wanted, given) = (self.builders.len(), line.len());
            if given != wanted {
                let text = match given < wanted {
                    true => format!("missing data for column \"{}\"", self.names[given]),
                    false => "extra data after last expected column".to_owned(),
                };
                return Err(self.lines.wrong(Lines::BAD, &text));
            }
            for (builder, value) in self.builders.iter_mut().zip(line.values()) {
                let Some(bytes) = value else {
                    builder.append_null();
                    continue;
                };
                self.bytes += bytes.len();
                match std::str::from_utf8(bytes) {
                    Ok(text) if !text.contains('\0') => builder.append_value(text),
                    _ => {
                        let text = "a value is not UTF-8, or holds the character 0";
                        return Err(self.lines.wrong("22021", text));
                    }
                }
            }
            self.numbers.push(self.lines.number());
        }
        Ok(())
    }

    fn check_header(&self) -> Result<()> {
        if !self.lines.matches_header() {
            return Ok(());
        }
        let line = self.lines.line();
        let mut given = line.values();
        for (place, name) in (1..).zip(&self.names) {
            let what = match given.next() {
                Some(Some(value)) if value == name.as_bytes() => continue,
                Some(Some(value)) => format!("got \"{}\"", String::from_utf8_lossy(value)),
                Some(None) => "got null value".to_owned(),
                None => "got null value".to_owned(),
            };
            let text = format!(
                "column name mismatch in header line field {place}: {what}, expected \"{name}\""
            );
            return Err(self.lines.wrong(Lines::BAD, &text));
        }
        match given.next() {
            None => Ok(()),
            Some(_) => {
                let (count, wanted) = (line.len(), self.names.len());
                let text = format!(
                    "wrong number of fields in header line: field count is {count}, expected {wanted}"
                );
                Err(self.lines.wrong(Lines::BAD, &text))
            }
        }
    }

    /// Returns the number of rows that wait, and of their bytes.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.numbers.len(), self.bytes)
    }

    /// Returns the lines of the rows that wait, from 1.
    #[must_use]
    pub fn line_numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Hands on the rows that wait, as texts.
    ///
    /// # Errors
    /// Arrow's, for more bytes than an array may have.
    pub fn batch(&mut self) -> Result<RecordBatch> {
        self.numbers.clear();
        self.bytes = 0;
        let field = |name: &String| Field::new(name, DataType::Utf8, true);
        let schema = Schema::new(self.names.iter().map(field).collect::<Vec<_>>());
        let columns =
            self.builders.iter_mut().map(|builder| Arc::new(builder.finish()) as ArrayRef);
        Ok(RecordBatch::try_new(Arc::new(schema), columns.collect())?)
    }
}
