//! Hashing, by value: 1.1 and 1.10 have one hash.

use super::{Numeric, Repr};
use std::hash::{Hash, Hasher};

impl Hash for Numeric {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.trim_scale().0 {
            Repr::Small { unscaled, scale } => (0_u8, unscaled, scale).hash(state),
            Repr::Large { unscaled, scale } => (1_u8, unscaled, scale).hash(state),
            Repr::Infinity => 2_u8.hash(state),
            Repr::NegativeInfinity => 3_u8.hash(state),
            Repr::Nan => 4_u8.hash(state),
        }
    }
}
