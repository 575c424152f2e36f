//! PostgreSQL's types that values are sent and received as, and their numbers in its catalog.

use arrow::datatypes::{DataType, Field, TimeUnit};
use gadus::{INTERVAL, NUMERIC_EXTENSION, UUID};

/// A type of PostgreSQL's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    Bytea,
    Char,
    Name,
    Int8,
    Int2,
    Int4,
    Text,
    Oid,
    Json,
    Jsonb,
    Float4,
    Float8,
    Unknown,
    Bpchar,
    Varchar,
    Date,
    Time,
    Timestamp,
    Timestamptz,
    Interval,
    Numeric,
    Uuid,
}

/// Each type: its number, the bytes of a value or -1, its name, the number of its array.
const TYPES: &[(Type, u32, i16, &str, u32)] = &[
    (Type::Bool, 16, 1, "bool", 1000),
    (Type::Bytea, 17, -1, "bytea", 1001),
    (Type::Char, 18, 1, "char", 1002),
    (Type::Name, 19, 64, "name", 1003),
    (Type::Int8, 20, 8, "int8", 1016),
    (Type::Int2, 21, 2, "int2", 1005),
    (Type::Int4, 23, 4, "int4", 1007),
    (Type::Text, 25, -1, "text", 1009),
    (Type::Oid, 26, 4, "oid", 1028),
    (Type::Json, 114, -1, "json", 199),
    (Type::Float4, 700, 4, "float4", 1021),
    (Type::Float8, 701, 8, "float8", 1022),
    (Type::Unknown, 705, -2, "unknown", 1009),
    (Type::Bpchar, 1042, -1, "bpchar", 1014),
    (Type::Varchar, 1043, -1, "varchar", 1015),
    (Type::Date, 1082, 4, "date", 1182),
    (Type::Time, 1083, 8, "time", 1183),
    (Type::Timestamp, 1114, 8, "timestamp", 1115),
    (Type::Timestamptz, 1184, 8, "timestamptz", 1185),
    (Type::Interval, 1186, 16, "interval", 1187),
    (Type::Numeric, 1700, -1, "numeric", 1231),
    (Type::Uuid, 2950, 16, "uuid", 2951),
    (Type::Jsonb, 3802, -1, "jsonb", 3807),
];

impl Type {
    /// The type of a number; none where it is not known here.
    pub(crate) fn of(oid: u32) -> Option<Self> {
        TYPES.iter().find(|known| known.1 == oid).map(|known| known.0)
    }

    /// The type of the elements of a list with this number; none where it is no list known here.
    pub(crate) fn of_elements(oid: u32) -> Option<Self> {
        TYPES.iter().find(|known| known.4 == oid).map(|known| known.0)
    }

    fn row(self) -> &'static (Self, u32, i16, &'static str, u32) {
        TYPES.iter().find(|known| known.0 == self).unwrap_or(&TYPES[0])
    }

    pub(crate) fn oid(self) -> u32 {
        self.row().1
    }

    /// Bytes of a value, negative where they vary.
    pub(crate) fn size(self) -> i16 {
        self.row().2
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().3
    }

    /// The Arrow type of lists of such values; decimals have as many digits behind the point as needed.
    pub(super) fn arrow(self, scale: i8) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int2 => DataType::Int16,
            Self::Int4 => DataType::Int32,
            Self::Int8 | Self::Oid => DataType::Int64,
            Self::Float4 => DataType::Float32,
            Self::Float8 => DataType::Float64,
            Self::Numeric => DataType::Decimal128(38, scale),
            Self::Bytea => DataType::Binary,
            Self::Date => DataType::Date32,
            Self::Time => DataType::Time64(TimeUnit::Microsecond),
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Interval => INTERVAL,
            _ => DataType::Utf8,
        }
    }

    /// The type that values of an Arrow type are sent as; none for lists.
    pub(crate) fn of_arrow(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => Self::Bool,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => Self::Int2,
            DataType::Int32 | DataType::UInt16 => Self::Int4,
            DataType::Int64 | DataType::UInt32 => Self::Int8,
            DataType::Float16 | DataType::Float32 => Self::Float4,
            DataType::Float64 => Self::Float8,
            DataType::UInt64
            | DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => Self::Numeric,
            uuid if *uuid == UUID => Self::Uuid,
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => Self::Bytea,
            DataType::Date32 | DataType::Date64 => Self::Date,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Timestamp(_, None) => Self::Timestamp,
            DataType::Timestamp(_, Some(_)) => Self::Timestamptz,
            DataType::Interval(_) | DataType::Duration(_) => Self::Interval,
            DataType::Struct(_) | DataType::Map(..) => Self::Json,
            DataType::Dictionary(_, values) => return Self::of_arrow(values),
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
                return None;
            }
            _ => Self::Text,
        })
    }
}

/// The number of the type that values of an Arrow type are sent as.
pub(crate) fn oid_of(data_type: &DataType) -> u32 {
    match data_type {
        DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
            match of.data_type() {
                // Arrays have one type, whatever their dimensions.
                DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
                    oid_of(of.data_type())
                }
                _ => type_of_elements(of).row().4,
            }
        }
        other => Type::of_arrow(other).unwrap_or(Type::Text).oid(),
    }
}

/// Returns the type that elements of a list are sent as.
pub(super) fn type_of_elements(element: &Field) -> Type {
    match element.extension_type_name() {
        Some(NUMERIC_EXTENSION) => Type::Numeric,
        _ => Type::of_arrow(element.data_type()).unwrap_or(Type::Text),
    }
}

/// The number of the type that parameters of an Arrow type are sent as. PostgreSQL's one type of numbers
/// without a sign is its `oid`.
pub(crate) fn parameter_oid_of(data_type: &DataType) -> u32 {
    match data_type {
        DataType::UInt32 => Type::Oid.oid(),
        DataType::List(of) if *of.data_type() == DataType::UInt32 => Type::Oid.row().4,
        other => oid_of(other),
    }
}

/// Precision and scale of a numeric as PostgreSQL packs them; -1 for other types.
pub(crate) fn modifier(data_type: &DataType) -> i32 {
    match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            ((i32::from(*precision) << 16) | (i32::from(*scale) & 0x7ff)) + 4
        }
        _ => -1,
    }
}

/// The Arrow type as which columns of this one are written: what is rare becomes what is common.
pub(super) fn plain(data_type: &DataType) -> Option<DataType> {
    let microseconds = TimeUnit::Microsecond;
    Some(match data_type {
        DataType::Dictionary(_, values) => plain(values).unwrap_or_else(|| (**values).clone()),
        DataType::UInt8 => DataType::Int16,
        DataType::Int8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::Float16 => DataType::Float32,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => {
            DataType::BinaryView
        }
        DataType::Date64 => DataType::Date32,
        DataType::Time32(_) | DataType::Time64(TimeUnit::Nanosecond) => {
            DataType::Time64(microseconds)
        }
        DataType::Timestamp(unit, zone) if *unit != microseconds => {
            DataType::Timestamp(microseconds, zone.clone())
        }
        DataType::LargeList(of) | DataType::FixedSizeList(of, _) => DataType::List(of.clone()),
        _ => return None,
    })
}
