//! A page of a key run: up to 2,048 entries in order.
//!
//! Byte table (version 2): version u8 | zero u8 × 7 | orders, packed | hashes, packed | row codes, packed.
//! Version ladder: version 1 has no orders, which are 0 then; it is written where they all are.

use super::{KeyCode, KeyEntry};
use crate::encoding::{Packed, Sections};
use arrow::buffer::Buffer;
use gadus_base::{ByteWriter, DecodeError};

const VERSION: u8 = 2;
const VERSION_WITHOUT_ORDER: u8 = 1;

/// Entries of a page: about 16 KiB, read in one piece for one lookup.
pub(crate) const PAGE_ENTRIES: usize = 2_048;

/// An opened page, used in place.
#[derive(Debug)]
pub(crate) struct KeyPage {
    orders: Option<Packed>,
    hashes: Packed,
    rows: Packed,
    bytes: usize,
}

impl KeyPage {
    /// The page's blob for entries in order.
    pub(crate) fn encode(entries: &[KeyEntry]) -> Vec<u8> {
        let column = |pick: fn(&KeyEntry) -> u64| {
            entries.iter().map(|entry| pick(entry).cast_signed()).collect::<Vec<_>>()
        };
        let has_order = entries.iter().any(|entry| entry.code.order != 0);
        let mut to = ByteWriter::new();
        to.u64(u64::from(if has_order { VERSION } else { VERSION_WITHOUT_ORDER }));
        if has_order {
            Packed::write_slice(&mut to, &column(|entry| entry.code.order));
        }
        Packed::write_slice(&mut to, &column(|entry| entry.code.hash));
        Packed::write_slice(&mut to, &column(|entry| entry.row));
        to.finish()
    }

    pub(crate) fn open(buffer: &Buffer) -> Result<Self, DecodeError> {
        let mut from = Sections::new(buffer);
        let version = from.i64()?;
        let orders = if version == i64::from(VERSION) {
            Some(Packed::read(&mut from)?)
        } else if version == i64::from(VERSION_WITHOUT_ORDER) {
            None
        } else {
            return Err(DecodeError { offset: 0, expected: "a key page of version 1 or 2" });
        };
        let hashes = Packed::read(&mut from)?;
        let rows = Packed::read(&mut from)?;
        let count = rows.count();
        if hashes.count() != count || orders.as_ref().is_some_and(|orders| orders.count() != count)
        {
            return Err(DecodeError { offset: 8, expected: "a row for each code" });
        }
        Ok(Self { orders, hashes, rows, bytes: buffer.len() })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.hashes.count()
    }

    pub(crate) fn code(&self, index: usize) -> KeyCode {
        KeyCode {
            order: self.orders.as_ref().map_or(0, |orders| orders.get(index).cast_unsigned()),
            hash: self.hashes.get(index).cast_unsigned(),
        }
    }

    pub(crate) fn entry(&self, index: usize) -> KeyEntry {
        KeyEntry { code: self.code(index), row: self.rows.get(index).cast_unsigned() }
    }

    /// All entries in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = KeyEntry> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// The first entry whose code is not below this one.
    pub(crate) fn lower_bound(&self, code: KeyCode) -> usize {
        self.first_where(|there| there >= code)
    }

    /// The first entry whose code is above this one.
    pub(crate) fn upper_bound(&self, code: KeyCode) -> usize {
        self.first_where(|there| there > code)
    }

    /// The first entry of which this holds, as of all behind it.
    fn first_where(&self, holds: impl Fn(KeyCode) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if holds(self.code(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}
