//! References to what the data file holds, and the bytes behind them.
//!
//! An *extent* is a contiguous range of the data file, in units of 4 KiB; it holds *blobs*, each
//! at a multiple of 64 bytes. Nothing is stored about an extent in the file itself: who names it
//! keeps its reference.
//!
//! Extent reference, version 1, 24 bytes, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | offset in the file |
//! | 8..16 | length |
//! | 16..24 | id; 0 means "none" |
//!
//! Blob reference, version 1, 32 bytes, little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | id |
//! | 8..16 | offset in the file |
//! | 16..24 | length |
//! | 24..32 | XXH3 of the bytes, seeded by id and offset |
//!
//! - The checksum lies in the reference, not beside the bytes: a lost or misdirected write leaves
//!   old bytes that would carry an old, valid checksum of their own.
//! - Extents and their blobs take their ids from one counter: an extent of `n` bytes with id `i`
//!   uses ids below `i + 1 + n / 64`. An id that anything durable names is never given again.

use gadus_base::{ByteReader, ByteWriter, DecodeError, checksum};
use gadus_block::AlignedBuffer;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Unit and alignment of extents: pages of the system, so that extents share none.
pub const EXTENT_UNIT_BYTES: u64 = 4096;

/// Alignment of blobs, in the file and in memory: a cache line, and what vector code expects.
pub(crate) const BLOB_ALIGNMENT_BYTES: u64 = 64;

/// A contiguous range of the data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExtentRef {
    /// Where it begins.
    pub offset: u64,
    /// Its length, a multiple of 4 KiB.
    pub bytes: u64,
    /// Its id, for ever.
    pub id: u64,
}

/// A blob in an extent, and the checksum of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlobRef {
    /// Its id, for ever.
    pub id: u64,
    /// Where it begins, a multiple of 64.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Of its bytes at its place.
    pub checksum: u64,
}

/// The verified bytes of a blob, at an address that is a multiple of 64; clones share them.
#[derive(Debug, Clone)]
pub struct Blob(Arc<AlignedBuffer>);

impl ExtentRef {
    /// Encoded length.
    pub const BYTES: usize = 24;

    pub(crate) const NONE: Self = Self { offset: 0, bytes: 0, id: 0 };

    /// One past its last byte; the largest number when the reference is nonsense.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// The ids that it and its blobs may have.
    #[must_use]
    pub fn ids(&self) -> Range<u64> {
        self.id..self.ids_end()
    }

    /// One past the last id that it or its blobs may have.
    pub(crate) fn ids_end(&self) -> u64 {
        self.id.saturating_add(1).saturating_add(self.bytes / BLOB_ALIGNMENT_BYTES)
    }

    /// Appends the encoded reference.
    pub fn encode(&self, writer: &mut ByteWriter) {
        writer.u64(self.offset);
        writer.u64(self.bytes);
        writer.u64(self.id);
    }

    /// Reads an encoded reference; what it names is verified when it is used.
    ///
    /// # Errors
    /// When the bytes end before.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { offset: reader.u64()?, bytes: reader.u64()?, id: reader.u64()? })
    }
}

impl BlobRef {
    /// Encoded length.
    pub const BYTES: usize = 32;

    pub(crate) const NONE: Self = Self { id: 0, offset: 0, bytes: 0, checksum: 0 };

    pub(crate) fn of(id: u64, offset: u64, content: &[u8]) -> Self {
        let checksum = checksum(place(id, offset), content);
        Self { id, offset, bytes: content.len() as u64, checksum }
    }

    pub(crate) fn matches(&self, content: &[u8]) -> bool {
        Self::of(self.id, self.offset, content) == *self
    }

    /// One past its last byte; the largest number when the reference is nonsense.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }

    /// Appends the encoded reference.
    pub fn encode(&self, writer: &mut ByteWriter) {
        writer.u64(self.id);
        writer.u64(self.offset);
        writer.u64(self.bytes);
        writer.u64(self.checksum);
    }

    /// Reads an encoded reference; what it names is verified when it is read.
    ///
    /// # Errors
    /// When the bytes end before.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            id: reader.u64()?,
            offset: reader.u64()?,
            bytes: reader.u64()?,
            checksum: reader.u64()?,
        })
    }
}

/// Seeds a blob's checksum; the odd factor keeps ids and offsets from cancelling each other.
fn place(id: u64, offset: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ offset
}

impl Blob {
    pub(crate) fn new(bytes: AlignedBuffer) -> Self {
        Self(Arc::new(bytes))
    }
}

impl Deref for Blob {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
