//! Documents as trees, and their texts.

use super::numbers::normalized_number;
use crate::error::Result;
use std::fmt::Write;

/// Value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// True of arrays and objects.
    pub(super) fn is_container(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_))
    }

    /// Makes a document what JSONB holds of it.
    pub(super) fn normalized(self) -> Result<Self> {
        Ok(match self {
            Self::Number(number) => Self::Number(normalized_number(&number)?),
            Self::Array(values) => {
                let values = values.into_iter().map(Self::normalized);
                Self::Array(values.collect::<Result<_>>()?)
            }
            Self::Object(pairs) => {
                let mut sorted = Vec::with_capacity(pairs.len());
                for (key, value) in pairs {
                    sorted.push((key, value.normalized()?));
                }
                Self::Object(sorted_by_key(sorted))
            }
            other => other,
        })
    }

    /// Removes members of objects that are null.
    pub(super) fn without_nulls(self) -> Self {
        match self {
            Self::Array(values) => {
                Self::Array(values.into_iter().map(Self::without_nulls).collect())
            }
            Self::Object(pairs) => {
                let pairs = pairs.into_iter().filter(|(_, value)| *value != Self::Null);
                Self::Object(pairs.map(|(key, value)| (key, value.without_nulls())).collect())
            }
            other => other,
        }
    }

    /// Writes a document without blanks, as JSON.
    pub(super) fn compact(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, ",", ":");
        text
    }

    /// Writes a document as JSONB.
    pub(super) fn spaced(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, ", ", ": ");
        text
    }

    fn write(&self, text: &mut String, comma: &str, colon: &str) {
        match self {
            Self::Array(values) => {
                text.push('[');
                for (index, value) in values.iter().enumerate() {
                    text.push_str(if index > 0 { comma } else { "" });
                    value.write(text, comma, colon);
                }
                text.push(']');
            }
            Self::Object(pairs) => {
                text.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    text.push_str(if index > 0 { comma } else { "" });
                    write_text(text, key);
                    text.push_str(colon);
                    value.write(text, comma, colon);
                }
                text.push('}');
            }
            scalar => scalar.write_scalar(text),
        }
    }

    /// Writes a document on many lines.
    pub(super) fn write_pretty(&self, text: &mut String, depth: usize) {
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.extend(std::iter::repeat_n("    ", depth));
        };
        match self {
            Self::Array(values) => {
                text.push('[');
                for (index, value) in values.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    line(text, depth + 1);
                    value.write_pretty(text, depth + 1);
                }
                line(text, depth);
                text.push(']');
            }
            Self::Object(pairs) => {
                text.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    line(text, depth + 1);
                    write_text(text, key);
                    text.push_str(": ");
                    value.write_pretty(text, depth + 1);
                }
                line(text, depth);
                text.push('}');
            }
            scalar => scalar.write_scalar(text),
        }
    }

    fn write_scalar(&self, text: &mut String) {
        match self {
            Self::Boolean(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => text.push_str(number),
            Self::Text(value) => write_text(text, value),
            _ => text.push_str("null"),
        }
    }
}

/// Sorts members as JSONB does, and keeps the last of equal keys.
pub(super) fn sorted_by_key(pairs: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut sorted = pairs;
    // Stable, and reversed, so that the last of equal keys comes first.
    sorted.reverse();
    sorted.sort_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
    sorted.dedup_by(|(later, _), (first, _)| later == first);
    sorted
}

/// Appends a text between quotes, with escapes.
pub fn write_text(target: &mut String, value: &str) {
    target.push('"');
    for character in value.chars() {
        match character {
            '"' => target.push_str("\\\""),
            '\\' => target.push_str("\\\\"),
            '\x08' => target.push_str("\\b"),
            '\x0c' => target.push_str("\\f"),
            '\n' => target.push_str("\\n"),
            '\r' => target.push_str("\\r"),
            '\t' => target.push_str("\\t"),
            control @ ..' ' => {
                // Writing to a String does not fail.
                let _ = write!(target, "\\u{:04x}", u32::from(control));
            }
            other => target.push(other),
        }
    }
    target.push('"');
}
