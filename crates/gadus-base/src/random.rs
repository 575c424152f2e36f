//! Randomness: seeded where it must repeat, from the system where it must not.
//!
//! - Not for secrets.

use std::hash::{BuildHasher, RandomState};

/// A small, fast generator (SplitMix64): the same seed gives the same numbers on every machine.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of `seed`.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A sequence that no other run has: seeded by the system's randomness.
    #[must_use]
    pub fn from_system() -> Self {
        Self::seeded(RandomState::new().hash_one(std::process::id()))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        crate::strict_assert!(bound > 0, "a bound is at least 1");
        // The upper half of the product maps 64 bits to the range without a division; its bias is
        // below bound / 2^64.
        let product = u128::from(self.next_u64()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit a double exactly
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A generator whose sequence does not depend on how many numbers this one has given:
    /// the `index`-th child of this seed.
    #[must_use]
    pub fn child(&self, index: u64) -> Self {
        let mut seed = Self::seeded(self.state ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self::seeded(seed.next_u64())
    }
}
