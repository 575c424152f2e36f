//! Names of SQL types and the column types they mean.

use crate::characters::characters_of;
use crate::enums::{of_type, unknown_type};
use crate::error::{input, unsupported};
use crate::intervals::fields_of;
use crate::session::folded;
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, DataType, ExactNumberInfo, StructField, TimezoneInfo,
};
use gadus_engine::{ColumnType, Nested, NumericDigits, Reason, Result};

/// The column type of a type's name.
pub(crate) fn column_type(data_type: &DataType) -> Result<ColumnType> {
    if let Some(of) = characters_of(data_type)? {
        return Ok(ColumnType::Characters(of));
    }
    Ok(match data_type {
        DataType::Boolean | DataType::Bool => ColumnType::Boolean,
        DataType::TinyInt(_) | DataType::Int8(Some(_)) => ColumnType::Int8,
        DataType::SmallInt(_) | DataType::Int2(_) | DataType::Int16 => ColumnType::Int16,
        DataType::Int(_)
        | DataType::Integer(_)
        | DataType::Int4(_)
        | DataType::Int32
        | DataType::MediumInt(_) => ColumnType::Int32,
        DataType::BigInt(_) | DataType::Int8(None) | DataType::Int64 => ColumnType::Int64,
        DataType::TinyIntUnsigned(_) | DataType::UTinyInt | DataType::UInt8 => ColumnType::UInt8,
        DataType::SmallIntUnsigned(_) | DataType::USmallInt | DataType::UInt16 => {
            ColumnType::UInt16
        }
        DataType::IntUnsigned(_) | DataType::IntegerUnsigned(_) | DataType::UInt32 => {
            ColumnType::UInt32
        }
        DataType::BigIntUnsigned(_) | DataType::UBigInt | DataType::UInt64 => ColumnType::UInt64,
        DataType::Real | DataType::Float4 | DataType::Float32 => ColumnType::Float32,
        DataType::Double(_)
        | DataType::DoublePrecision
        | DataType::Float8
        | DataType::Float64
        | DataType::Float(_) => ColumnType::Float64,
        DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info) => decimal(*info)?,
        DataType::Text
        | DataType::Varchar(_)
        | DataType::CharVarying(_)
        | DataType::CharacterVarying(_)
        | DataType::Char(_)
        | DataType::Character(_)
        | DataType::String(_)
        | DataType::Nvarchar(_)
        | DataType::Clob(_) => ColumnType::Text,
        DataType::Bytea
        | DataType::Blob(_)
        | DataType::Binary(_)
        | DataType::Varbinary(_)
        | DataType::Bytes(_) => ColumnType::Binary,
        DataType::Date => ColumnType::Date,
        DataType::Time(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => ColumnType::Time,
        DataType::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
        | DataType::Datetime(_) => ColumnType::Timestamp,
        DataType::Timestamp(..) => ColumnType::TimestampUtc,
        DataType::Uuid => ColumnType::Uuid,
        DataType::Interval { .. } => match fields_of(data_type)? {
            Some(fields) if fields.keep_all() => ColumnType::Interval,
            _ => return Err(unsupported(&format!("a column of {data_type}, which would round"))),
        },
        DataType::JSON => ColumnType::Json,
        DataType::JSONB => ColumnType::Jsonb,
        serial if serial_type(serial).is_some() => serial_type(serial).unwrap_or(ColumnType::Int64),
        DataType::Custom(name, _) => named(&name.to_string(), data_type)?,
        DataType::Array(_) | DataType::Struct(..) | DataType::Map(..) => {
            ColumnType::nested(nested(data_type)?).ok_or_else(|| {
                let shown = data_type.to_string().chars().take(60).collect::<String>();
                input(format!(
                    "the type {shown} is not possible: types are up to 16 deep, with up to 1024 fields of different names"
                ))
            })?
        }
        other => return Err(unsupported(&format!("the type {other}"))),
    })
}

/// The column type of a name that no word of SQL is.
fn named(name: &str, data_type: &DataType) -> Result<ColumnType> {
    match name.to_ascii_lowercase().as_str() {
        "timestamptz" => Ok(ColumnType::TimestampUtc),
        "string" => Ok(ColumnType::Text),
        _ => of_type(data_type).map(ColumnType::Enum).ok_or_else(|| unknown_type(name)),
    }
}

/// What a list, a structure or a map is made of. Lists have any number of elements, whatever is written, as in
/// PostgreSQL.
fn nested(data_type: &DataType) -> Result<Nested> {
    let part = |part: &DataType| match column_type(part)? {
        ColumnType::Json | ColumnType::Jsonb => {
            Err(input(format!("{data_type}: JSON has lists and structures of its own")))
        }
        ColumnType::Enum(of) => Err(unsupported(&format!(
            "a list, a structure or a map of the enumeration {of}: make it of TEXT; it"
        ))),
        // Lengths of elements are not checked.
        ColumnType::Characters(_) => Ok(ColumnType::Text),
        part => Ok(part),
    };
    match data_type {
        DataType::Array(
            ArrayElemTypeDef::AngleBracket(element)
            | ArrayElemTypeDef::SquareBracket(element, _)
            | ArrayElemTypeDef::Parenthesis(element),
        ) => Ok(Nested::List(part(element)?)),
        DataType::Map(key, value) => Ok(Nested::Map(part(key)?, part(value)?)),
        DataType::Struct(fields, _) if !fields.is_empty() => {
            let field = |field: &StructField| match &field.field_name {
                Some(name) => Ok((folded(name), part(&field.field_type)?)),
                None => Err(input(format!("{data_type}: fields have names"))),
            };
            Ok(Nested::Struct(fields.iter().map(field).collect::<Result<_>>()?))
        }
        _ => Err(unsupported(&format!("the type {data_type}"))),
    }
}

/// The type of the numbers of a column that is a SERIAL of some kind.
pub(crate) fn serial_type(data_type: &DataType) -> Option<ColumnType> {
    let DataType::Custom(name, _) = data_type else { return None };
    match name.to_string().to_ascii_lowercase().as_str() {
        "smallserial" | "serial2" => Some(ColumnType::Int16),
        "serial" | "serial4" => Some(ColumnType::Int32),
        "bigserial" | "serial8" => Some(ColumnType::Int64),
        _ => None,
    }
}

/// Returns the type of NUMERIC: without digits it keeps all, with up to 38 it is a number of 64 or 128 bits.
fn decimal(info: ExactNumberInfo) -> Result<ColumnType> {
    let (precision, scale) = match info {
        ExactNumberInfo::None => return Ok(ColumnType::Numeric(None)),
        ExactNumberInfo::Precision(precision) => (precision, 0),
        ExactNumberInfo::PrecisionAndScale(precision, scale) => (precision, scale),
    };
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 1..=38), Ok(scale @ 0..)) if scale.unsigned_abs() <= precision => {
            Ok(ColumnType::Decimal { precision, scale })
        }
        _ => wide(i128::from(precision), i128::from(scale)),
    }
}

/// Returns the type of NUMERIC with other digits than those of 128 bits.
fn wide(precision: i128, scale: i128) -> Result<ColumnType> {
    let max = NumericDigits::MAX;
    let wrong = |what: &str, given: i128, least: i128| {
        let message = format!("NUMERIC {what} {given} must be between {least} and {max}");
        Err(input(message).because(Reason::InvalidParameter))
    };
    let Some(precision) = u16::try_from(precision).ok().filter(|digits| (1..=max).contains(digits))
    else {
        return wrong("precision", precision, 1);
    };
    let digits = i16::try_from(scale).ok().and_then(|scale| NumericDigits::new(precision, scale));
    match digits {
        Some(digits) => Ok(ColumnType::Numeric(Some(digits))),
        None => wrong("scale", scale, -i128::from(max)),
    }
}
