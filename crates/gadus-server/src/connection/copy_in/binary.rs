//! PostgreSQL's binary format of COPY: a header, rows of values behind their lengths, and an end.

use super::Intake;
use crate::error::{Failure, SqlState};
use crate::values::{Type, binary_parameter, list};
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use bytes::{Buf, BytesMut};
use gadus::{JSONB_EXTENSION, Value};
use std::mem;
use std::sync::Arc;

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Signature, flags, and the length of the extension that follows.
const HEADER_BYTES: usize = SIGNATURE.len() + 8;
/// Flags of which one that is not known must not be passed over.
const CRITICAL: u32 = 0xffff_0000;
const NULL: i32 = -1;
/// In the place of the number of a row's values: there are no more rows.
const END: i16 = -1;

/// Rows in PostgreSQL's binary format.
pub(super) struct BinaryRows {
    names: Vec<String>,
    types: Vec<Type>,
    values: Vec<Vec<Value>>,
    input: BytesMut,
    part: Part,
    /// Rows that have come whole, altogether and since the last batch.
    row: usize,
    rows: usize,
    bytes: usize,
    row_bytes_max: usize,
}

/// What is expected next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    /// So many bytes of the header's extension.
    Extension(usize),
    Row,
    Nothing,
}

impl BinaryRows {
    /// Rows of these columns; a row of more bytes is refused.
    pub(super) fn new(schema: &Schema, row_bytes_max: usize) -> Self {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let of = |field: &Arc<Field>| match field.extension_type_name() {
            Some(JSONB_EXTENSION) => Type::Jsonb,
            _ => Type::of_arrow(field.data_type()).unwrap_or(Type::Text),
        };
        let types = schema.fields().iter().map(of).collect::<Vec<_>>();
        let values = types.iter().map(|_| Vec::new()).collect();
        let (input, part) = (BytesMut::new(), Part::Header);
        Self { names, types, values, input, part, row: 0, rows: 0, bytes: 0, row_bytes_max }
    }

    fn wrong(&self, text: &str) -> Failure {
        Failure::new(SqlState::BAD_COPY, format!("row {}: {text}", self.row + 1))
    }

    /// Takes one part; false where it has not come whole.
    fn take_part(&mut self) -> Result<bool, Failure> {
        match self.part {
            Part::Header => {
                let Some(header) = self.input.get(..HEADER_BYTES) else { return Ok(false) };
                let Some(mut rest) = header.strip_prefix(SIGNATURE) else {
                    let text = "COPY file signature not recognized";
                    return Err(Failure::new(SqlState::BAD_COPY, text));
                };
                let (flags, extension) = (rest.get_u32(), rest.get_u32());
                if flags & CRITICAL != 0 {
                    let text = "unrecognized critical flags in COPY file header";
                    return Err(Failure::new(SqlState::BAD_COPY, text));
                }
                self.input.advance(HEADER_BYTES);
                self.part = Part::Extension(usize::try_from(extension).unwrap_or(usize::MAX));
                Ok(true)
            }
            Part::Extension(bytes) => {
                let skipped = bytes.min(self.input.len());
                self.input.advance(skipped);
                self.part = match bytes - skipped {
                    0 => Part::Row,
                    rest => Part::Extension(rest),
                };
                Ok(self.part == Part::Row)
            }
            Part::Row => self.take_row(),
            Part::Nothing if self.input.is_empty() => Ok(false),
            Part::Nothing => Err(self.wrong("received copy data after EOF marker")),
        }
    }

    fn take_row(&mut self) -> Result<bool, Failure> {
        let mut rest = &self.input[..];
        let Ok(count) = rest.try_get_i16() else { return Ok(false) };
        if count == END {
            self.input.advance(2);
            self.part = Part::Nothing;
            return Ok(true);
        }
        let wanted = self.types.len();
        if usize::try_from(count) != Ok(wanted) {
            return Err(self.wrong(&format!("row field count is {count}, expected {wanted}")));
        }
        let mut fields = Vec::with_capacity(wanted);
        for _ in 0..wanted {
            let Ok(length) = rest.try_get_i32() else { return self.waits() };
            if length == NULL {
                fields.push(None);
                continue;
            }
            let Ok(length) = usize::try_from(length) else {
                return Err(self.wrong("invalid field size"));
            };
            if length > self.row_bytes_max {
                return Err(self.wrong("a value is longer than the limit of a message"));
            }
            let Some((field, behind)) = rest.split_at_checked(length) else { return self.waits() };
            fields.push(Some(field));
            rest = behind;
        }
        let taken = self.input.len() - rest.len();
        let row = self.row + 1;
        for ((field, of), (values, name)) in
            fields.into_iter().zip(&self.types).zip(self.values.iter_mut().zip(&self.names))
        {
            let value = field.map(|bytes| binary_parameter(of.oid(), bytes)).transpose();
            let value = value.map_err(|mut failure| {
                failure.message = format!("row {row}, column \"{name}\": {}", failure.message);
                failure
            })?;
            values.push(value.unwrap_or(Value::Null));
        }
        self.input.advance(taken);
        self.bytes += taken;
        self.rows += 1;
        self.row = row;
        Ok(true)
    }

    /// A row has not come whole.
    fn waits(&self) -> Result<bool, Failure> {
        match self.input.len() > self.row_bytes_max {
            true => Err(self.wrong("a row is longer than the limit of a message")),
            false => Ok(false),
        }
    }
}

impl Intake for BinaryRows {
    fn push(&mut self, data: &[u8]) {
        self.input.extend_from_slice(data);
    }

    fn take(&mut self, is_end: bool) -> Result<(), Failure> {
        while self.take_part()? {}
        // PostgreSQL's own server accepts an end without its mark, too; what is begun must be whole.
        let is_whole = self.input.is_empty() && matches!(self.part, Part::Row | Part::Nothing);
        match is_end && !is_whole {
            true => Err(self.wrong("unexpected EOF in COPY data")),
            false => Ok(()),
        }
    }

    fn size(&self) -> (usize, usize) {
        (self.rows, self.bytes)
    }

    fn batch(&mut self) -> Result<RecordBatch, Failure> {
        let columns = self.values.iter_mut().zip(&self.types);
        let columns = columns.map(|(values, of)| match list(*of, mem::take(values))? {
            Value::List(array) => Ok(array),
            _ => Err(Failure::new(SqlState::INTERNAL, "a list is none")),
        });
        let columns = columns.collect::<Result<Vec<_>, Failure>>()?;
        (self.rows, self.bytes) = (0, 0);
        super::batch_of(&self.names, columns)
    }
}

#[cfg(test)]
mod tests;
