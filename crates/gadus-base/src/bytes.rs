//! Little-endian byte codecs for every durable format.
//!
//! - A reader never reads past its slice, never allocates by an untrusted size and never panics:
//!   each failure names the offset within the slice.
//! - Lengths are checked against a limit that the caller gives.

use std::fmt;

/// Appends little-endian values to a growing buffer.
#[derive(Debug, Default)]
pub struct ByteWriter {
    buffer: Vec<u8>,
}

/// Reads little-endian values from a slice, checking every bound.
#[derive(Debug, Clone)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

/// Bytes that do not hold what they should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// Offset within the decoded slice, in bytes.
    pub offset: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for DecodeError {}

macro_rules! write_numbers {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Appends a little-endian `", stringify!($type), "`.")]
        pub fn $name(&mut self, value: $type) {
            self.buffer.extend_from_slice(&value.to_le_bytes());
        }
    )*};
}

impl ByteWriter {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    write_numbers!(u8: u8, u16: u16, u32: u32, u64: u64, i64: i64, i128: i128, f64: f64);

    /// Makes room for so many more bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.buffer.reserve(bytes);
    }

    /// Appends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Appends a length in 32 bits and the bytes.
    ///
    /// # Panics
    /// When the slice is longer than 4 GiB: callers limit sizes far below.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(u32::try_from(bytes.len()).expect("callers limit lengths below 4 GiB"));
        self.raw(bytes);
    }

    /// Appends a length in 32 bits and the text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Fills with zeros up to a multiple of `alignment` bytes.
    pub fn pad_to(&mut self, alignment: usize) {
        self.buffer.resize(self.buffer.len().next_multiple_of(alignment), 0);
    }

    /// Bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing has been written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The written bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.buffer
    }

    /// The written bytes, leaving the writer.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.buffer
    }
}

macro_rules! read_numbers {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("Reads a little-endian `", stringify!($type), "`.")]
        pub fn $name(&mut self) -> Result<$type, DecodeError> {
            let bytes = self.array(stringify!($type))?;
            Ok(<$type>::from_le_bytes(bytes))
        }
    )*};
}

impl<'a> ByteReader<'a> {
    /// Reads from the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    read_numbers!(u8: u8, u16: u16, u32: u32, u64: u64, i64: i64, i128: i128, f64: f64);

    fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], DecodeError> {
        let (bytes, _) = self
            .bytes
            .get(self.offset..)
            .and_then(|rest| rest.split_first_chunk::<N>())
            .ok_or(DecodeError { offset: self.offset, expected })?;
        self.offset += N;
        Ok(*bytes)
    }

    /// The next `length` bytes as they are.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let end = self.offset.checked_add(length);
        let slice = end
            .and_then(|end| self.bytes.get(self.offset..end))
            .ok_or(DecodeError { offset: self.offset, expected: "more bytes" })?;
        self.offset += length;
        Ok(slice)
    }

    /// Bytes behind a 32-bit length of at most `length_max`.
    pub fn bytes(&mut self, length_max: usize) -> Result<&'a [u8], DecodeError> {
        let offset = self.offset;
        let length = self.u32()? as usize;
        if length > length_max {
            return Err(DecodeError { offset, expected: "a length within its limit" });
        }
        self.raw(length)
    }

    /// UTF-8 text behind a 32-bit length of at most `length_max` bytes.
    pub fn text(&mut self, length_max: usize) -> Result<&'a str, DecodeError> {
        let offset = self.offset;
        let bytes = self.bytes(length_max)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError { offset, expected: "UTF-8 text" })
    }

    /// A 32-bit count of things that each take at least `bytes_each_min` of the remaining bytes.
    pub fn count(&mut self, bytes_each_min: usize) -> Result<usize, DecodeError> {
        let offset = self.offset;
        let count = self.u32()? as usize;
        if count.saturating_mul(bytes_each_min.max(1)) > self.remaining() {
            return Err(DecodeError { offset, expected: "a count that fits the bytes" });
        }
        Ok(count)
    }

    /// Skips up to a multiple of `alignment` bytes from the start.
    pub fn align_to(&mut self, alignment: usize) -> Result<(), DecodeError> {
        let padding = self.offset.next_multiple_of(alignment) - self.offset;
        self.raw(padding).map(|_| ())
    }

    /// Bytes not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// Offset of the next byte.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Fails unless every byte has been read.
    pub fn end(&self) -> Result<(), DecodeError> {
        if self.remaining() == 0 {
            return Ok(());
        }
        Err(DecodeError { offset: self.offset, expected: "the end" })
    }
}
