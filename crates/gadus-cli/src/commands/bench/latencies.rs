//! How long each of many commits took, in few numbers that can be added.
//!
//! - Classes are five per cent wide: a percentile is right to that.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;

/// The width of a class. The Python peers use the same.
const CLASS_WIDTH: f64 = 1.05;

/// Latencies, counted by class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Latencies(BTreeMap<u32, u64>);

impl Latencies {
    pub(super) fn note(&mut self, latency: Duration) {
        self.note_microseconds(latency.as_secs_f64() * 1e6);
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below 600, from 0 on
    pub(super) fn note_microseconds(&mut self, latency: f64) {
        let class = (latency.max(1.0).ln() / CLASS_WIDTH.ln()) as u32;
        *self.0.entry(class).or_default() += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(class, count)| *self.0.entry(*class).or_default() += count);
    }

    pub(super) fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The latency that so large a share of all does not exceed, in milliseconds.
    #[allow(clippy::cast_precision_loss)] // counts of a few seconds
    pub(super) fn percentile_ms(&self, share: f64) -> f64 {
        let wanted = self.count() as f64 * share;
        let mut seen = 0;
        let class = self.0.iter().find(|(_, count)| {
            seen += **count;
            seen as f64 >= wanted
        });
        class.map_or(0.0, |(class, _)| CLASS_WIDTH.powf(f64::from(*class) + 1.0) / 1e3)
    }

    pub(super) fn to_json(&self) -> Value {
        json!(self.0.iter().collect::<Vec<_>>())
    }

    pub(super) fn from_json(value: &Value) -> Result<Self, Failure> {
        let classes: Vec<(u32, u64)> = serde_json::from_value(value.clone())
            .map_err(|error| Failure::message(format!("latencies: {error}: {value}")))?;
        Ok(Self(classes.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_the_width_of_a_class() {
        let mut latencies = Latencies::default();
        (1..=1000).for_each(|ms| latencies.note(Duration::from_millis(ms)));
        for (share, expected) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = latencies.percentile_ms(share);
            assert!((0.95..1.06).contains(&(found / expected)), "{share}: {found}");
        }
        let mut twice = Latencies::from_json(&latencies.to_json()).unwrap();
        twice.add(&latencies);
        assert_eq!(twice.count(), 2000);
        assert!((twice.percentile_ms(0.99) / latencies.percentile_ms(0.99) - 1.0).abs() < 0.01);
        assert!(Latencies::default().percentile_ms(0.99).abs() < 1e-9);
    }
}
