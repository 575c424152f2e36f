//! A hash of page and lock numbers: one multiplication, as pools of pages have it.
//!
//! - The library's own guards against forged keys, which nobody gives here, and takes several times as long: with it
//!   the user-mode side would do more than its part.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by numbers.
pub(crate) type NumberMap<V> = HashMap<u64, V, BuildHasherDefault<NumberHasher>>;

/// Fibonacci's hash.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        // The table takes its place from the lowest bits, and its mark from the highest.
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_one_another_come_to_lie_apart() {
        let map = (0..10_000_u64).map(|number| (number * 8, number)).collect::<NumberMap<_>>();
        assert!((0..10_000).all(|number| map.get(&(number * 8)) == Some(&number)));
        let hash = |number: u64| {
            let mut hasher = NumberHasher::default();
            hasher.write_u64(number);
            hasher.finish()
        };
        let low = (0..1024).map(|number| hash(number * 8) & 1023);
        let apart = low.collect::<std::collections::HashSet<_>>().len();
        assert!(apart > 500, "{apart} of 1024 places");
    }
}
