//! Types that are made of others: lists, structures and maps.
//!
//! - A shape is kept once for the whole process, however many columns have it, so that types are copied as the others
//!   are. What a process has ever seen of them stays.

use super::ColumnType;
use arrow::datatypes::{DataType, Field, Fields};
use gadus_base::{ByteReader, ByteWriter, DecodeError};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Types within each other, the outermost counted.
const DEPTH_MAX: usize = 16;

/// Fields of a structure.
const FIELDS_MAX: usize = 1024;

/// Longest name of a field, in bytes.
const NAME_BYTES_MAX: usize = 1024;

/// How values are made of others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Nested {
    /// Any number of values of a type, each of which may be NULL.
    List(ColumnType),
    /// A value for each of the fields, which may be NULL.
    Struct(Vec<(String, ColumnType)>),
    /// Values by their keys, which are not NULL.
    Map(ColumnType, ColumnType),
}

impl ColumnType {
    /// The type of values that are made of others; none where types are too deep in each other, or fields too many,
    /// without names or with the same.
    #[must_use]
    pub fn nested(nested: Nested) -> Option<Self> {
        static KNOWN: LazyLock<Mutex<HashSet<&'static Nested>>> = LazyLock::new(Mutex::default);
        if !nested.is_valid() {
            return None;
        }
        let mut known = KNOWN.lock();
        if let Some(known) = known.get(&nested) {
            return Some(Self::Nested(known));
        }
        let kept: &'static Nested = Box::leak(Box::new(nested));
        known.insert(kept);
        Some(Self::Nested(kept))
    }

    fn depth(self) -> usize {
        match self {
            Self::Nested(nested) => {
                1 + nested.parts().into_iter().map(Self::depth).max().unwrap_or(0)
            }
            _ => 0,
        }
    }
}

impl Nested {
    fn parts(&self) -> Vec<ColumnType> {
        match self {
            Self::List(element) => vec![*element],
            Self::Struct(fields) => fields.iter().map(|(_, part)| *part).collect(),
            Self::Map(key, value) => vec![*key, *value],
        }
    }

    fn is_valid(&self) -> bool {
        let are_named = match self {
            Self::Struct(fields) => {
                let names = fields.iter().map(|(name, _)| name.as_str()).collect::<HashSet<_>>();
                let fit = |name: &&str| (1..=NAME_BYTES_MAX).contains(&name.len());
                (1..=FIELDS_MAX).contains(&fields.len())
                    && names.len() == fields.len()
                    && names.iter().all(fit)
            }
            _ => true,
        };
        // Documents, labels and numerics are told from texts by their fields, which not all of Arrow's nested types keep.
        let is_told = |part: &ColumnType| {
            !matches!(
                part,
                ColumnType::Json
                    | ColumnType::Jsonb
                    | ColumnType::Enum(_)
                    | ColumnType::Numeric(_)
                    | ColumnType::Characters(_)
            )
        };
        are_named && self.parts().iter().all(|part| part.depth() < DEPTH_MAX && is_told(part))
    }

    /// The Arrow type in which values leave the engine.
    pub(super) fn arrow(&self) -> DataType {
        let field = |name: &str, part: ColumnType| Field::new(name, part.arrow(), true);
        match self {
            Self::List(element) => {
                DataType::List(Arc::new(Field::new_list_field(element.arrow(), true)))
            }
            Self::Struct(fields) => {
                DataType::Struct(fields.iter().map(|(name, part)| field(name, *part)).collect())
            }
            Self::Map(key, value) => {
                let key = field("key", *key).with_nullable(false);
                let entries = Fields::from(vec![key, field("value", *value)]);
                DataType::Map(
                    Arc::new(Field::new("entries", DataType::Struct(entries), false)),
                    false,
                )
            }
        }
    }

    /// What holds values of an Arrow type without loss, if anything does.
    pub(super) fn from_arrow(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _) => {
                Self::List(ColumnType::from_arrow(field.data_type())?)
            }
            DataType::Struct(fields) => {
                let part = |field: &Arc<Field>| {
                    Some((field.name().clone(), ColumnType::from_arrow(field.data_type())?))
                };
                Self::Struct(fields.iter().map(part).collect::<Option<_>>()?)
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(fields) = entries.data_type() else { return None };
                let [key, value] = &**fields else { return None };
                let part = |field: &Field| ColumnType::from_arrow(field.data_type());
                Self::Map(part(key)?, part(value)?)
            }
            _ => return None,
        })
    }

    /// What follows the code of the type in durable formats.
    pub(super) fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::List(element) => element.encode(to),
            Self::Struct(fields) => {
                to.u32(u32::try_from(fields.len()).expect("checked against its limit"));
                for (name, part) in fields {
                    to.text(name);
                    part.encode(to);
                }
            }
            Self::Map(key, value) => {
                key.encode(to);
                value.encode(to);
            }
        }
    }

    /// The code of the type in durable formats.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::List(_) => 21,
            Self::Struct(_) => 22,
            Self::Map(..) => 23,
        }
    }

    /// The inverse of [`Nested::encode`], behind the code; none where that is of no such type.
    pub(super) fn decode(
        code: u8,
        from: &mut ByteReader<'_>,
        depth: usize,
    ) -> Result<Option<ColumnType>, DecodeError> {
        let offset = from.offset();
        let wrong = || DecodeError { offset, expected: "a type of values that are made of others" };
        if depth > DEPTH_MAX {
            return Err(wrong());
        }
        let part = |from: &mut ByteReader<'_>| {
            ColumnType::decode_within(from, depth + 1)?.ok_or_else(wrong)
        };
        let nested = match code {
            21 => Self::List(part(from)?),
            22 => {
                let mut fields = Vec::new();
                for _ in 0..from.count(7)? {
                    fields.push((from.text(NAME_BYTES_MAX)?.to_owned(), part(from)?));
                }
                Self::Struct(fields)
            }
            23 => Self::Map(part(from)?, part(from)?),
            _ => return Ok(None),
        };
        ColumnType::nested(nested).map(Some).ok_or_else(wrong)
    }
}

/// As SQL writes it.
impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(element) => write!(f, "{element}[]"),
            Self::Struct(fields) => {
                f.write_str("STRUCT<")?;
                for (place, (name, part)) in fields.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(f, "{comma}\"{}\" {part}", name.replace('"', "\"\""))?;
                }
                f.write_str(">")
            }
            Self::Map(key, value) => write!(f, "MAP({key}, {value})"),
        }
    }
}
