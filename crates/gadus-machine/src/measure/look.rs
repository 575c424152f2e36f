//! What it takes to look again whether something has changed.

use gadus_base::clock;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Looks between two looks at the clock, and how often: the fastest was not interrupted.
const LOOKS: u32 = 500;
const ROUNDS: usize = 5;

/// The time of a look at a word that nobody changes, with the pause that the processor wants between two.
#[must_use]
pub fn measure_look() -> Duration {
    let word = AtomicU64::new(0);
    let round = |_| {
        let began = clock().now();
        for _ in 0..LOOKS {
            black_box(black_box(&word).load(Ordering::Relaxed));
            spin_loop();
        }
        began.elapsed() / LOOKS
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_takes_some_time_and_less_than_a_sleep() {
        let look = measure_look();
        assert!(!look.is_zero() && look < Duration::from_millis(1), "{look:?}");
    }
}
