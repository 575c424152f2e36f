//! Facts as files: one JSON object with a list.

use super::{Fact, FactValue, Facts, Source};
use crate::error::{ErrorKind, MachineError};
use serde_json::{Value, json};

/// What a file says of itself.
const FORMAT: &str = "gadus facts 1";

impl Facts {
    /// For a file.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "format": FORMAT, "facts": self.iter().map(Fact::to_json).collect::<Vec<_>>() })
    }

    /// Of a file; `described` says which.
    ///
    /// # Errors
    /// `Description` with what is wrong with it.
    pub fn from_json(text: &str, described: &str) -> Result<Self, MachineError> {
        let wrong = |what: String| {
            MachineError::new(ErrorKind::Description, format!("{described}: {what}"))
        };
        let file: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if file["format"] != FORMAT {
            return Err(wrong(format!(
                "is no file of facts: it should begin with \"format\": \"{FORMAT}\""
            )));
        }
        let list = file["facts"].as_array().ok_or_else(|| wrong("has no facts".to_owned()))?;
        let mut facts = Self::default();
        for (place, fact) in list.iter().enumerate() {
            let fact = Fact::from_json(fact)
                .ok_or_else(|| wrong(format!("fact {place} is none: {fact}")))?;
            facts.set(fact);
        }
        Ok(facts)
    }
}

impl Fact {
    /// As commands print it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let value = match &self.value {
            FactValue::Whole(value) => json!(value),
            FactValue::Number(value) => json!(value),
            FactValue::Text(value) => json!(value),
            FactValue::Unknown(why) => json!({ "unknown": why }),
        };
        json!({
            "subject": self.subject, "name": self.name, "value": value, "unit": self.unit,
            "source": self.source.word(), "seconds": self.seconds, "confidence": self.confidence,
        })
    }

    fn from_json(fact: &Value) -> Option<Self> {
        let text = |name: &str| fact[name].as_str().map(str::to_owned);
        let value = match &fact["value"] {
            Value::Number(number) => match number.as_u64() {
                Some(whole) => FactValue::Whole(whole),
                None => FactValue::Number(number.as_f64()?),
            },
            Value::String(text) => FactValue::Text(text.clone()),
            Value::Object(object) => {
                FactValue::Unknown(object.get("unknown")?.as_str()?.to_owned())
            }
            _ => return None,
        };
        let sources = [Source::Discovered, Source::Measured, Source::Observed, Source::Given];
        let word = text("source")?;
        let confidence = fact["confidence"].as_f64().filter(|share| (0.0..=1.0).contains(share))?;
        Some(Self {
            subject: text("subject")?,
            name: text("name")?,
            value,
            unit: text("unit")?,
            source: sources.into_iter().find(|source| source.word() == word)?,
            seconds: fact["seconds"].as_u64()?,
            confidence,
        })
    }
}
