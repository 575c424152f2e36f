//! How the texts of a file are read: their form, and the rows of a block.

use super::blocks::{Block, lines};
use super::ends::Ends;
use super::rejects::Rejects;
use super::wrong::{values, what_is_wrong};
use crate::error::input;
use arrow::array::RecordBatch;
use arrow::csv::ReaderBuilder as CsvBuilder;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::json::ReaderBuilder as JsonBuilder;
use gadus_engine::{Error, Result};
use std::sync::Arc;

/// The form of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    /// The first line has names where `header` is set.
    Csv {
        delimiter: u8,
        header: bool,
    },
    Json,
}

impl TextForm {
    pub(super) fn ends(self) -> Ends {
        match self {
            Self::Csv { delimiter, .. } => Ends::of_csv(delimiter),
            Self::Json => Ends::of_json(),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Csv { .. } => "csv",
            Self::Json => "json",
        }
    }

    /// The records of a block: without the first line of a file, where that has names.
    pub(super) fn records(self, block: &Block) -> Records<'_> {
        let Self::Csv { header: true, .. } = self else { return Records::of(block, 0) };
        if !block.is_first {
            return Records::of(block, 0);
        }
        let mut names = None;
        self.ends().pass(&block.bytes, |end| {
            let is_blank = block.bytes[..end].iter().all(u8::is_ascii_whitespace);
            names = names.or((!is_blank).then_some(end));
        });
        Records::of(block, names.unwrap_or(block.bytes.len()))
    }
}

/// Whole records of a block, and the number of their first line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Records<'a> {
    block: &'a [u8],
    from: usize,
    to: usize,
    pub(super) line: u64,
}

impl<'a> Records<'a> {
    fn of(block: &'a Block, from: usize) -> Self {
        let line = block.line + lines(&block.bytes[..from]);
        Self { block: &block.bytes, from, to: block.bytes.len(), line }
    }

    /// All of a block, with names.
    pub(super) fn whole(block: &'a Block) -> Self {
        Self::of(block, 0)
    }

    /// The bytes of those that have as many values as the first of them.
    pub(super) fn as_wide_as_the_first(self, form: TextForm) -> Vec<u8> {
        let apart = self.apart(form);
        let width = |record: &Self| match form {
            TextForm::Csv { delimiter, .. } => values(record.bytes(), delimiter).len(),
            TextForm::Json => 0,
        };
        let first = apart.first().map(width);
        let wide = apart.iter().filter(|record| Some(width(record)) == first);
        wide.flat_map(|record| record.bytes()).copied().collect()
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        &self.block[self.from..self.to]
    }

    /// Those from this one to another that stands behind it in the same block.
    pub(super) fn up_to(self, last: Self) -> Self {
        Self { to: last.to, ..self }
    }

    /// Each of them alone; none is blank.
    pub(super) fn apart(self, form: TextForm) -> Vec<Self> {
        let (all, mut from, mut line) = (self.bytes(), 0, self.line);
        let mut apart = Vec::new();
        let mut add = |end: usize| {
            let bytes = &all[from..end];
            // Blanks may be a value of CSV; ends of lines before a record are none.
            let is_before = |byte: &&u8| match form {
                TextForm::Csv { .. } => matches!(byte, b'\r' | b'\n'),
                TextForm::Json => byte.is_ascii_whitespace(),
            };
            let before = bytes.iter().take_while(is_before).count();
            if before < bytes.len() {
                let line = line + lines(&bytes[..before]);
                let (from, to) = (self.from + from + before, self.from + end);
                apart.push(Self { from, to, line, ..self });
            }
            line += lines(bytes);
            from = end;
        };
        form.ends().pass(all, &mut add);
        add(all.len());
        apart
    }
}

/// Reads blocks as rows.
#[derive(Debug, Clone)]
pub(super) struct RowsOfText {
    pub(super) form: TextForm,
    /// All columns of the files.
    pub(super) schema: SchemaRef,
    /// Those that are read.
    pub(super) projection: Vec<usize>,
    pub(super) batch_rows: usize,
    /// Where records go that cannot be read; else they are an error.
    pub(super) rejects: Option<Arc<Rejects>>,
}

impl RowsOfText {
    /// The rows of a block of a file.
    pub(super) fn of_block(&self, path: &Arc<str>, block: &Block) -> Result<Vec<RecordBatch>> {
        let records = self.form.records(block);
        if let Some(rejects) = &self.rejects {
            return rejects.sift(self, path, records);
        }
        self.batches(records.bytes()).map_err(|error| self.first_wrong(path, records, &error))
    }

    pub(super) fn batches(
        &self,
        bytes: &[u8],
    ) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
        match self.form {
            TextForm::Csv { delimiter, .. } => self.csv(bytes, delimiter),
            TextForm::Json => self.json(bytes),
        }
    }

    fn csv(
        &self,
        mut bytes: &[u8],
        delimiter: u8,
    ) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
        let mut decoder = CsvBuilder::new(self.schema.clone())
            .with_delimiter(delimiter)
            .with_batch_size(self.batch_rows)
            .with_projection(self.projection.clone())
            .build_decoder();
        let mut batches = Vec::new();
        loop {
            // At the end, nothing says that all has come.
            let read = decoder.decode(bytes)?;
            bytes = &bytes[read..];
            if bytes.is_empty() || decoder.capacity() == 0 {
                if bytes.is_empty() {
                    decoder.decode(&[])?;
                }
                match decoder.flush()? {
                    Some(batch) => batches.push(batch),
                    None if bytes.is_empty() => return Ok(batches),
                    None => {}
                }
            }
        }
    }

    fn json(&self, mut bytes: &[u8]) -> std::result::Result<Vec<RecordBatch>, ArrowError> {
        let schema = Arc::new(self.schema.project(&self.projection)?);
        let mut decoder =
            JsonBuilder::new(schema).with_batch_size(self.batch_rows).build_decoder()?;
        let mut batches = Vec::new();
        loop {
            let read = decoder.decode(bytes)?;
            bytes = &bytes[read..];
            match decoder.flush()? {
                Some(batch) => batches.push(batch),
                None if bytes.is_empty() || read == 0 => return Ok(batches),
                None => {}
            }
        }
    }

    /// The error of records that cannot all be read: of the first of them that cannot.
    fn first_wrong(&self, path: &Arc<str>, records: Records<'_>, error: &ArrowError) -> Error {
        let wrong = records.apart(self.form).into_iter().find_map(|record| {
            let error = Error::from_arrow(&self.batches(record.bytes()).err()?);
            Some(match self.form {
                TextForm::Csv { .. } => what_is_wrong(self, path, record, &error, None).to_error(),
                TextForm::Json => {
                    input(format!("{path}: line {}: {}", record.line, error.message()))
                }
            })
        });
        wrong.unwrap_or_else(|| input(format!("{path}: from line {}: {error}", records.line)))
    }
}
