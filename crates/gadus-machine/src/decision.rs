//! Answers with their reasons.

use crate::facts::{Fact, Facts};
use serde_json::{Value, json};

/// A question that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What was asked, such as `number of partitions`.
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

impl Decision {
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
