//! Functions of byte strings: single bits and bytes, counts, digests, parts, texts.

mod digests;
mod encodings;
mod parts;
#[cfg(test)]
mod tests;
mod texts;

pub use digests::{md5, sha224, sha256, sha384, sha512};
pub use encodings::{decode, encode, escapes};
pub use parts::{like, like_escape, overlay, position, substring, trim};
pub use texts::{read_bytes, write_bytes};

use crate::error::{FunctionError, INVALID_PARAMETER, INVALID_POSITION, Result};

/// Returns the byte at an offset from 0.
///
/// # Errors
/// 2202E if the offset is outside of the value.
pub fn get_byte(value: &[u8], offset: i32) -> Result<i32> {
    let index = byte_index(value, offset)?;
    Ok(i32::from(value[index]))
}

/// Replaces the byte at an offset from 0 by the lowest eight bits of another.
///
/// # Errors
/// 2202E if the offset is outside of the value.
pub fn set_byte(value: &[u8], offset: i32, new: i32) -> Result<Vec<u8>> {
    let index = byte_index(value, offset)?;
    let mut changed = value.to_vec();
    changed[index] = new.to_le_bytes()[0];
    Ok(changed)
}

/// Returns the bit at an offset from 0, which counts from the lowest bit of each byte.
///
/// # Errors
/// 2202E if the offset is outside of the value.
pub fn get_bit(value: &[u8], offset: i64) -> Result<i32> {
    let (index, bit) = bit_index(value, offset)?;
    Ok(i32::from(value[index] >> bit & 1))
}

/// Replaces the bit at an offset from 0.
///
/// # Errors
/// 2202E if the offset is outside of the value, 22023 if the new bit is neither 0 nor 1.
pub fn set_bit(value: &[u8], offset: i64, new: i32) -> Result<Vec<u8>> {
    let (index, bit) = bit_index(value, offset)?;
    let mut changed = value.to_vec();
    match new {
        0 => changed[index] &= !(1 << bit),
        1 => changed[index] |= 1 << bit,
        _ => return Err(FunctionError::new(INVALID_PARAMETER, "new bit must be 0 or 1")),
    }
    Ok(changed)
}

/// Returns the number of bits that are set.
#[must_use]
pub fn bit_count(value: &[u8]) -> i64 {
    value.iter().map(|byte| i64::from(byte.count_ones())).sum()
}

fn byte_index(value: &[u8], offset: i32) -> Result<usize> {
    let index = usize::try_from(offset).ok().filter(|index| *index < value.len());
    index.ok_or_else(|| outside(offset.into(), value.len()))
}

fn bit_index(value: &[u8], offset: i64) -> Result<(usize, usize)> {
    let index = usize::try_from(offset).ok().filter(|index| index / 8 < value.len());
    let index = index.ok_or_else(|| outside(offset, value.len() * 8))?;
    Ok((index / 8, index % 8))
}

fn outside(offset: i64, length: usize) -> FunctionError {
    let last = i64::try_from(length).unwrap_or(i64::MAX) - 1;
    let message = format!("index {offset} out of valid range, 0..{last}");
    FunctionError::new(INVALID_POSITION, message)
}
