//! Edit distances.

use crate::executor::check_cancelled;
use datafusion::common::Result;

/// Steps between looks at cancellation: about a millisecond.
const STEPS: usize = 1 << 20;

/// Returns the fewest insertions, deletions and replacements of characters that make one text the other.
pub(super) fn levenshtein(one: &str, other: &str) -> Result<i64> {
    let (mut one, mut other) = (one.chars().collect::<Vec<_>>(), other.chars().collect::<Vec<_>>());
    if one.len() < other.len() {
        std::mem::swap(&mut one, &mut other);
    }
    let mut row = (0..=other.len()).collect::<Vec<_>>();
    let mut steps = 0;
    for (at, character) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, compared) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != compared);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
        steps += other.len();
        if steps >= STEPS {
            steps = 0;
            check_cancelled()?;
        }
    }
    Ok(i64::try_from(row[other.len()]).unwrap_or(i64::MAX))
}
