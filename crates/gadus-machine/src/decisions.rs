//! What was decided, as far as it is remembered.
//!
//! - Of each question with its inputs the newest answer stands; of too many questions those that were answered
//!   longest ago are forgotten.
//! - Who looks again sees by the version whether anything was chosen otherwise.

use crate::decision::Decision;

/// The newest answers, by question and inputs.
#[derive(Debug, Clone, Default)]
pub struct Decisions {
    /// Those that were answered last at the end.
    known: Vec<Decided>,
    version: u64,
}

/// An answer that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The newest.
    pub decision: Decision,
    /// How often it was another than the one before.
    pub changes: u64,
}

/// Answers that are remembered. A database asks some ten questions, and few of them for each table.
const KNOWN_MAX: usize = 1_000;

impl Decisions {
    /// Takes in an answer; whether another one stood, or none.
    pub fn record(&mut self, decision: Decision) -> bool {
        let is_same = |known: &Decided| {
            known.decision.question == decision.question && known.decision.inputs == decision.inputs
        };
        let before = self.known.iter().position(is_same).map(|place| self.known.remove(place));
        let (is_other, changes) = match before {
            None => (true, 0),
            Some(Decided { decision: before, changes }) => {
                let is_other = before.choice != decision.choice;
                (is_other, changes + u64::from(is_other))
            }
        };
        if self.known.len() >= KNOWN_MAX {
            self.known.remove(0);
        }
        self.known.push(Decided { decision, changes });
        self.version += u64::from(is_other);
        is_other
    }

    /// All that stand, those that were answered last at the end.
    pub fn iter(&self) -> impl Iterator<Item = &Decided> {
        self.known.iter()
    }

    /// Counts up whenever something is chosen otherwise.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(input: usize, choice: &str) -> Decision {
        let inputs = vec![("of".to_owned(), input.to_string())];
        Decision { inputs, ..Decision::new("how many", choice, "so it is") }
    }

    #[test]
    fn the_newest_answer_stands_and_changes_are_counted() {
        let mut decisions = Decisions::default();
        let recorded = [(1, "3"), (2, "3"), (1, "3"), (1, "4"), (1, "4"), (1, "3")];
        let recorded = recorded.map(|(input, choice)| decisions.record(answer(input, choice)));
        assert_eq!(recorded, [true, true, false, true, false, true]);
        let known = decisions.iter().map(|known| (known.decision.choice.as_str(), known.changes));
        assert_eq!(known.collect::<Vec<_>>(), [("3", 0), ("3", 2)]);
        assert_eq!(decisions.version(), 4);
    }

    #[test]
    fn what_was_answered_longest_ago_is_forgotten() {
        let mut decisions = Decisions::default();
        (0..KNOWN_MAX).for_each(|input| _ = decisions.record(answer(input, "3")));
        assert!(!decisions.record(answer(0, "3")));
        assert!(decisions.record(answer(KNOWN_MAX, "3")));
        assert_eq!(decisions.iter().count(), KNOWN_MAX);
        assert!(decisions.record(answer(1, "3")), "it was the oldest");
        assert!(!decisions.record(answer(0, "3")), "it was asked again");
    }
}
