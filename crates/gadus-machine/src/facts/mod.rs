//! What is known of a machine: facts, each with where it comes from and when it was true.
//!
//! - A fact is named by its subject and its name: `node 1`, `free`. A newer one takes the place of the older.
//! - What cannot be read is a fact as well: unknown, and why.
//! - Who looks again sees what has changed since ([`Facts::changed_since`]).

mod diff;
mod json;

pub use diff::Difference;

use gadus_base::{ByteCount, clock};
use std::collections::BTreeMap;
use std::fmt;

/// Something known.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Of what, such as `core 3`.
    pub subject: String,
    /// What of it, such as `load`.
    pub name: String,
    /// What it is.
    pub value: FactValue,
    /// The value's unit; empty for none.
    pub unit: String,
    /// Where it comes from.
    pub source: Source,
    /// When it was true, in seconds since 1970.
    pub seconds: u64,
    /// How sure it is, from 0 to 1: what was discovered is as it is, what was measured varies.
    pub confidence: f64,
}

/// What a fact says.
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue {
    /// A count or a size.
    Whole(u64),
    /// A share, a rate, a time.
    Number(f64),
    /// A name or a list.
    Text(String),
    /// It could not be read, and why.
    Unknown(String),
}

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The system or a description says so.
    Discovered,
    /// It was tried.
    Measured,
    /// It was seen while something ran.
    Observed,
    /// Somebody said so.
    Given,
}

/// All that is known of a machine.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    known: BTreeMap<(String, String), (u64, Fact)>,
    /// Counts up with every change.
    version: u64,
}

impl Facts {
    /// Takes in a fact. One that says what is known already makes that newer, and is no change.
    pub fn set(&mut self, fact: Fact) {
        let key = (fact.subject.clone(), fact.name.clone());
        match self.known.get_mut(&key) {
            Some((_, known)) if known.value == fact.value && known.source == fact.source => {
                *known = fact;
            }
            _ => {
                self.version += 1;
                self.known.insert(key, (self.version, fact));
            }
        }
    }

    /// The same for what is true now.
    pub fn note(
        &mut self,
        (subject, name): (impl Into<String>, &str),
        value: impl Into<FactValue>,
        unit: &str,
        source: Source,
    ) {
        let (subject, value, unit) = (subject.into(), value.into(), unit.to_owned());
        let (seconds, confidence) = (clock().wall_time().0.as_secs(), 1.0);
        self.set(Fact { subject, name: name.to_owned(), value, unit, source, seconds, confidence });
    }

    /// What is known of something.
    #[must_use]
    pub fn get(&self, subject: &str, name: &str) -> Option<&Fact> {
        self.known.get(&(subject.to_owned(), name.to_owned())).map(|(_, fact)| fact)
    }

    /// All facts, by subject and name.
    pub fn iter(&self) -> impl Iterator<Item = &Fact> {
        self.known.values().map(|(_, fact)| fact)
    }

    /// How many facts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Counts up with every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The facts that are new or other than at a version.
    pub fn changed_since(&self, version: u64) -> impl Iterator<Item = &Fact> {
        let changed = self.known.values().filter(move |(since, _)| *since > version);
        changed.map(|(_, fact)| fact)
    }
}

impl Fact {
    /// The value with its unit, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        match (&self.value, self.unit.as_str()) {
            (FactValue::Whole(bytes), "bytes") => ByteCount(*bytes).to_string(),
            (value @ FactValue::Unknown(_), _) | (value, "") => value.to_string(),
            (value, unit) => format!("{value} {unit}"),
        }
    }

    /// How old it is.
    #[must_use]
    pub fn age_seconds(&self) -> u64 {
        clock().wall_time().0.as_secs().saturating_sub(self.seconds)
    }
}

/// Of what it is, and what it is, for people.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.subject, self.name, self.shown())
    }
}

impl From<u64> for FactValue {
    fn from(value: u64) -> Self {
        Self::Whole(value)
    }
}

impl From<u32> for FactValue {
    fn from(value: u32) -> Self {
        Self::Whole(u64::from(value))
    }
}

impl From<f64> for FactValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<String> for FactValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&str> for FactValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{}", rounded(*value)),
            Self::Text(value) => f.write_str(value),
            Self::Unknown(why) => write!(f, "unknown: {why}"),
        }
    }
}

/// To six digits: nothing is measured more exactly, and nobody reads more.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

impl Source {
    /// As files and tables have it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Discovered => "discovered",
            Self::Measured => "measured",
            Self::Observed => "observed",
            Self::Given => "given",
        }
    }
}

#[cfg(test)]
mod tests;
