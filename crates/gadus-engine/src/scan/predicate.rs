//! Predicates that a scan evaluates on encoded columns.
//!
//! - A row passes when the predicate is true; NULL never passes a comparison.
//! - Constants have the storage class of their column: the caller converts them, exactly.

use crate::types::{ColumnType, Datum, value_text};
use gadus_base::ByteWriter;
use std::cmp::Ordering;

/// A condition on one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// Index of the column in the table.
    pub column: usize,
    /// What its value must satisfy.
    pub test: Test,
}

/// A condition on a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Compared with a constant that is not NULL.
    Compare(Comparison, Datum),
    /// From the first to the second of these constants, both included, neither NULL.
    Between(Datum, Datum),
    /// Equal to one of these constants, sorted, none of them NULL.
    In(Vec<Datum>),
    /// A byte string that begins with these bytes.
    StartsWith(Vec<u8>),
    /// Is NULL.
    IsNull,
    /// Is not NULL.
    IsNotNull,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// =
    Equal,
    /// <>
    NotEqual,
    /// <
    Less,
    /// <=
    LessOrEqual,
    /// >
    Greater,
    /// >=
    GreaterOrEqual,
}

impl Comparison {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
    ];

    /// Whether values in this order pass.
    #[must_use]
    pub fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        }
    }

    /// The comparison with its sides exchanged.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

impl Test {
    /// Whether a value passes.
    #[must_use]
    pub fn passes(&self, value: &Datum) -> bool {
        match (self, value) {
            (Self::IsNull, _) => value.is_null(),
            (Self::IsNotNull, _) => !value.is_null(),
            (_, Datum::Null) => false,
            (Self::Compare(comparison, constant), _) => comparison.holds(value.cmp(constant)),
            (Self::Between(low, high), _) => low <= value && value <= high,
            (Self::In(constants), _) => constants.binary_search(value).is_ok(),
            (Self::StartsWith(prefix), Datum::Bytes(bytes)) => bytes.starts_with(prefix),
            (Self::StartsWith(_), _) => false,
        }
    }

    /// The one value that passes, where that is what the test says.
    pub(crate) fn only_value(&self) -> Option<&Datum> {
        match self {
            Self::Compare(Comparison::Equal, value) => Some(value),
            _ => None,
        }
    }

    /// Bytes that only equal tests have in common.
    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Compare(comparison, value) => {
                to.u8(*comparison as u8);
                value.encode(to);
            }
            Self::Between(low, high) => {
                to.u8(16);
                low.encode(to);
                high.encode(to);
            }
            Self::In(values) => {
                to.u8(17);
                to.u64(values.len() as u64);
                values.iter().for_each(|value| value.encode(to));
            }
            Self::StartsWith(prefix) => {
                to.u8(18);
                to.bytes(prefix);
            }
            Self::IsNull => to.u8(19),
            Self::IsNotNull => to.u8(20),
        }
    }

    /// The same for a byte string, without a datum of it.
    pub(crate) fn passes_bytes(&self, value: &[u8]) -> bool {
        let order = |constant: &Datum| match constant {
            Datum::Bytes(constant) => value.cmp(constant),
            other => Datum::Bytes([].into()).cmp(other),
        };
        match self {
            Self::IsNull => false,
            Self::IsNotNull => true,
            Self::Compare(comparison, constant) => comparison.holds(order(constant)),
            Self::Between(low, high) => order(low).is_ge() && order(high).is_le(),
            Self::In(constants) => {
                constants.binary_search_by(|constant| order(constant).reverse()).is_ok()
            }
            Self::StartsWith(prefix) => value.starts_with(prefix),
        }
    }

    /// Whether some value between the bounds could pass.
    pub(crate) fn may_pass(&self, min: &Datum, max: &Datum) -> bool {
        match self {
            Self::Compare(Comparison::Equal, value) => min <= value && value <= max,
            Self::Compare(Comparison::NotEqual, value) => !(min == value && value == max),
            Self::Compare(Comparison::Less, value) => min < value,
            Self::Compare(Comparison::LessOrEqual, value) => min <= value,
            Self::Compare(Comparison::Greater, value) => max > value,
            Self::Compare(Comparison::GreaterOrEqual, value) => max >= value,
            Self::Between(low, high) => low <= high && min <= high && low <= max,
            Self::In(constants) => constants.iter().any(|value| min <= value && value <= max),
            Self::StartsWith(prefix) => match (min, max) {
                (Datum::Bytes(min), Datum::Bytes(max)) => {
                    let head = |bytes: &[u8]| bytes[..bytes.len().min(prefix.len())].to_vec();
                    head(min) <= *prefix && *prefix <= max.to_vec()
                        || head(max).as_slice() == prefix.as_slice()
                }
                _ => true,
            },
            Self::IsNull | Self::IsNotNull => true,
        }
    }
}

/// Makes one range of a lower and an upper bound of the same column: it is looked at once.
pub(crate) fn merged(predicates: Vec<Predicate>) -> Vec<Predicate> {
    let mut merged: Vec<Predicate> = Vec::with_capacity(predicates.len());
    for predicate in predicates {
        let whole = merged.iter().enumerate().find_map(|(place, known)| {
            let same = known.column == predicate.column;
            Some((place, same.then(|| range_of(&known.test, &predicate.test))??))
        });
        match whole {
            Some((place, test)) => merged[place].test = test,
            None => merged.push(predicate),
        }
    }
    merged
}

/// The range that two bounds make, where one is a lower and the other an upper one.
fn range_of(one: &Test, other: &Test) -> Option<Test> {
    let range =
        |lower: &Test, upper: &Test| Some(Test::Between(lower_bound(lower)?, upper_bound(upper)?));
    range(one, other).or_else(|| range(other, one))
}

/// The least value that passes; integers have a next one.
fn lower_bound(test: &Test) -> Option<Datum> {
    match test {
        Test::Compare(Comparison::GreaterOrEqual, bound) => Some(bound.clone()),
        Test::Compare(Comparison::Greater, Datum::Integer(below)) => {
            below.checked_add(1).map(Datum::Integer)
        }
        _ => None,
    }
}

/// The greatest value that passes.
fn upper_bound(test: &Test) -> Option<Datum> {
    match test {
        Test::Compare(Comparison::LessOrEqual, bound) => Some(bound.clone()),
        Test::Compare(Comparison::Less, Datum::Integer(above)) => {
            above.checked_sub(1).map(Datum::Integer)
        }
        _ => None,
    }
}

impl Test {
    /// What it asks of a column of this type, for people.
    pub(super) fn shown(&self, column_type: ColumnType) -> String {
        let shown = |value: &Datum| match value {
            Datum::Bytes(_) => value.to_string(),
            _ => value_text(column_type, value).unwrap_or_else(|_| value.to_string()),
        };
        match self {
            Self::Compare(comparison, value) => {
                let sign = match comparison {
                    Comparison::Equal => "=",
                    Comparison::NotEqual => "<>",
                    Comparison::Less => "<",
                    Comparison::LessOrEqual => "<=",
                    Comparison::Greater => ">",
                    Comparison::GreaterOrEqual => ">=",
                };
                format!("{sign} {}", shown(value))
            }
            Self::Between(low, high) => format!("BETWEEN {} AND {}", shown(low), shown(high)),
            Self::In(values) => format!("IN ({} values)", values.len()),
            Self::StartsWith(prefix) => format!("LIKE '{}%'", String::from_utf8_lossy(prefix)),
            Self::IsNull => "IS NULL".to_owned(),
            Self::IsNotNull => "IS NOT NULL".to_owned(),
        }
    }
}
