//! Choosing from a fixed list by weight, in constant time (Walker's alias method).
//!
//! - One multiplication, one comparison and one memory access per choice, whatever the list's length.

#![allow(
    clippy::cast_possible_truncation,
    reason = "buckets are counted in 32 bits: lists are short"
)]

use gadus_base::Random;

/// A list of weights, prepared for choosing.
#[derive(Debug)]
pub(crate) struct Weighted {
    /// For each bucket: the bar below which the bucket itself is chosen, and its alias above it.
    buckets: Vec<(u32, u32)>,
}

impl Weighted {
    /// Prepares `weights`, of which there is at least one and whose sum is above zero.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        assert!(total > 0.0, "weights without a sum choose nothing");
        let count = weights.len();
        let mut share: Vec<f64> = weights.iter().map(|w| w * count as f64 / total).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..count).partition(|index| share[*index] < 1.0);
        let mut buckets: Vec<(u32, u32)> = (0..count as u32).map(|own| (u32::MAX, own)).collect();
        while let (Some(low), Some(high)) = (small.pop(), large.last().copied()) {
            buckets[low] = ((share[low] * f64::from(u32::MAX)) as u32, high as u32);
            share[high] -= 1.0 - share[low];
            if share[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        Self { buckets }
    }

    /// Zipf's law over `count` ranks: the weight of rank r is 1 / (r + `flatness`).
    pub(crate) fn zipf(count: usize, flatness: f64) -> Self {
        let weights: Vec<f64> = (0..count).map(|rank| zipf_weight(rank, flatness)).collect();
        Self::new(&weights)
    }

    /// An index of the list.
    pub(crate) fn pick(&self, random: &mut Random) -> usize {
        let bits = random.next_u64();
        let bucket = (((bits >> 32) * self.buckets.len() as u64) >> 32) as usize;
        let (bar, alias) = self.buckets[bucket];
        if bits as u32 <= bar { bucket } else { alias as usize }
    }
}

/// The weight of a rank, from 0, by Zipf's law.
pub(crate) fn zipf_weight(rank: usize, flatness: f64) -> f64 {
    1.0 / (rank as f64 + flatness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_kept() {
        let weighted = Weighted::new(&[1.0, 0.0, 3.0]);
        let mut random = Random::seeded(1);
        let mut counts = [0_u32; 3];
        for _ in 0..40_000 {
            counts[weighted.pick(&mut random)] += 1;
        }
        assert!((9_500..10_500).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
    }
}
