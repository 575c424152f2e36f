//! Digests of byte strings.

use crate::error::{Result, check_interrupt};
use sha2::Digest;

/// Bytes between looks at cancellation: a few milliseconds.
const PIECE_BYTES: usize = 1 << 20;

/// Returns MD5 as 32 hexadecimal digits, for checksums; it resists no attack.
///
/// # Errors
/// 57014 if the statement was cancelled.
pub fn md5(value: &[u8]) -> Result<String> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let bytes = digest::<md5::Md5>(value)?;
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

/// Returns the 28 bytes of SHA-224.
///
/// # Errors
/// 57014 if the statement was cancelled.
pub fn sha224(value: &[u8]) -> Result<Vec<u8>> {
    digest::<sha2::Sha224>(value)
}

/// Returns the 32 bytes of SHA-256.
///
/// # Errors
/// 57014 if the statement was cancelled.
pub fn sha256(value: &[u8]) -> Result<Vec<u8>> {
    digest::<sha2::Sha256>(value)
}

/// Returns the 48 bytes of SHA-384.
///
/// # Errors
/// 57014 if the statement was cancelled.
pub fn sha384(value: &[u8]) -> Result<Vec<u8>> {
    digest::<sha2::Sha384>(value)
}

/// Returns the 64 bytes of SHA-512.
///
/// # Errors
/// 57014 if the statement was cancelled.
pub fn sha512(value: &[u8]) -> Result<Vec<u8>> {
    digest::<sha2::Sha512>(value)
}

fn digest<D: Digest>(value: &[u8]) -> Result<Vec<u8>> {
    let mut digest = D::new();
    for piece in value.chunks(PIECE_BYTES) {
        check_interrupt()?;
        digest.update(piece);
    }
    Ok(digest.finalize().to_vec())
}
