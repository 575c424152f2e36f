//! Column types in durable formats: a code each, with precision and scale, and what a type is made of behind them.

use super::{Characters, ColumnType, Enum, Nested, NumericDigits};
use gadus_base::{ByteReader, ByteWriter, DecodeError};

/// The code of enumerations in durable formats, behind those of values that are made of others.
const ENUM_CODE: u8 = 24;

/// Code of numerics that are texts, before their digits.
const NUMERIC_CODE: u8 = 26;

impl ColumnType {
    /// Writes the type as durable formats have it: its code, precision and scale where it has them, and what it is
    /// made of.
    pub(crate) fn encode(self, to: &mut ByteWriter) {
        let (code, precision, scale) = self.to_code();
        [code, precision, scale].into_iter().for_each(|byte| to.u8(byte));
        match self {
            Self::Enum(of) => of.encode(to),
            Self::Numeric(digits) => NumericDigits::encode(digits, to),
            Self::Characters(of) => of.encode(to),
            Self::Nested(nested) => nested.encode(to),
            _ => {}
        }
    }

    /// The inverse of [`ColumnType::encode`]; none of a code that is not known.
    pub(crate) fn decode(from: &mut ByteReader<'_>) -> Result<Option<Self>, DecodeError> {
        Self::decode_within(from, 0)
    }

    pub(super) fn decode_within(
        from: &mut ByteReader<'_>,
        depth: usize,
    ) -> Result<Option<Self>, DecodeError> {
        let (code, precision, scale) = (from.u8()?, from.u8()?, from.u8()?);
        match Self::from_code(code, precision, scale) {
            Some(known) => Ok(Some(known)),
            None if code == ENUM_CODE => Enum::decode(from).map(Some),
            None if code == NUMERIC_CODE => {
                NumericDigits::decode(from).map(|digits| Some(Self::Numeric(digits)))
            }
            None => match Characters::decode(code, from)? {
                Some(known) => Ok(Some(known)),
                None => Nested::decode(code, from, depth),
            },
        }
    }

    /// The type's code in durable formats, with precision and scale where it has them.
    pub(crate) fn to_code(self) -> (u8, u8, u8) {
        let code = match self {
            Self::Boolean => 1,
            Self::Int8 => 2,
            Self::Int16 => 3,
            Self::Int32 => 4,
            Self::Int64 => 5,
            Self::UInt8 => 6,
            Self::UInt16 => 7,
            Self::UInt32 => 8,
            Self::UInt64 => 9,
            Self::Float32 => 10,
            Self::Float64 => 11,
            Self::Decimal { precision, scale } => return (12, precision, scale.unsigned_abs()),
            Self::Text => 13,
            Self::Binary => 14,
            Self::Date => 15,
            Self::Time => 16,
            Self::Timestamp => 17,
            Self::TimestampUtc => 18,
            Self::Uuid => 19,
            Self::Interval => 25,
            Self::Json => 20,
            Self::Jsonb => 27,
            Self::Numeric(_) => NUMERIC_CODE,
            Self::Enum(_) => ENUM_CODE,
            Self::Characters(of) => of.code(),
            Self::Nested(nested) => nested.code(),
        };
        (code, 0, 0)
    }

    /// The inverse of [`ColumnType::to_code`], of types that are not made of others.
    pub(crate) fn from_code(code: u8, precision: u8, scale: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Boolean,
            2 => Self::Int8,
            3 => Self::Int16,
            4 => Self::Int32,
            5 => Self::Int64,
            6 => Self::UInt8,
            7 => Self::UInt16,
            8 => Self::UInt32,
            9 => Self::UInt64,
            10 => Self::Float32,
            11 => Self::Float64,
            12 if (1..=38).contains(&precision) && scale <= precision => {
                Self::Decimal { precision, scale: i8::try_from(scale).ok()? }
            }
            13 => Self::Text,
            14 => Self::Binary,
            15 => Self::Date,
            16 => Self::Time,
            17 => Self::Timestamp,
            18 => Self::TimestampUtc,
            19 => Self::Uuid,
            25 => Self::Interval,
            20 => Self::Json,
            27 => Self::Jsonb,
            _ => return None,
        })
    }
}
