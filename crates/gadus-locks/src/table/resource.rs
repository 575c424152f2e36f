//! What can be locked, as a key of 128 bits.
//!
//! | bits of `high` | content |
//! |---|---|
//! | 56..64 | kind |
//! | 32..48 | index of the table, for keys |
//! | 0..32 | table |
//!
//! `low` is the segment, the row, the commit or the hash of the key. A named resource has its name,
//! of up to fifteen bytes, or the hash of a longer one, in all bits but the kind's.
//!
//! - A key of zero is none: fresh shared memory names no resource.
//! - Kinds are numbers of the shared format.

use gadus_base::{CommitNumber, RowId, SegmentId, TableId};
use std::fmt;
use std::hash::Hasher;

const DATABASE: u8 = 1;
const TABLE: u8 = 2;
const SEGMENT: u8 = 3;
const ROW: u8 = 4;
const TRANSACTION: u8 = 5;
const KEY: u8 = 6;
const NAMED: u8 = 7;
const NAMED_BY_HASH: u8 = 8;

const NAME_BYTES: usize = 15;

/// Something that can be locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    high: u64,
    low: u64,
}

impl Resource {
    /// The whole database.
    #[must_use]
    pub const fn database() -> Self {
        Self { high: kind_bits(DATABASE), low: 0 }
    }

    /// A table.
    #[must_use]
    pub const fn table(table: TableId) -> Self {
        Self { high: kind_bits(TABLE) | table.0 as u64, low: 0 }
    }

    /// A segment of a table.
    #[must_use]
    pub const fn segment(table: TableId, segment: SegmentId) -> Self {
        Self { high: kind_bits(SEGMENT) | table.0 as u64, low: segment.0 as u64 }
    }

    /// A row of a table.
    #[must_use]
    pub fn row(table: TableId, row: RowId) -> Self {
        Self { high: kind_bits(ROW) | u64::from(table.0), low: row.to_u64() }
    }

    /// The transaction that has, or will have, this number.
    #[must_use]
    pub const fn transaction(number: CommitNumber) -> Self {
        Self { high: kind_bits(TRANSACTION), low: number.0 }
    }

    /// A key, or a range of keys, of the `index`-th index of a table, by its hash.
    #[must_use]
    pub fn key(table: TableId, index: u16, hash: u64) -> Self {
        Self { high: kind_bits(KEY) | u64::from(index) << 32 | u64::from(table.0), low: hash }
    }

    /// Whatever users agree to call by a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let bytes = name.as_bytes();
        // A name with a zero in it could not be told from a shorter one.
        if bytes.len() <= NAME_BYTES && !bytes.contains(&0) {
            let mut key = [0; 16];
            key[1..=bytes.len()].copy_from_slice(bytes);
            key[0] = NAMED;
            let key = u128::from_be_bytes(key);
            return Self { high: high_half(key), low: low_half(key) };
        }
        let start = (mix(bytes.len() as u64), mix(!0));
        let (high, low) = bytes.chunks(8).fold(start, |(high, low), chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_le_bytes(word);
            (mix(high ^ word), mix(low.rotate_left(29) ^ word))
        });
        Self { high: kind_bits(NAMED_BY_HASH) | high >> 8, low }
    }

    /// The table that it is, or is part of.
    #[must_use]
    pub fn table_id(self) -> Option<TableId> {
        let is_within = matches!(self.kind(), TABLE | SEGMENT | ROW | KEY);
        is_within.then(|| TableId(u32::try_from(self.high & 0xFFFF_FFFF).unwrap_or(0)))
    }

    /// The table, if this is one.
    pub(super) fn as_table(self) -> Option<TableId> {
        let table = TableId(u32::try_from(self.high & 0xFFFF_FFFF).unwrap_or(0));
        (self.kind() == TABLE && self == Self::table(table)).then_some(table)
    }

    /// Whether it is a row of a segment.
    pub(super) fn is_in_segment(self, table: TableId, segment: SegmentId) -> bool {
        self.kind() == ROW
            && self.high == kind_bits(ROW) | u64::from(table.0)
            && RowId::from_u64(self.low).segment == segment
    }

    /// Whether it is a row or a segment of a table.
    pub(super) fn is_within_table(self, table: TableId) -> bool {
        matches!(self.kind(), ROW | SEGMENT) && self.high & 0xFFFF_FFFF == u64::from(table.0)
    }

    /// Whether it has a value block: few and long-lived ones do.
    pub(super) fn may_have_value(self) -> bool {
        matches!(self.kind(), DATABASE | TABLE | SEGMENT | NAMED | NAMED_BY_HASH)
    }

    /// The two words of the key.
    #[inline]
    pub(super) fn words(self) -> (u64, u64) {
        (self.high, self.low)
    }

    /// The resource that two words name.
    pub(super) fn from_words(high: u64, low: u64) -> Option<Self> {
        let resource = Self { high, low };
        (DATABASE..=NAMED_BY_HASH).contains(&resource.kind()).then_some(resource)
    }

    /// The words multiplied, and the halves of the product put together. The constants are digits of
    /// pi; no kind of resource is that of the first, so neither factor is zero for more than one `low`.
    #[inline]
    pub(super) fn hash(self) -> u64 {
        let one = self.high ^ 0x243F_6A88_85A3_08D3;
        let other = self.low ^ 0x1319_8A2E_0370_7344;
        let product = u128::from(one) * u128::from(other);
        high_half(product) ^ low_half(product)
    }

    fn kind(self) -> u8 {
        self.high.to_be_bytes()[0]
    }
}

impl std::hash::Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(Self::hash(*self));
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.high & 0xFFFF_FFFF;
        match self.kind() {
            DATABASE => f.write_str("the database"),
            TABLE => write!(f, "table {table}"),
            SEGMENT => write!(f, "segment {} of table {table}", self.low),
            ROW => {
                let row = RowId::from_u64(self.low);
                write!(f, "row {} of {} of table {table}", row.position, row.segment)
            }
            TRANSACTION => write!(f, "transaction {}", self.low),
            KEY => {
                let index = (self.high >> 32) & 0xFFFF;
                write!(f, "key {:016x} of index {index} of table {table}", self.low)
            }
            NAMED => {
                let key = u128::from(self.high) << 64 | u128::from(self.low);
                let bytes = key.to_be_bytes();
                let name = String::from_utf8_lossy(&bytes[1..]);
                write!(f, "'{}'", name.trim_end_matches('\0').escape_debug())
            }
            NAMED_BY_HASH => write!(f, "the named lock {:014x}", self.high << 8 >> 8),
            kind => write!(f, "a resource of unknown kind {kind}"),
        }
    }
}

/// Keys are hashes already.
#[derive(Debug, Default)]
pub(super) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("resources hash to one number");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

const fn kind_bits(kind: u8) -> u64 {
    (kind as u64) << 56
}

const fn high_half(key: u128) -> u64 {
    (key >> 64) as u64
}

#[allow(clippy::cast_possible_truncation)] // the lower half is meant
fn low_half(key: u128) -> u64 {
    key as u64
}

/// Spreads every bit over all (SplitMix64's last step).
#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests;
