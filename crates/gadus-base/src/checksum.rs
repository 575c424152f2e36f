//! The checksum of every durable byte: XXH3 with 64 bits.
//!
//! - A checksum is seeded by the *place* of its bytes (an id, a position), so that bytes of another
//!   place never pass, however intact they are.
//! - XXH3 runs near memory speed on every target; it guards against faults, not against forgers.

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

/// Checksum of `bytes` that belong at `place`.
#[must_use]
pub fn checksum(place: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, place)
}

/// A checksum over bytes that come in pieces; equal to [`checksum`] over their concatenation.
pub struct Checksum(Xxh3);

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Checksum({:016x})", self.finish())
    }
}

impl Checksum {
    /// An empty checksum for `place`.
    #[must_use]
    pub fn new(place: u64) -> Self {
        Self(Xxh3::with_seed(place))
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes added.
    #[must_use]
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}
