//! Byte strings as numbers, which tell most of them apart.
//!
//! - Of neighbours in a column four at a time, where the processor can fetch four places at once
//!   ([`wide`]).

#[cfg(target_arch = "x86_64")]
mod wide;

/// Elsewhere strings are looked at one by one.
#[cfg(not(target_arch = "x86_64"))]
mod wide {
    pub(super) fn keys_of(_: &[u8], _: &[u64], _: &mut [u64]) -> usize {
        0
    }
}

use crate::encoding::code_index;

/// Bits by which the last bytes are turned, so that equal ones do not cancel out the first.
const TURN: u32 = 29;

/// The keys of strings that follow one another in `data`; `offsets` has one more than there are strings.
pub(super) fn keys_of(data: &[u8], offsets: &[u64], keys: &mut [u64]) {
    assert_eq!(offsets.len(), keys.len() + 1, "an end for each string");
    let done = wide::keys_of(data, offsets, keys);
    for (key, &[start, end]) in keys[done..].iter_mut().zip(offsets[done..].array_windows()) {
        let start = code_index(start.cast_signed());
        *key = key_at(data, start, code_index(end.cast_signed()) - start);
    }
}

/// The first and last eight bytes, and the length, in one number: what lies between is compared
/// afterwards.
pub(super) fn key_of_bytes(bytes: &[u8]) -> u64 {
    key_at(bytes, 0, bytes.len())
}

/// The same of a string within others: read without a branch on its length.
fn key_at(data: &[u8], start: usize, length: usize) -> u64 {
    let bits = u32::try_from(8 * length.min(8)).expect("at most 64");
    let kept = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
    let first = eight_bytes(data, start) & kept;
    let last = eight_bytes(data, start + length.saturating_sub(8)) & kept;
    first ^ last.rotate_left(TURN) ^ length as u64
}

/// Eight bytes, or zeros where there are no more.
fn eight_bytes(data: &[u8], at: usize) -> u64 {
    if let Some(bytes) = data.get(at..at + 8) {
        return u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    let rest = data.get(at..).unwrap_or_default();
    let mut padded = [0; 8];
    padded[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(padded)
}

#[cfg(test)]
mod tests;
