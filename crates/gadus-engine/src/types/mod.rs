//! Types of columns, single values, and the shape of a table.
//!
//! - A column has a *logical* type (what SQL says) and one of four *storage classes* (how its
//!   values are kept); only this folder knows how the two relate.

mod characters;
mod codes;
mod convert;
mod datum;
mod definition;
mod enums;
mod floats;
mod foreign_key;
mod intervals;
mod names;
mod nested;
mod nested_values;
mod numerics;
mod schema;
mod schema_bytes;
mod sequence;
mod texts;
mod uuids;
mod view;

pub use characters::{CHARACTERS_EXTENSION, CHARACTERS_MAX, Characters};
pub use convert::{array_from_datums, datum_from_array, value_text};
pub(crate) use convert::{
    array_from_floats, array_from_integers, array_from_wides, floats_from_array,
    integers_from_array, nested_array, wides_from_array,
};
pub use datum::Datum;
pub(crate) use datum::{VALUE_BYTES_MAX, compare_floats, write_bytes_key};
pub use definition::DefinitionKey;
pub(crate) use definition::{DEFINITION_BYTES_MAX, DEFINITIONS_MAX};
pub use enums::{ENUM_EXTENSION, Enum, LABEL_BYTES_MAX, LABELS_MAX};
pub use floats::{write_double, write_real};
pub use foreign_key::{ForeignKey, ReferentialAction};
pub use intervals::{
    INTERVAL, Interval, IntervalArray, IntervalError, IntervalField, IntervalFields, IntervalUnit,
    interval_texts,
};
pub use names::{SCHEMA_SEPARATOR, TEMPORARY_PREFIX, is_temporary, schema_and_name};
pub use nested::Nested;
pub(crate) use nested_values::{bytes_from_nested, bytes_of, length_of};
pub use numerics::{
    NUMERIC_EXTENSION, NumericDigits, is_numeric_text, schema_with_doubles, with_doubles,
};
pub use schema::{
    CheckDefinition, ColumnDefinition, DefaultValue, Generated, Identity, IndexDefinition,
    TableSchema,
};
pub(crate) use schema_bytes::SchemaForm;
pub use sequence::{Sequence, SequencePosition, SequenceShape};
pub use texts::{type_with_texts, with_texts};
pub use uuids::{UUID, uuid_of_text, uuid_text, uuid_texts};
pub use view::{UsedColumn, UsedRelation, ViewColumn, ViewSchema};

use arrow::datatypes::{DataType, Field, TimeUnit};
use std::fmt;
use std::sync::Arc;

/// The key under which a field's metadata has the name of its extension type, as Arrow's columnar format says.
pub const EXTENSION_KEY: &str = "ARROW:extension:name";

/// Arrow's extension type of JSON documents.
pub const JSON_EXTENSION: &str = "arrow.json";

/// Extension type of JSON documents as values: texts as PostgreSQL writes JSONB.
pub const JSONB_EXTENSION: &str = "gadus.jsonb";

/// The logical type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// True or false.
    Boolean,
    /// Signed integer, 8 bits.
    Int8,
    /// Signed integer, 16 bits.
    Int16,
    /// Signed integer, 32 bits.
    Int32,
    /// Signed integer, 64 bits.
    Int64,
    /// Unsigned integer, 8 bits.
    UInt8,
    /// Unsigned integer, 16 bits.
    UInt16,
    /// Unsigned integer, 32 bits.
    UInt32,
    /// Unsigned integer, 64 bits.
    UInt64,
    /// IEEE 754 single precision.
    Float32,
    /// IEEE 754 double precision.
    Float64,
    /// Exact decimal of up to 38 digits.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits behind the point, 0 to `precision`.
        scale: i8,
    },
    /// Exact number, as the text that PostgreSQL writes of it.
    Numeric(Option<NumericDigits>),
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 1970-01-01 00:00, without a time zone.
    Timestamp,
    /// Microseconds since 1970-01-01 00:00 UTC.
    TimestampUtc,
    /// A universally unique identifier, 16 bytes.
    Uuid,
    /// Months, days and microseconds.
    Interval,
    /// A JSON document, as the text that it was given as.
    Json,
    /// A JSON document as a value: the text that PostgreSQL writes of its JSONB.
    Jsonb,
    /// One of the labels of an enumeration, which [`Enum::new`] gives.
    Enum(&'static Enum),
    /// Texts with a length, and PostgreSQL's `name` and `"char"`.
    Characters(Characters),
    /// Values that are made of others, which [`ColumnType::nested`] gives.
    Nested(&'static Nested),
}

/// How the values of a column are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageClass {
    /// 64-bit signed integers.
    Integer,
    /// 128-bit signed integers.
    Wide,
    /// Doubles.
    Float,
    /// Byte strings.
    Bytes,
}

impl ColumnType {
    /// The storage class of this type's values.
    #[must_use]
    pub fn storage(self) -> StorageClass {
        match self {
            Self::Float32 | Self::Float64 => StorageClass::Float,
            Self::Text
            | Self::Numeric(_)
            | Self::Binary
            | Self::Json
            | Self::Jsonb
            | Self::Enum(_)
            | Self::Characters(_)
            | Self::Nested(_) => StorageClass::Bytes,
            Self::UInt64 | Self::Uuid | Self::Interval => StorageClass::Wide,
            // 10^18 - 1 is the largest power of ten below 2^63.
            Self::Decimal { precision, .. } if precision > 18 => StorageClass::Wide,
            _ => StorageClass::Integer,
        }
    }

    /// Whether values are UTF-8 text.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(
            self,
            Self::Text
                | Self::Numeric(_)
                | Self::Json
                | Self::Jsonb
                | Self::Enum(_)
                | Self::Characters(_)
        )
    }

    /// The Arrow type in which values of this type leave the engine.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            Self::Boolean => DataType::Boolean,
            Self::Int8 => DataType::Int8,
            Self::Int16 => DataType::Int16,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::UInt8 => DataType::UInt8,
            Self::UInt16 => DataType::UInt16,
            Self::UInt32 => DataType::UInt32,
            Self::UInt64 => DataType::UInt64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
            Self::Text
            | Self::Numeric(_)
            | Self::Json
            | Self::Jsonb
            | Self::Enum(_)
            | Self::Characters(_) => DataType::Utf8View,
            Self::Binary => DataType::BinaryView,
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampUtc => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("UTC")))
            }
            Self::Uuid => UUID,
            Self::Interval => INTERVAL,
            Self::Nested(nested) => nested.arrow(),
        }
    }

    /// The Arrow field of such a column. What its Arrow type does not tell, an extension type of Arrow's does.
    #[must_use]
    pub fn field(self, name: &str, nullable: bool) -> Field {
        let field = Field::new(name, self.arrow(), nullable);
        let extension = match self {
            Self::Uuid => "arrow.uuid",
            Self::Json => JSON_EXTENSION,
            Self::Jsonb => JSONB_EXTENSION,
            Self::Numeric(_) => NUMERIC_EXTENSION,
            Self::Enum(of) => return field.with_metadata(of.metadata()),
            Self::Characters(of) => return field.with_metadata(of.metadata()),
            _ => return field,
        };
        field.with_metadata([(EXTENSION_KEY.to_owned(), extension.to_owned())].into())
    }

    /// The column type that holds values of an Arrow field without loss, if there is one.
    #[must_use]
    pub fn from_field(field: &Field) -> Option<Self> {
        match Self::from_arrow(field.data_type()) {
            Some(Self::Text) if field.extension_type_name() == Some(JSON_EXTENSION) => {
                Some(Self::Json)
            }
            Some(Self::Text) if field.extension_type_name() == Some(JSONB_EXTENSION) => {
                Some(Self::Jsonb)
            }
            Some(Self::Text) if is_numeric_text(field) => Some(Self::Numeric(None)),
            Some(Self::Text) => Some(match Characters::of_field(field) {
                Some(of) => Self::Characters(of),
                None => Enum::of_field(field).map_or(Self::Text, Self::Enum),
            }),
            other => other,
        }
    }

    /// The column type that holds values of an Arrow type without loss, if there is one.
    #[must_use]
    pub fn from_arrow(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int8 => Self::Int8,
            DataType::Int16 => Self::Int16,
            DataType::Int32 | DataType::Null => Self::Int32,
            DataType::Int64 => Self::Int64,
            DataType::UInt8 => Self::UInt8,
            DataType::UInt16 => Self::UInt16,
            DataType::UInt32 => Self::UInt32,
            DataType::UInt64 => Self::UInt64,
            DataType::Float16 | DataType::Float32 => Self::Float32,
            DataType::Float64 => Self::Float64,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale)
                if *scale >= 0 =>
            {
                Self::Decimal { precision: *precision, scale: *scale }
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            uuid if *uuid == UUID => Self::Uuid,
            DataType::Interval(_) | DataType::Duration(_) => Self::Interval,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Binary,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::TimestampUtc,
            DataType::Dictionary(_, values) => return Self::from_arrow(values),
            nested => return Nested::from_arrow(nested).and_then(Self::nested),
        })
    }

    /// Whether values have an order and an equality that their stored form tells, so that they may be in keys.
    #[must_use]
    pub fn is_ordered(self) -> bool {
        !matches!(
            self,
            Self::Numeric(_) | Self::Interval | Self::Json | Self::Jsonb | Self::Nested(_)
        )
    }

    /// Whether values are sorted and compared otherwise than the texts or numbers as which they are kept; they are equal
    /// where these are.
    #[must_use]
    pub fn has_own_order(self) -> bool {
        matches!(self, Self::Enum(_))
    }

    /// Returns true if values look different from the texts as which they are stored.
    #[must_use]
    pub fn is_shown_otherwise(self) -> bool {
        matches!(self, Self::Characters(of) if of.is_shown_otherwise())
    }

    /// Whether rows whose column is of another type can stay as they are when it is given this one.
    pub(crate) fn takes_values_of(self, other: Self) -> bool {
        match (self, other) {
            (Self::Enum(of), Self::Enum(before)) => of.has_all_of(before),
            (Self::Text, Self::Characters(before)) => before != Characters::Byte,
            (Self::Characters(of), before) => of.takes_values_of(before),
            _ => self == other,
        }
    }

    /// Whether a value read from a durable format may stand in such a column.
    pub(crate) fn admits(self, value: &Datum) -> bool {
        match (self.storage(), value) {
            (_, Datum::Null)
            | (StorageClass::Integer, Datum::Integer(_))
            | (StorageClass::Float, Datum::Float(_)) => true,
            (StorageClass::Wide, Datum::Wide(wide)) => {
                self != Self::Interval || intervals::is_interval(**wide)
            }
            (StorageClass::Bytes, Datum::Bytes(bytes)) => match self {
                Self::Enum(of) => {
                    std::str::from_utf8(bytes).is_ok_and(|label| of.place(label).is_some())
                }
                Self::Nested(nested) => nested_values::is_nested(nested, bytes),
                _ => !self.is_text() || std::str::from_utf8(bytes).is_ok(),
            },
            _ => false,
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Boolean => "BOOLEAN",
            Self::Int8 => "TINYINT",
            Self::Int16 => "SMALLINT",
            Self::Int32 => "INTEGER",
            Self::Int64 => "BIGINT",
            Self::UInt8 => "TINYINT UNSIGNED",
            Self::UInt16 => "SMALLINT UNSIGNED",
            Self::UInt32 => "INTEGER UNSIGNED",
            Self::UInt64 => "BIGINT UNSIGNED",
            Self::Float32 => "REAL",
            Self::Float64 => "DOUBLE",
            Self::Decimal { precision, scale } => return write!(f, "DECIMAL({precision},{scale})"),
            Self::Numeric(None) => "NUMERIC",
            Self::Numeric(Some(NumericDigits { precision, scale })) => {
                return write!(f, "NUMERIC({precision},{scale})");
            }
            Self::Text => "TEXT",
            Self::Binary => "BYTEA",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Timestamp => "TIMESTAMP",
            Self::TimestampUtc => "TIMESTAMP WITH TIME ZONE",
            Self::Uuid => "UUID",
            Self::Interval => "INTERVAL",
            Self::Json => "JSON",
            Self::Jsonb => "JSONB",
            Self::Enum(of) => return of.fmt(f),
            Self::Characters(of) => return of.fmt(f),
            Self::Nested(nested) => return nested.fmt(f),
        };
        f.write_str(name)
    }
}
