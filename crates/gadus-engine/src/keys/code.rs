//! What an index keeps of a row: a code of its values, and where it is.
//!
//! - Codes rise with the first column's values, but do not always differ where these do: of texts they know the
//!   first eight bytes. The hash of all values tells most of those apart.
//! - Hashes have 48 bits: ten million keys collide in one lookup of 2^48 / 10^7, about 28 million.

use crate::types::Datum;
use gadus_base::{ByteWriter, RowId, SegmentId, checksum};

/// Hash bits that an index keeps.
const HASH_BITS: u32 = 48;

/// The highest place: of NULLs, which stand behind all values.
const ORDER_OF_NULL: u64 = u64::MAX;

const SIGN: u64 = 1 << 63;

/// The hash of a key: equal keys have equal hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct KeyHash(pub(crate) u64);

impl KeyHash {
    /// The hash of the key columns' values.
    pub(crate) fn of<'a>(key: impl IntoIterator<Item = &'a Datum>) -> Self {
        let mut bytes = ByteWriter::new();
        for datum in key {
            match datum {
                // Values that compare equal must hash equally.
                Datum::Float(value) if *value == 0.0 => Datum::Float(0.0).encode(&mut bytes),
                Datum::Float(value) if value.is_nan() => Datum::Float(f64::NAN).encode(&mut bytes),
                other => other.encode(&mut bytes),
            }
        }
        Self(checksum(0, bytes.as_slice()) >> (64 - HASH_BITS))
    }
}

/// Where values stand in an index: first by their order, as far as the code knows it, then by their hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyCode {
    /// Rises with the first column's values; 0 in an index that has no order.
    pub(crate) order: u64,
    /// Of all values; 0 where the order alone tells them apart.
    pub(crate) hash: u64,
}

/// An entry of an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyEntry {
    pub(crate) code: KeyCode,
    /// See [`row_code`].
    pub(crate) row: u64,
}

/// A number that rises with values of one column: what is larger never has a smaller one. NULL has the largest.
pub(crate) fn order_of(datum: &Datum) -> u64 {
    match datum {
        Datum::Null => ORDER_OF_NULL,
        Datum::Integer(value) => value.cast_unsigned() ^ SIGN,
        Datum::Wide(value) => {
            let near =
                i64::try_from(**value).unwrap_or(if **value < 0 { i64::MIN } else { i64::MAX });
            near.cast_unsigned() ^ SIGN
        }
        Datum::Float(value) if value.is_nan() => ORDER_OF_NULL,
        Datum::Float(value) => {
            // 0.0 and -0.0 are one value.
            let bits = if *value == 0.0 { 0 } else { value.to_bits() };
            if bits & SIGN == 0 { bits | SIGN } else { !bits }
        }
        Datum::Bytes(bytes) => order_of_bytes(bytes),
    }
}

/// The first eight bytes, those that are missing as the smallest.
pub(crate) fn order_of_bytes(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let count = bytes.len().min(first.len());
    first[..count].copy_from_slice(&bytes[..count]);
    u64::from_be_bytes(first)
}

/// A row id in 48 bits: positions of a segment fit sixteen.
pub(crate) fn row_code(row: RowId) -> u64 {
    (u64::from(row.segment.0) << 16) | u64::from(row.position)
}

/// The inverse of [`row_code`].
pub(crate) fn row_of(code: u64) -> RowId {
    let segment = u32::try_from(code >> 16).unwrap_or(u32::MAX);
    RowId { segment: SegmentId(segment), position: u32::from((code & 0xFFFF) as u16) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_rise_with_values() {
        let rise = |values: &[Datum]| {
            let orders = values.iter().map(order_of).collect::<Vec<_>>();
            assert!(orders.is_sorted(), "{values:?}: {orders:?}");
        };
        rise(&[i64::MIN, -2, -1, 0, 1, 2, i64::MAX].map(Datum::Integer));
        rise(
            &[i128::MIN, -(1 << 70), -1, 0, 1, 1 << 70, i128::MAX]
                .map(|value| Datum::Wide(Box::new(value))),
        );
        let floats = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 1.5, f64::INFINITY, f64::NAN];
        rise(&floats.map(Datum::Float));
        rise(&["", "a", "aa", "ab", "abcdefgh", "abcdefghi", "b", "\u{ff}"].map(Datum::text));
        assert_eq!(order_of(&Datum::Float(-0.0)), order_of(&Datum::Float(0.0)));
        assert_eq!(order_of(&Datum::Null), u64::MAX);
    }
}
