//! A page of a key run: up to 2,048 entries sorted by hash.
//!
//! Byte table (version 1): version u8 | zero u8 × 7 | hashes, packed | row codes, packed.

use crate::encoding::{Packed, Sections};
use arrow::buffer::Buffer;
use gadus_base::{ByteWriter, DecodeError};

const VERSION: u8 = 1;

/// Entries of a page: about 16 KiB, read in one piece for one lookup.
pub(crate) const PAGE_ENTRIES: usize = 2_048;

/// An opened page, used in place.
#[derive(Debug)]
pub(crate) struct KeyPage {
    hashes: Packed,
    rows: Packed,
    bytes: usize,
}

impl KeyPage {
    /// The page's blob for entries (hash, row code) in order.
    pub(crate) fn encode(entries: &[(u64, u64)]) -> Vec<u8> {
        let column = |pick: fn(&(u64, u64)) -> u64| {
            entries.iter().map(|entry| pick(entry).cast_signed()).collect::<Vec<_>>()
        };
        let mut to = ByteWriter::new();
        to.u64(u64::from(VERSION));
        Packed::write_slice(&mut to, &column(|entry| entry.0));
        Packed::write_slice(&mut to, &column(|entry| entry.1));
        to.finish()
    }

    pub(crate) fn open(buffer: &Buffer) -> Result<Self, DecodeError> {
        let mut from = Sections::new(buffer);
        if from.i64()? != i64::from(VERSION) {
            return Err(DecodeError { offset: 0, expected: "a key page of version 1" });
        }
        let hashes = Packed::read(&mut from)?;
        let rows = Packed::read(&mut from)?;
        if hashes.count() != rows.count() {
            return Err(DecodeError { offset: 8, expected: "a row for each hash" });
        }
        Ok(Self { hashes, rows, bytes: buffer.len() })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.hashes.count()
    }

    pub(crate) fn entry(&self, index: usize) -> (u64, u64) {
        (self.hashes.get(index).cast_unsigned(), self.rows.get(index).cast_unsigned())
    }

    /// All entries (hash, row code), in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// The first entry whose hash is not below `hash`.
    pub(crate) fn lower_bound(&self, hash: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.hashes.get(middle).cast_unsigned() < hash {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
