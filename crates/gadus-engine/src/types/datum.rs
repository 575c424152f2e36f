//! A single value.
//!
//! - Its variant is the storage class of its column, or `Null`.
//! - Floats compare by total order, so that a datum can be a key; NaN equals NaN, -0 equals +0 in
//!   keys because both are normalised when a key is made.

use gadus_base::{ByteReader, ByteWriter, DecodeError};
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// Longest text or binary value, in bytes.
pub(crate) const VALUE_BYTES_MAX: usize = 256 << 20;

/// Bytes from which a text or binary value is long.
const LONG_BYTES: usize = 1 << 10;

/// A value of one row and column.
#[derive(Debug, Clone)]
pub enum Datum {
    /// No value.
    Null,
    /// Integers up to 64 bits, booleans, dates, times and decimals of up to 18 digits.
    Integer(i64),
    /// Decimals of more than 18 digits and unsigned 64-bit integers.
    Wide(Box<i128>),
    /// Single and double precision.
    Float(f64),
    /// Text and binary.
    Bytes(Arc<[u8]>),
}

impl Datum {
    /// Whether there is no value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A text value.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Bytes(Arc::from(text.as_bytes()))
    }

    /// The value as an exact integer, for the two integer classes.
    #[must_use]
    pub fn as_wide(&self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(i128::from(*value)),
            Self::Wide(value) => Some(**value),
            _ => None,
        }
    }

    /// Bytes of a long text or binary value, 0 for all others: what bounds values by their number bounds these.
    pub(crate) fn long_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) if bytes.len() >= LONG_BYTES => bytes.len(),
            _ => 0,
        }
    }

    /// Memory that the value takes beside the datum itself, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len() + 16,
            Self::Wide(_) => 16,
            _ => 0,
        }
    }

    /// Adds bytes that only equal values of one column have in common, and that no other's begin with.
    /// Floats are equal where their bits are.
    pub(crate) fn write_key(&self, to: &mut Vec<u8>) {
        if let Self::Bytes(bytes) = self {
            return write_bytes_key(bytes, to);
        }
        to.push(u8::from(!self.is_null()));
        match self {
            Self::Null | Self::Bytes(_) => {}
            Self::Integer(value) => to.extend(value.to_le_bytes()),
            Self::Wide(value) => to.extend(value.to_le_bytes()),
            Self::Float(value) => to.extend(value.to_le_bytes()),
        }
    }

    pub(crate) fn encode(&self, to: &mut ByteWriter) {
        match self {
            Self::Null => to.u8(0),
            Self::Integer(value) => match i8::try_from(*value) {
                Ok(small) => {
                    to.u8(1);
                    to.u8(small.cast_unsigned());
                }
                Err(_) => match i32::try_from(*value) {
                    Ok(medium) => {
                        to.u8(2);
                        to.u32(medium.cast_unsigned());
                    }
                    Err(_) => {
                        to.u8(3);
                        to.i64(*value);
                    }
                },
            },
            Self::Wide(value) => {
                to.u8(4);
                to.i128(**value);
            }
            Self::Float(value) => {
                to.u8(5);
                to.f64(*value);
            }
            Self::Bytes(bytes) => match u8::try_from(bytes.len()) {
                Ok(length) => {
                    to.u8(6);
                    to.u8(length);
                    to.raw(bytes);
                }
                Err(_) => {
                    to.u8(7);
                    to.bytes(bytes);
                }
            },
        }
    }

    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let offset = from.offset();
        Ok(match from.u8()? {
            0 => Self::Null,
            1 => Self::Integer(i64::from(from.u8()?.cast_signed())),
            2 => Self::Integer(i64::from(from.u32()?.cast_signed())),
            3 => Self::Integer(from.i64()?),
            4 => Self::Wide(Box::new(from.i128()?)),
            5 => Self::Float(from.f64()?),
            6 => {
                let length = usize::from(from.u8()?);
                Self::Bytes(Arc::from(from.raw(length)?))
            }
            7 => Self::Bytes(Arc::from(from.bytes(VALUE_BYTES_MAX)?)),
            _ => return Err(DecodeError { offset, expected: "a value's kind" }),
        })
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Datum {}

impl PartialOrd for Datum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// NULL first, then by value; values of different classes by class.
impl Ord for Datum {
    fn cmp(&self, other: &Self) -> Ordering {
        fn class(datum: &Datum) -> u8 {
            match datum {
                Datum::Null => 0,
                Datum::Integer(_) => 1,
                Datum::Wide(_) => 2,
                Datum::Float(_) => 3,
                Datum::Bytes(_) => 4,
            }
        }
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            (Self::Wide(left), Self::Wide(right)) => left.cmp(right),
            (Self::Float(left), Self::Float(right)) => compare_floats(*left, *right),
            (Self::Bytes(left), Self::Bytes(right)) => left.cmp(right),
            _ => class(self).cmp(&class(other)),
        }
    }
}

/// See [`Datum::write_key`].
pub(crate) fn write_bytes_key(bytes: &[u8], to: &mut Vec<u8>) {
    to.push(1);
    to.extend(bytes.len().to_le_bytes());
    to.extend(bytes);
}

/// SQL's order of doubles: -0 equals +0, NaN is largest and equals itself.
pub(crate) fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// The stored value, for messages: dates and decimals show as the integers that they are kept as.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Wide(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Bytes(bytes) => write!(f, "'{}'", String::from_utf8_lossy(bytes)),
        }
    }
}
