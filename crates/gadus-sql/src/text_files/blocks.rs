//! A file of texts in blocks of whole records.
//!
//! - A block has [`BLOCK_BYTES`], and what its last record needs beyond; no record has more than [`RECORD_BYTES_MAX`],
//!   so that what is read of a file stays bounded, whatever it unpacks to.

use super::compression::Compression;
use super::ends::Ends;
use super::list::TextFile;
use crate::session::kind_of;
use gadus_engine::{Error, ErrorKind, Result};
use memchr::memchr_iter;
use std::io::{self, Read};

/// Bytes of a block: enough that its rows are worth a task, few enough that several are held.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// The longest record of a file.
pub(crate) const RECORD_BYTES_MAX: usize = 64 << 20;

const _: () = assert!(BLOCK_BYTES <= RECORD_BYTES_MAX);

/// Bytes that are asked of a reader at once.
const READ_BYTES: usize = 256 << 10;

/// Whole records of a file, one behind the other.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The number of its first line in the file, from 1.
    pub(super) line: u64,
    /// Whether the file begins here.
    pub(super) is_first: bool,
}

/// A file that is read block by block.
pub(super) struct Blocks {
    path: Box<str>,
    compression: Compression,
    reader: Option<Box<dyn Read + Send>>,
    ends: Ends,
    /// What was read behind the last block.
    rest: Vec<u8>,
    line: u64,
    is_first: bool,
}

impl Blocks {
    pub(super) fn open(file: &TextFile, ends: Ends) -> Result<Self> {
        let shown = file.path.to_string_lossy().into_owned();
        let compression = file.compression;
        let opened = file.open().and_then(|open| compression.reader(open));
        let reader = opened.map_err(|error| unread(&shown, compression, &error))?;
        Ok(Self {
            path: shown.into(),
            compression,
            reader: Some(reader),
            ends,
            rest: Vec::new(),
            line: 1,
            is_first: true,
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The next block; none at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        // The rest was gone over when it was read, and has no end of a record.
        let (mut record, mut end) = (0, None);
        while let Some(reader) = &mut self.reader {
            let from = bytes.len();
            let read = fill(&mut **reader, &mut bytes);
            if read.map_err(|error| unread(&self.path, self.compression, &error))? == 0 {
                self.reader = None;
                break;
            }
            if self.is_first && from == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drain(..3);
            }
            let mut longest = 0;
            self.ends.pass(&bytes[from..], |behind| {
                longest = longest.max(from + behind - record);
                record = from + behind;
                end = Some(record);
            });
            if longest.max(bytes.len() - record) > RECORD_BYTES_MAX {
                return Err(self.too_long(&bytes[..record]));
            }
            if bytes.len() >= BLOCK_BYTES && end.is_some() {
                break;
            }
        }
        if self.reader.is_some() {
            let end = end.unwrap_or(bytes.len());
            self.rest = bytes.split_off(end);
        } else if !self.ends.is_closed() {
            let line = self.line + lines(&bytes[..record]);
            let message = format!("{}: line {line}: a quote is not closed", self.path);
            return Err(Error::new(ErrorKind::Input, message));
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let block = Block { line: self.line, is_first: self.is_first, bytes };
        self.line += lines(&block.bytes);
        self.is_first = false;
        Ok(Some(block))
    }

    fn too_long(&self, before: &[u8]) -> Error {
        let line = self.line + lines(before);
        let of = RECORD_BYTES_MAX >> 20;
        let message = format!(
            "{}: line {line}: the record is longer than {of} MiB: a quote may not be closed, or the file be none of \
             texts",
            self.path
        );
        Error::new(ErrorKind::Limit, message)
    }
}

/// Bytes of a file as they come, unpacked.
pub(crate) struct TextReader {
    path: Box<str>,
    compression: Compression,
    reader: Box<dyn Read + Send>,
    bytes: Vec<u8>,
}

impl TextReader {
    pub(crate) fn open(file: &TextFile) -> Result<Self> {
        let path = file.path.to_string_lossy().into_owned();
        let compression = file.compression;
        let opened = file.open().and_then(|open| compression.reader(open));
        let reader = opened.map_err(|error| unread(&path, compression, &error))?;
        Ok(Self { path: path.into(), compression, reader, bytes: Vec::new() })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the next bytes; none at the end.
    pub(crate) fn next(&mut self) -> Result<&[u8]> {
        self.bytes.clear();
        let read = fill(&mut *self.reader, &mut self.bytes);
        read.map_err(|error| unread(&self.path, self.compression, &error))?;
        Ok(&self.bytes)
    }
}

/// The first bytes of what is in a file, for whoever is to tell its form; fewer where it has no more.
pub(crate) fn beginning(file: &TextFile, bytes_max: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = file.open().and_then(|open| file.compression.reader(open));
    let read = opened.and_then(|reader| reader.take(bytes_max as u64).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) => Err(unread(&file.path.to_string_lossy(), file.compression, &error)),
    }
}

/// Lines that end in a text.
pub(super) fn lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// Reads more behind what is there; returns how much.
fn fill(reader: &mut dyn Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let from = bytes.len();
    bytes.resize(from + READ_BYTES, 0);
    let read = loop {
        match reader.read(&mut bytes[from..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    bytes.truncate(from + *read.as_ref().unwrap_or(&0));
    read
}

/// The error of a file that is not read: what it is made of, or the way to it.
fn unread(path: &str, compression: Compression, error: &io::Error) -> Error {
    let is_damage = matches!(
        error.kind(),
        io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::Other
    );
    if compression != Compression::None && is_damage {
        let name = compression.name();
        let message =
            format!("{path}: the file is damaged, or not compressed with {name}: {error}");
        return Error::new(ErrorKind::Input, message);
    }
    Error::new(kind_of(error), format!("{path} cannot be read: {error}"))
}

#[cfg(test)]
mod tests;
