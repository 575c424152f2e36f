//! What two machines, or one at two times, do not have in common.

use super::{Fact, FactValue, Facts, Source};
use std::fmt;

/// A fact that differs.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// Known of the second alone.
    Added(Fact),
    /// Known of the first alone.
    Removed(Fact),
    /// Known of both, with other values.
    Changed(Fact, Fact),
}

/// Numbers nearer than this part of the larger are the same: what is measured varies. What the system says of
/// itself does not.
const NOISE: f64 = 0.05;

impl Facts {
    /// What differs between these facts and newer ones, by subject and name. When they were true does not
    /// count.
    #[must_use]
    pub fn differences(&self, newer: &Self) -> Vec<Difference> {
        let mut keys = self.known.keys().chain(newer.known.keys()).collect::<Vec<_>>();
        keys.sort_unstable();
        keys.dedup();
        let of =
            |facts: &Self, key| facts.known.get(key).map(|(_, fact): &(u64, Fact)| fact.clone());
        let differences =
            keys.into_iter().filter_map(|key| match (of(self, key), of(newer, key)) {
                (Some(old), None) => Some(Difference::Removed(old)),
                (None, Some(new)) => Some(Difference::Added(new)),
                (Some(old), Some(new)) if !is_same(&old, &new) => {
                    Some(Difference::Changed(old, new))
                }
                _ => None,
            });
        differences.collect()
    }
}

fn is_same(old: &Fact, new: &Fact) -> bool {
    match (&old.value, &new.value) {
        (FactValue::Number(one), FactValue::Number(other)) if new.source != Source::Discovered => {
            (one - other).abs() <= NOISE * one.abs().max(other.abs())
        }
        (old, new) => old == new,
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |fact: &Fact| match fact.unit.as_str() {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        match self {
            Self::Added(fact) => {
                write!(f, "+ {} {}: {}{}", fact.subject, fact.name, fact.value, unit(fact))
            }
            Self::Removed(fact) => {
                write!(f, "- {} {}: {}{}", fact.subject, fact.name, fact.value, unit(fact))
            }
            Self::Changed(old, new) => write!(
                f,
                "~ {} {}: {}{} -> {}{}",
                new.subject,
                new.name,
                old.value,
                unit(old),
                new.value,
                unit(new)
            ),
        }
    }
}
