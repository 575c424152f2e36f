//! Rows that COPY writes as lines.

use super::options::{CopyForm, CopyFormat, CopyHeader};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Schema};
use bytes::BufMut;
use std::io::{self, Write};

/// Bytes that are written to the file together.
const BYTES_TOGETHER: usize = 256 << 10;

/// Writes batches of texts as lines.
pub(crate) struct LineWriter<W: Write> {
    file: W,
    form: CopyForm,
    forced: Vec<bool>,
    lines: Vec<u8>,
}

impl<W: Write> LineWriter<W> {
    /// Begins with the line of names, if the form has one.
    pub(crate) fn new(file: W, form: CopyForm, schema: &Schema) -> io::Result<Self> {
        let forced = form.forced(schema);
        let mut writer = Self { file, form, forced, lines: Vec::new() };
        if writer.form.header != CopyHeader::None {
            let names = schema.fields().iter().map(|field| Some(field.name().as_bytes()));
            put_line(&mut writer.lines, &writer.form, names, &[]);
        }
        writer.flush()?;
        Ok(writer)
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let columns = batch.columns().iter().map(|column| cast(column, &DataType::Utf8View));
        let columns = columns.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        let columns = columns.iter().map(|column| column.as_string_view()).collect::<Vec<_>>();
        for row in 0..batch.num_rows() {
            let values = columns
                .iter()
                .map(|column| column.is_valid(row).then(|| column.value(row).as_bytes()));
            put_line(&mut self.lines, &self.form, values, &self.forced);
            if self.lines.len() >= BYTES_TOGETHER {
                self.flush()?;
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }

    /// Returns the file when all of it is written.
    pub(crate) fn into_inner(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.file)
    }
}

impl CopyForm {
    /// Says for each column if its CSV values are quoted in any case.
    #[must_use]
    pub fn forced(&self, schema: &Schema) -> Vec<bool> {
        let is_forced =
            |name: &String| self.force_quote.iter().any(|one| one == "*" || one == name);
        schema.fields().iter().map(|field| is_forced(field.name())).collect()
    }
}

/// Writes values as a line; `None` is NULL. `forced` says which CSV values are quoted in any case.
pub fn put_line<'a>(
    body: &mut impl BufMut,
    form: &CopyForm,
    values: impl Iterator<Item = Option<&'a [u8]>>,
    forced: &[bool],
) {
    for (index, value) in values.enumerate() {
        if index > 0 {
            body.put_u8(form.delimiter);
        }
        match value {
            None => body.put_slice(form.null.as_bytes()),
            Some(value) if form.format == CopyFormat::Csv => {
                let is_forced = forced.get(index).copied().unwrap_or_default();
                put_csv(body, form, value, is_forced);
            }
            Some(value) => put_escaped(body, form.delimiter, value),
        }
    }
    body.put_u8(b'\n');
}

fn put_csv(body: &mut impl BufMut, form: &CopyForm, value: &[u8], is_forced: bool) {
    let is_special = |byte: &u8| [form.delimiter, form.quote, b'\n', b'\r'].contains(byte);
    // What reads as NULL, or as the end of data, is quoted, too.
    let is_plain = !is_forced
        && value != form.null.as_bytes()
        && value != b"\\."
        && !value.iter().any(is_special);
    if is_plain {
        return body.put_slice(value);
    }
    body.put_u8(form.quote);
    for byte in value {
        if *byte == form.quote || *byte == form.escape {
            body.put_u8(form.escape);
        }
        body.put_u8(*byte);
    }
    body.put_u8(form.quote);
}

fn put_escaped(body: &mut impl BufMut, delimiter: u8, value: &[u8]) {
    for byte in value {
        let letter = match byte {
            b'\\' => b'\\',
            8 => b'b',
            12 => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            11 => b'v',
            byte if *byte == delimiter => delimiter,
            byte => {
                body.put_u8(*byte);
                continue;
            }
        };
        body.put_u8(b'\\');
        body.put_u8(letter);
    }
}
