//! Enumerations: types whose values are labels, which stand in an order of their own.
//!
//! - A type is kept once for the whole process, as shapes of nested values are, so that types are copied as the others
//!   are. Another list of labels is another type.
//! - A value is kept as the text of its label. Labels are unique, so their texts tell what is equal, and keys and indexes
//!   need no more; the order of the labels is the business of whoever sorts and compares.
//! - In Arrow a value is a text, and its field names the type and all labels ([`ENUM_EXTENSION`]): whoever gets data needs
//!   no catalog to know what it may be.
//!
//! Byte table, behind the code of the type: name text, label count u32, labels text each.

use super::definition::DEFINITION_BYTES_MAX;
use super::schema::NAME_BYTES_MAX;
use super::{ColumnType, EXTENSION_KEY, schema_and_name};
use arrow::datatypes::Field;
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::LazyLock;

/// The extension type of enumerations in Arrow's fields.
pub const ENUM_EXTENSION: &str = "gadus.enum";
/// The key under which a field's metadata has what belongs to its extension type, as Arrow's columnar format says.
const METADATA_KEY: &str = "ARROW:extension:metadata";

/// Longest label, in bytes, as in PostgreSQL.
pub const LABEL_BYTES_MAX: usize = 63;
/// Most labels of a type. With labels of the longest, all of them are far below what a definition may take.
pub const LABELS_MAX: usize = 4_096;

const _: () = assert!(LABELS_MAX * (LABEL_BYTES_MAX + 3) < DEFINITION_BYTES_MAX);

/// A type whose values are one of some labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Enum {
    name: String,
    labels: Vec<String>,
    /// The places of the labels, sorted by their texts.
    by_text: Vec<u32>,
    /// What fields tell of it: every statement makes some.
    told: String,
}

impl Enum {
    /// The type of this name, as it is kept, and these labels in their order; none where a label is there twice, is
    /// too long or has NUL, or where there are too many.
    #[must_use]
    pub fn new(name: &str, labels: Vec<String>) -> Option<&'static Self> {
        static KNOWN: LazyLock<Mutex<HashSet<&'static Enum>>> = LazyLock::new(Mutex::default);
        let is_label = |label: &String| label.len() <= LABEL_BYTES_MAX && !label.contains('\0');
        let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains('\0');
        if !is_name || labels.len() > LABELS_MAX || !labels.iter().all(is_label) {
            return None;
        }
        let mut by_text = (0..).zip(&labels).map(|(place, _)| place).collect::<Vec<u32>>();
        by_text.sort_unstable_by_key(|place| &labels[*place as usize]);
        let is_twice = |two: &[u32]| labels[two[0] as usize] == labels[two[1] as usize];
        if by_text.windows(2).any(is_twice) {
            return None;
        }
        let told = json!({ "name": name, "labels": labels }).to_string();
        let one = Self { name: name.to_owned(), labels, by_text, told };
        let mut known = KNOWN.lock();
        if let Some(known) = known.get(&one) {
            return Some(known);
        }
        let kept: &'static Self = Box::leak(Box::new(one));
        known.insert(kept);
        Some(kept)
    }

    /// Its name, as relations of schemas are kept: [`super::schema_and_name`] takes it apart.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The labels, in their order.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Where a label stands among the others, from 0; none where the text is no label.
    #[must_use]
    pub fn place(&self, label: &str) -> Option<usize> {
        let of = |place: &u32| self.labels[*place as usize].as_str().cmp(label);
        self.by_text.binary_search_by(of).ok().map(|found| self.by_text[found] as usize)
    }

    /// Whether all labels of another type are labels of this one: its values can then stay as they are.
    pub(crate) fn has_all_of(&self, other: &Self) -> bool {
        other.labels.iter().all(|label| self.place(label).is_some())
    }

    /// The enumeration whose values a field holds, if it holds such.
    #[must_use]
    pub fn of_field(field: &Field) -> Option<&'static Self> {
        // What is made of values may have kept what was told of them.
        let is_text = matches!(ColumnType::from_arrow(field.data_type()), Some(ColumnType::Text));
        if !is_text || field.extension_type_name() != Some(ENUM_EXTENSION) {
            return None;
        }
        // It is asked for each expression of a statement: most have been seen before.
        static READ: LazyLock<Mutex<HashMap<String, &'static Enum>>> =
            LazyLock::new(Mutex::default);
        let text = field.metadata().get(METADATA_KEY)?;
        if let Some(known) = READ.lock().get(text) {
            return Some(known);
        }
        let told = serde_json::from_str::<Value>(text).ok()?;
        let known = Self::new(told.get("name")?.as_str()?, texts(told.get("labels")?)?)?;
        READ.lock().insert(text.clone(), known);
        Some(known)
    }

    /// The metadata of fields that hold such values.
    pub(super) fn metadata(&self) -> HashMap<String, String> {
        let told = self.told.clone();
        [(EXTENSION_KEY.to_owned(), ENUM_EXTENSION.to_owned()), (METADATA_KEY.to_owned(), told)]
            .into()
    }

    /// The text under which the catalog keeps the labels: a list as JSON has them.
    #[must_use]
    pub fn definition(&self) -> String {
        json!(self.labels).to_string()
    }

    /// The inverse of [`Enum::definition`].
    #[must_use]
    pub fn of_definition(name: &str, text: &str) -> Option<&'static Self> {
        Self::new(name, texts(&serde_json::from_str(text).ok()?)?)
    }

    pub(super) fn encode(&self, to: &mut ByteWriter) {
        to.text(&self.name);
        to.u32(u32::try_from(self.labels.len()).expect("checked against its limit"));
        self.labels.iter().for_each(|label| to.text(label));
    }

    pub(super) fn decode(from: &mut ByteReader<'_>) -> Result<ColumnType, DecodeError> {
        let offset = from.offset();
        let name = from.text(NAME_BYTES_MAX)?.to_owned();
        let count = from.count(4)?;
        let label = |_| from.text(LABEL_BYTES_MAX).map(str::to_owned);
        let labels = (0..count).map(label).collect::<Result<Vec<_>, _>>()?;
        let known = Self::new(&name, labels);
        let wrong = DecodeError { offset, expected: "an enumeration with its labels" };
        known.map(ColumnType::Enum).ok_or(wrong)
    }
}

/// The texts of a list.
fn texts(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// As SQL writes its name.
impl fmt::Display for Enum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (schema, name) = schema_and_name(&self.name);
        for (place, part) in schema.into_iter().chain([name]).enumerate() {
            let is_plain =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            let starts = !part.starts_with(|first: char| first.is_ascii_digit());
            f.write_str(if place > 0 { "." } else { "" })?;
            match starts && part.bytes().all(is_plain) {
                true => f.write_str(part)?,
                false => write!(f, "\"{}\"", part.replace('"', "\"\""))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
