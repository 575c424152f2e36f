//! Bytes of a value, which sort as values do.
//!
//! - A key, and after it the display scale in 2 bytes, big-endian; 0 if the value is not finite.
//! - Equal values have equal keys, whatever their display scales are. Keys compare by memcmp as the values compare.
//! - A key ends itself: no key is the beginning of another, so that keys can be parts of longer ones.
//! - A value has one encoding; any other bytes are refused.
//!
//! A finite value that is not zero is `0.D1 D2 … × 100^E` with digits of base 100, of which neither the first nor the
//! last is 0. Each takes one byte.
//!
//! | bytes of a key, version 1 | value |
//! |---|---|
//! | `08` | negative infinity |
//! | complement of each byte of the absolute value's key | negative |
//! | `80` | zero |
//! | `81`, E + 8192 in 2 bytes big-endian, digits | positive, E < -20 |
//! | `82` to `E6`: 82 + 20 + E, digits | positive, E from -20 to 80 |
//! | `E7`, E - 81 in 2 bytes big-endian, digits | positive, E > 80 |
//! | `F7` | infinity |
//! | `F8` | NaN |
//!
//! A digit D is encoded as 2 D + 1 if another follows, and as 2 D if it is the last: a number sorts before those that
//! it is the beginning of.

mod read;
#[cfg(test)]
mod tests;
mod write;

/// Key of negative infinity.
const NEGATIVE_INFINITY: u8 = 0x08;
/// Key of zero; lower bytes begin keys of negative values.
const ZERO: u8 = 0x80;
/// First byte of a positive value with a wide exponent below those of one byte.
const TINY: u8 = 0x81;
/// First byte of a positive value with the least exponent of one byte.
const SMALLEST: u8 = 0x82;
/// First byte of a positive value with a wide exponent above those of one byte.
const HUGE: u8 = 0xE7;
/// Key of infinity.
const INFINITY: u8 = 0xF7;
/// Key of NaN.
const NAN: u8 = 0xF8;
/// Least exponent of one byte.
const EXPONENT_MIN: i32 = -20;
/// Greatest exponent of one byte.
const EXPONENT_MAX: i32 = 80;
/// Addend of exponents below those of one byte.
const TINY_BIAS: i32 = 8_192;
/// Bytes of the display scale.
const SCALE_BYTES: usize = 2;

const _: () = assert!(HUGE as i32 - SMALLEST as i32 == EXPONENT_MAX - EXPONENT_MIN + 1);
