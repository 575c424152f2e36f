//! How long passes of a table take, learned from those that were made.
//!
//! - A pass takes a constant for its columns, and something for each statement: the line of least squares
//!   through the passes so far, of which older ones count less and less.

use gadus_base::TableId;
use std::collections::HashMap;
use std::time::Duration;

/// The pace of each table that was asked about.
pub(super) type Paces = HashMap<TableId, Pace>;

/// What a pass counts after one more.
const KEPT: f64 = 0.9;

/// Until passes of different sizes are known, this part of their time is taken for the constant.
const CONSTANT_PART: f64 = 0.5;

/// Sums over the passes so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    passes: f64,
    statements: f64,
    statements_squared: f64,
    seconds: f64,
    statements_times_seconds: f64,
}

impl Pace {
    /// A pass was made.
    #[allow(clippy::cast_precision_loss)] // small counts
    pub(super) fn note(&mut self, statements: usize, took: Duration) {
        let (count, seconds) = (statements as f64, took.as_secs_f64());
        let add = |sum: &mut f64, value: f64| *sum = *sum * KEPT + value;
        add(&mut self.passes, 1.0);
        add(&mut self.statements, count);
        add(&mut self.statements_squared, count * count);
        add(&mut self.seconds, seconds);
        add(&mut self.statements_times_seconds, count * seconds);
    }

    /// About how long a pass of so many takes.
    #[allow(clippy::cast_precision_loss)] // small counts
    pub(super) fn pass_of(&self, statements: usize) -> Duration {
        let (constant, each) = self.line();
        Duration::try_from_secs_f64(constant + each * statements as f64).unwrap_or_default()
    }

    /// How many statements a pass may have that is to take so long; none where it takes longer
    /// whatever it has.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
    pub(super) fn statements_within(&self, time: Duration) -> usize {
        let (constant, each) = self.line();
        let left = time.as_secs_f64() - constant;
        if left < each { 0 } else { (left / each.max(1e-12)) as usize }
    }

    /// Seconds of a pass, and of each statement more.
    fn line(&self) -> (f64, f64) {
        if self.passes <= 0.0 || self.statements <= 0.0 {
            return (0.0, 0.0);
        }
        let (mean, seconds) = (self.statements / self.passes, self.seconds / self.passes);
        let variance = self.statements_squared / self.passes - mean * mean;
        let covariance = self.statements_times_seconds / self.passes - mean * seconds;
        // Sizes that hardly differ say nothing of what they cost.
        let is_known = variance > (0.05 * mean).powi(2);
        let each = if is_known { covariance / variance } else { seconds / mean * CONSTANT_PART };
        let each = each.clamp(0.0, seconds / mean);
        (seconds - each * mean, each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(passes: &[(usize, u64)]) -> Pace {
        let mut pace = Pace::default();
        for &(statements, milliseconds) in passes {
            pace.note(statements, Duration::from_millis(milliseconds));
        }
        pace
    }

    fn milliseconds(time: Duration) -> u128 {
        (time.as_micros() + 500) / 1_000
    }

    #[test]
    fn passes_are_a_constant_and_something_for_each_statement() {
        let pace = after(&[(100, 30), (1_000, 120), (10, 21), (500, 70)]);
        assert_eq!(milliseconds(pace.pass_of(2_000)), 220);
        assert_eq!(milliseconds(pace.pass_of(0)), 20);
        assert_eq!((pace.statements_within(Duration::from_millis(100)) + 5) / 10, 80);
        assert_eq!(pace.statements_within(Duration::from_millis(19)), 0);
    }

    #[test]
    fn passes_of_one_size_say_what_such_a_pass_takes() {
        let pace = after(&[(200, 50); 20]);
        assert_eq!(milliseconds(pace.pass_of(200)), 50);
        assert!(milliseconds(pace.pass_of(400)) > 60);
        assert!(pace.statements_within(Duration::from_millis(60)) > 200);
    }

    #[test]
    fn newer_passes_count_more() {
        let mut pace = after(&[(100, 30), (1_000, 120)]);
        for _ in 0..100 {
            pace.note(100, Duration::from_millis(300));
        }
        assert!(milliseconds(pace.pass_of(100)) > 290);
        assert_eq!(Pace::default().pass_of(10), Duration::ZERO);
    }
}
