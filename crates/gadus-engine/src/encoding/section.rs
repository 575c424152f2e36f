//! Reading a blob's sections without copying them.
//!
//! - Sections start at multiples of eight bytes; a blob itself is aligned to 64.
//! - Every bound is checked; a failure names the offset within the blob.

use arrow::buffer::{Buffer, ScalarBuffer};
use gadus_base::{ByteReader, DecodeError};

/// A cursor over a blob that can also hand out shared slices of it.
#[derive(Debug)]
pub(crate) struct Sections<'a> {
    buffer: &'a Buffer,
    reader: ByteReader<'a>,
}

impl<'a> Sections<'a> {
    pub(crate) fn new(buffer: &'a Buffer) -> Self {
        Self { buffer, reader: ByteReader::new(buffer.as_slice()) }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, DecodeError> {
        self.reader.u8()
    }

    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        self.reader.u32()
    }

    pub(crate) fn i64(&mut self) -> Result<i64, DecodeError> {
        self.reader.i64()
    }

    pub(crate) fn i128(&mut self) -> Result<i128, DecodeError> {
        self.reader.i128()
    }

    pub(crate) fn offset(&self) -> usize {
        self.reader.offset()
    }

    /// The next `count` 64-bit words, shared.
    pub(crate) fn words<T: arrow::datatypes::ArrowNativeType>(
        &mut self,
        count: usize,
    ) -> Result<ScalarBuffer<T>, DecodeError> {
        self.reader.align_to(8)?;
        let offset = self.reader.offset();
        let length = count
            .checked_mul(size_of::<T>())
            .ok_or(DecodeError { offset, expected: "a count that fits the bytes" })?;
        let slice = self.bytes(length)?;
        if slice.as_ptr().align_offset(align_of::<T>()) != 0 {
            return Err(DecodeError { offset, expected: "an aligned section" });
        }
        Ok(ScalarBuffer::new(slice, 0, count))
    }

    /// The next `length` bytes, shared.
    pub(crate) fn bytes(&mut self, length: usize) -> Result<Buffer, DecodeError> {
        let offset = self.reader.offset();
        self.reader.raw(length)?;
        Ok(self.buffer.slice_with_length(offset, length))
    }

    pub(crate) fn align(&mut self) -> Result<(), DecodeError> {
        self.reader.align_to(8)
    }
}
