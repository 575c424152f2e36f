//! Lines of COPY data and the values in them.
//!
//! - Data comes cut anywhere; a line is read when it has come whole.
//! - Text: one line is one row, with `\` before what is not meant as it stands. CSV: ends of line within
//!   quotes belong to the value.

use super::options::{CopyForm, CopyFormat, CopyHeader};
use crate::error::coded;
use bytes::{Buf, BytesMut};
use gadus_engine::{Error, ErrorKind, Result};
use memchr::memchr2;

/// The data of a COPY as far as it has come.
#[derive(Debug)]
pub(super) struct Lines {
    form: CopyForm,
    input: BytesMut,
    /// How far the line that has begun was looked at, and whether that is within quotes.
    seen: usize,
    is_quoted: bool,
    /// Columns whose values are never NULL, of CSV.
    never_null: Vec<bool>,
    /// Columns whose values may be NULL although they are quoted, of CSV.
    null_if_quoted: Vec<bool>,
    /// Lines that were read.
    number: u64,
    line_bytes_max: usize,
    /// `\.` has come: what follows is not read.
    has_ended: bool,
    line: Line,
}

/// The values of a line.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
    /// Where each value ends; whether it is NULL.
    ends: Vec<(usize, bool)>,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The values from the left; none is NULL.
    pub(super) fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, is_null)| {
            let value = &self.bytes[start..*end];
            start = *end;
            (!is_null).then_some(value)
        })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn end_value(&mut self, is_null: bool) {
        self.ends.push((self.bytes.len(), is_null));
    }
}

impl Lines {
    /// SQLSTATE of a line that is no row.
    pub(super) const BAD: &str = "22P04";

    pub(super) fn new(form: CopyForm, names: &[String], line_bytes_max: usize) -> Self {
        let are_of = |columns: &[String]| {
            let is_of = |name: &String| columns.iter().any(|one| one == "*" || one == name);
            names.iter().map(is_of).collect()
        };
        Self {
            never_null: are_of(&form.force_not_null),
            null_if_quoted: are_of(&form.force_null),
            form,
            input: BytesMut::new(),
            seen: 0,
            is_quoted: false,
            number: 0,
            line_bytes_max,
            has_ended: false,
            line: Line::default(),
        }
    }

    /// Adds data.
    pub(super) fn push(&mut self, data: &[u8]) {
        if !self.has_ended {
            self.input.extend_from_slice(data);
        }
    }

    /// What is wrong with the line that was read last.
    pub(super) fn wrong(&self, sql_state: &'static str, what: &str) -> Error {
        coded(sql_state, format!("{what}, in line {} of the COPY", self.number))
    }

    /// The number of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// True if the first line must have the names of the columns.
    pub(super) fn matches_header(&self) -> bool {
        self.form.header == CopyHeader::Match
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Reads the next line that has come whole, at the end what is left, too; says whether there was one.
    pub(super) fn read(&mut self, is_end: bool) -> Result<bool> {
        loop {
            if self.has_ended {
                self.input.clear();
                return Ok(false);
            }
            let (length, skipped) = match self.end_of_line()? {
                Some(end) => (end, 1),
                None if is_end && self.is_quoted => {
                    self.number += 1;
                    return Err(self.wrong(Self::BAD, "unterminated CSV quoted field"));
                }
                None if is_end && !self.input.is_empty() => (self.input.len(), 0),
                None => return Ok(false),
            };
            let mut line = self.input.split_to(length);
            self.input.advance(skipped);
            self.seen = 0;
            self.number += 1;
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if &line[..] == b"\\." {
                self.has_ended = true;
                continue;
            }
            self.line.clear();
            match self.form.format {
                CopyFormat::Csv => self.split_csv(&line)?,
                _ => self.split_text(&line)?,
            }
            return Ok(true);
        }
    }

    /// Where the line ends that has begun, if it has come whole.
    fn end_of_line(&mut self) -> Result<Option<usize>> {
        let is_csv = self.form.format == CopyFormat::Csv;
        let CopyForm { quote, escape, .. } = self.form;
        if is_csv {
            while let Some(byte) = self.input.get(self.seen) {
                if self.is_quoted && *byte == escape && escape != quote {
                    // With what stands behind it, which may not have come.
                    if self.input.len() < self.seen + 2 {
                        break;
                    }
                    self.seen += 1;
                } else if *byte == quote {
                    self.is_quoted = !self.is_quoted;
                } else if *byte == b'\n' && !self.is_quoted {
                    return Ok(Some(self.seen));
                }
                self.seen += 1;
            }
        } else {
            while let Some(at) = memchr2(b'\n', b'\\', &self.input[self.seen..]) {
                let at = self.seen + at;
                if self.input[at] == b'\n' {
                    return Ok(Some(at));
                }
                // An end of line after a backslash belongs to the value. What follows may not have come.
                self.seen = at;
                match self.input.get(at + 1) {
                    None => return self.unfinished(),
                    // The mark of the end of the data.
                    Some(b'.') => self.seen = at + 1,
                    Some(_) => self.seen = at + 2,
                }
            }
            self.seen = self.input.len();
        }
        self.unfinished()
    }

    /// A line has not come whole.
    fn unfinished(&mut self) -> Result<Option<usize>> {
        if self.input.len() > self.line_bytes_max {
            self.number += 1;
            let text = format!("a row is longer than {} bytes", self.line_bytes_max);
            return Err(self.wrong("54000", &text).of_kind(ErrorKind::Limit));
        }
        Ok(None)
    }

    fn split_text(&mut self, line: &[u8]) -> Result<()> {
        let delimiter = self.form.delimiter;
        let mut rest = line;
        loop {
            let start = rest;
            let mut has_escape = false;
            // To the end of the value.
            let value_start = self.line.bytes.len();
            loop {
                match rest.split_first() {
                    None => break,
                    Some((byte, _)) if *byte == delimiter => break,
                    Some((b'\\', behind)) => {
                        has_escape = true;
                        rest = self.unescape(behind);
                    }
                    Some((byte, behind)) => {
                        self.line.bytes.push(*byte);
                        rest = behind;
                    }
                }
            }
            let written = &start[..start.len() - rest.len()];
            // NULL is told by how it is written.
            let is_null = written == self.form.null.as_bytes();
            if is_null && has_escape {
                self.line.bytes.truncate(value_start);
            }
            self.line.end_value(is_null);
            match rest.split_first() {
                Some((_, behind)) => rest = behind,
                None => return Ok(()),
            }
        }
    }

    /// Reads what stands behind a `\`; returns the rest.
    fn unescape<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let bytes = &mut self.line.bytes;
        let Some((byte, behind)) = rest.split_first() else {
            bytes.push(b'\\');
            return rest;
        };
        let digits = |from: &'a [u8], radix: u32, max: usize| {
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            let count = from.iter().take(max).take_while(is_digit).count();
            let value = from[..count].iter().fold(0, |value, byte| {
                value * radix + char::from(*byte).to_digit(radix).unwrap_or(0)
            });
            (u8::try_from(value & 0xff).unwrap_or(0), count)
        };
        match byte {
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'0'..=b'7' => {
                let (value, count) = digits(rest, 8, 3);
                bytes.push(value);
                return &rest[count..];
            }
            b'x' => {
                let (value, count) = digits(behind, 16, 2);
                bytes.push(if count == 0 { b'x' } else { value });
                return &behind[count..];
            }
            other => bytes.push(*other),
        }
        behind
    }

    fn split_csv(&mut self, line: &[u8]) -> Result<()> {
        let CopyForm { delimiter, quote, escape, .. } = self.form;
        let mut rest = line;
        loop {
            let start = self.line.bytes.len();
            let (mut was_quoted, mut is_quoted) = (false, false);
            while let Some((byte, behind)) = rest.split_first() {
                if !is_quoted && *byte == delimiter {
                    break;
                }
                rest = behind;
                let follows = behind.first().copied();
                let escapes = is_quoted
                    && *byte == escape
                    && follows.is_some_and(|next| next == quote || next == escape);
                if escapes {
                    self.line.bytes.extend(follows);
                    rest = &behind[1..];
                } else if *byte == quote {
                    is_quoted = !is_quoted;
                    was_quoted = true;
                } else {
                    self.line.bytes.push(*byte);
                }
            }
            if is_quoted {
                return Err(self.wrong(Self::BAD, "unterminated CSV quoted field"));
            }
            let column = self.line.len();
            let is_of = |columns: &[bool]| columns.get(column).copied().unwrap_or_default();
            let may_be_null = match was_quoted {
                true => is_of(&self.null_if_quoted),
                false => !is_of(&self.never_null),
            };
            let is_null = may_be_null && &self.line.bytes[start..] == self.form.null.as_bytes();
            if is_null {
                self.line.bytes.truncate(start);
            }
            self.line.end_value(is_null);
            match rest.split_first() {
                Some((_, behind)) => rest = behind,
                None => return Ok(()),
            }
        }
    }
}

#[cfg(test)]
mod tests;
