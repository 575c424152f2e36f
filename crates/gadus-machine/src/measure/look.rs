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
    of_rounds(|| {
        let began = clock().now();
        for _ in 0..LOOKS {
            look_at(&word);
        }
        began.elapsed()
    })
}

fn look_at(word: &AtomicU64) {
    black_box(black_box(word).load(Ordering::Relaxed));
    spin_loop();
}

/// A look of the fastest round of `LOOKS`.
fn of_rounds(mut round: impl FnMut() -> Duration) -> Duration {
    let rounds = (0..ROUNDS).map(|_| round());
    rounds.min().unwrap_or_default() / LOOKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_a_part_of_the_round_that_nobody_interrupted() {
        let mut rounds = [900, 20, 15, 4_000, 17].into_iter();
        let look = of_rounds(|| Duration::from_micros(rounds.next().expect("one for each round")));
        assert_eq!(look, Duration::from_nanos(30), "15 µs are 500 looks of 30 ns");
        assert_eq!(rounds.next(), None, "all rounds were made");
    }
}
