//! Answers with their reasons.
//!
//! - Who decides keeps the newest of each: see `decisions`.

use crate::facts::{Fact, Facts};
use gadus_base::{ByteCount, clock};
use serde_json::{Value, json};
use std::fmt;

/// A question that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was asked, such as `scan threads`.
    pub question: String,
    /// With what, by name.
    pub inputs: Vec<(String, String)>,
    /// What was known and counted.
    pub facts: Vec<Fact>,
    /// What might have been chosen, the best first, with what it would cost.
    pub alternatives: Vec<Alternative>,
    /// What was chosen, and why.
    pub choice: String,
    /// See `choice`.
    pub reason: String,
    /// What would have to change for another choice.
    pub would_change: Vec<String>,
    /// Somebody has said what to choose, by a setting.
    pub overridden: Option<String>,
    /// When, in seconds since 1970.
    pub seconds: u64,
}

/// What might have been chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// What.
    pub choice: String,
    /// What it would cost, in `unit`; less is better.
    pub cost: f64,
    /// Of the cost.
    pub unit: String,
}

/// What it would cost, for people.
impl fmt::Display for Alternative {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bytes, of which one decimal is shown
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { choice, cost, unit } = self;
        match unit.strip_prefix("bytes ") {
            Some(rest) => write!(f, "{choice}: {} {rest}", ByteCount(*cost as u64)),
            None => write!(f, "{choice}: {cost:.2} {unit}"),
        }
    }
}

impl Decision {
    /// An answer, of which nothing else is said yet.
    #[must_use]
    pub fn new(question: &str, choice: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            question: question.to_owned(),
            inputs: Vec::new(),
            facts: Vec::new(),
            alternatives: Vec::new(),
            choice: choice.into(),
            reason: reason.into(),
            would_change: Vec::new(),
            overridden: None,
            seconds: clock().wall_time().0.as_secs(),
        }
    }

    /// The same where somebody has said what to choose: `by` is how. What was known then, and what else might
    /// have been chosen, stays.
    #[must_use]
    pub fn told(self, choice: impl Into<String>, by: impl Into<String>) -> Self {
        let reason = format!("as told; otherwise {}: {}", self.choice, self.reason);
        let (choice, overridden) = (choice.into(), Some(by.into()));
        Self { choice, reason, overridden, ..self }
    }

    /// The facts of some names, as they are known; those that are not are left out.
    #[must_use]
    pub fn facts_of(known: &Facts, names: &[(&str, &str)]) -> Vec<Fact> {
        names.iter().filter_map(|(subject, name)| known.get(subject, name).cloned()).collect()
    }

    /// As commands print it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let alternatives = self.alternatives.iter().map(|alternative| {
            let Alternative { choice, cost, unit } = alternative;
            json!({ "choice": choice, "cost": cost, "unit": unit })
        });
        let inputs = self.inputs.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({
            "question": self.question,
            "inputs": inputs.collect::<serde_json::Map<_, _>>(),
            "facts": self.facts.iter().map(Fact::to_json).collect::<Vec<_>>(),
            "alternatives": alternatives.collect::<Vec<_>>(),
            "choice": self.choice,
            "reason": self.reason,
            "would_change": self.would_change,
            "overridden": self.overridden,
            "seconds": self.seconds,
        })
    }
}
