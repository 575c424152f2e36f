//! What is said of a row of figures: median, spread, percentiles, and the interval of a ratio.
//!
//! - Nothing is thrown away: medians bear what disturbs a few batches.
//! - Intervals are the middle 95 % of a bootstrap. Of a ratio, rounds are drawn whole, because what disturbs one
//!   contestant in a round disturbs the other, too. Of several sittings, sittings are drawn first and rounds within
//!   them: where files and memory come to lie is the same for all rounds of one, and another the next time.
//! - The same figures always give the same interval: draws are seeded.

use crate::numbers::{figure_of, size, whole};
use gadus_base::Random;
use std::ops::Range;

/// Draws of a bootstrap: enough for two digits of its bounds.
const DRAWS: usize = 1000;

/// What is said of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// How many there are.
    pub count: usize,
    /// The middle one.
    pub median: f64,
    /// The median distance from the median.
    pub deviation: f64,
    /// The least.
    pub least: f64,
    /// A tenth is at most this.
    pub p10: f64,
    /// A tenth is more than this.
    pub p90: f64,
    /// A hundredth is more than this.
    pub p99: f64,
    /// The bounds of the median's 95 % interval.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

/// How many times dearer one is than another, with the bounds of the 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Of the medians, or the median of the rounds'.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Summary {
    /// Of some figures; without any, all is unknown.
    #[must_use]
    pub fn of(figures: &[f64]) -> Self {
        Self::of_sittings(figures, &[figures.len()])
    }

    /// Of figures of several sittings, by how many each has.
    #[must_use]
    pub fn of_sittings(figures: &[f64], sittings: &[usize]) -> Self {
        let sorted = sorted(figures.to_vec());
        let median = middle(&sorted);
        let distances = sorted.iter().map(|figure| (figure - median).abs()).collect();
        let drawn = draw(figures.len(), sittings, |picks| {
            middle(&self::sorted(picks.iter().map(|pick| figures[*pick]).collect()))
        });
        let (low, high) = middle_95(&drawn);
        Self {
            count: sorted.len(),
            median,
            deviation: middle(&self::sorted(distances)),
            least: sorted.first().copied().unwrap_or(f64::NAN),
            p10: percentile(&sorted, 0.10),
            p90: percentile(&sorted, 0.90),
            p99: percentile(&sorted, 0.99),
            low,
            high,
        }
    }
}

impl Ratio {
    /// Of one row of figures to another, round by round.
    #[must_use]
    pub fn of(one: &[f64], other: &[f64]) -> Self {
        Self::of_sittings(one, other, &[one.len()])
    }

    /// The same of several sittings, by how many rounds each has.
    #[must_use]
    pub fn of_sittings(one: &[f64], other: &[f64], sittings: &[usize]) -> Self {
        let rounds = one.len().min(other.len());
        let of = |figures: &[f64], picks: &[usize]| {
            middle(&sorted(picks.iter().map(|pick| figures[*pick]).collect()))
        };
        let all = (0..rounds).collect::<Vec<_>>();
        let value = of(one, &all) / of(other, &all);
        let drawn = draw(rounds, sittings, |picks| of(one, picks) / of(other, picks));
        let (low, high) = middle_95(&drawn);
        Self { value, low, high }
    }

    /// The median of the rounds' ratios: the nearer one where rounds differ from each other more than contestants do within
    /// one.
    #[must_use]
    pub fn of_pairs(one: &[f64], other: &[f64]) -> Self {
        let ratios = one.iter().zip(other).map(|(one, other)| one / other).collect::<Vec<_>>();
        let Summary { median, low, high, .. } = Summary::of(&ratios);
        Self { value: median, low, high }
    }

    /// Half the interval, as a share of the ratio.
    #[must_use]
    pub fn uncertainty(self) -> f64 {
        (self.high - self.low) / 2.0 / self.value
    }

    /// Whether the interval has no value in common with another.
    #[must_use]
    pub fn differs_from(self, other: Self) -> bool {
        self.low > other.high || other.low > self.high
    }
}

/// The middle one; the mean of the two middle ones of an even count.
#[must_use]
pub fn median(figures: &[f64]) -> f64 {
    middle(&sorted(figures.to_vec()))
}

fn sorted(mut figures: Vec<f64>) -> Vec<f64> {
    figures.sort_by(f64::total_cmp);
    figures
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The smallest figure that a share of all does not exceed.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = size(whole((figure_of(sorted.len()) * share).ceil())).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// What a figure is of rounds drawn again, with replacement: as many sittings as there are, and as many rounds of each
/// as it has.
fn draw(rounds: usize, sittings: &[usize], mut figure: impl FnMut(&[usize]) -> f64) -> Vec<f64> {
    let ranges = ranges(rounds, sittings);
    if ranges.is_empty() {
        return Vec::new();
    }
    let mut random = Random::seeded(1);
    let mut picks = Vec::with_capacity(rounds);
    let mut one = || {
        picks.clear();
        for _ in 0..ranges.len() {
            let sitting = &ranges[size(random.below(ranges.len() as u64))];
            let length = sitting.len() as u64;
            picks.extend(sitting.clone().map(|_| sitting.start + size(random.below(length))));
        }
        figure(&picks)
    };
    sorted((0..DRAWS).map(|_| one()).collect())
}

/// The rounds of each sitting that has some, up to a number of rounds.
fn ranges(rounds: usize, sittings: &[usize]) -> Vec<Range<usize>> {
    let mut first = 0;
    let range = |count: &usize| {
        let range = first.min(rounds)..(first + count).min(rounds);
        first += count;
        range
    };
    sittings.iter().map(range).filter(|range| !range.is_empty()).collect()
}

fn middle_95(drawn: &[f64]) -> (f64, f64) {
    let cut = drawn.len() / 40;
    let at = |place: usize| drawn.get(place).copied().unwrap_or(f64::NAN);
    (at(cut), at(drawn.len().saturating_sub(1 + cut)))
}

#[cfg(test)]
mod tests;
