//! Predicates that a scan evaluates on encoded columns.
//!
//! - A row passes when the predicate is true; NULL never passes a comparison.
//! - Constants have the storage class of their column: the caller converts them, exactly.

use crate::types::Datum;
use std::cmp::Ordering;
use std::fmt;

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
            (Self::In(constants), _) => constants.binary_search(value).is_ok(),
            (Self::StartsWith(prefix), Datum::Bytes(bytes)) => bytes.starts_with(prefix),
            (Self::StartsWith(_), _) => false,
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

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
                write!(f, "{sign} {value}")
            }
            Self::In(values) => write!(f, "IN ({} values)", values.len()),
            Self::StartsWith(prefix) => {
                write!(f, "LIKE '{}%'", String::from_utf8_lossy(prefix))
            }
            Self::IsNull => f.write_str("IS NULL"),
            Self::IsNotNull => f.write_str("IS NOT NULL"),
        }
    }
}
