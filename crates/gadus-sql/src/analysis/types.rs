//! Column types as the binder's types.

use gadus_binder::types::{BaseType, Modifier, SqlType, TypeId, constants};
use gadus_engine::{Characters, ColumnType, Nested, NumericDigits};

/// Returns the binder's type of a column; `None` for types that PostgreSQL does not have.
pub(super) fn sql_type(column_type: ColumnType) -> Option<SqlType> {
    let id = match column_type {
        ColumnType::Boolean => constants::BOOL,
        ColumnType::Int16 => constants::INT2,
        ColumnType::Int32 => constants::INT4,
        ColumnType::Int64 => constants::INT8,
        ColumnType::Float32 => constants::FLOAT4,
        ColumnType::Float64 => constants::FLOAT8,
        ColumnType::Decimal { precision, scale } => {
            let modifier = Modifier::Numeric { precision: precision.into(), scale: scale.into() };
            return Some(SqlType { id: constants::NUMERIC, modifier });
        }
        ColumnType::Numeric(None) => constants::NUMERIC,
        ColumnType::Numeric(Some(NumericDigits { precision, scale })) => {
            return Some(SqlType {
                id: constants::NUMERIC,
                modifier: Modifier::Numeric { precision, scale },
            });
        }
        ColumnType::Text => constants::TEXT,
        ColumnType::Binary => constants::BYTEA,
        ColumnType::Date => constants::DATE,
        ColumnType::Time => constants::TIME,
        ColumnType::Timestamp => constants::TIMESTAMP,
        ColumnType::TimestampUtc => constants::TIMESTAMPTZ,
        ColumnType::Uuid => constants::UUID,
        ColumnType::Interval => constants::INTERVAL,
        ColumnType::Json => constants::JSON,
        ColumnType::Jsonb => constants::JSONB,
        ColumnType::Characters(of) => return Some(characters_type(of)),
        ColumnType::Enum(of) => TypeId::scalar(BaseType::Enum(of.name())),
        ColumnType::Nested(Nested::List(element)) => {
            let element = sql_type(*element)?;
            // An array has one type, whatever its dimensions.
            let id = if element.id.is_array { element.id } else { element.id.array_of()? };
            return Some(SqlType { id, ..element });
        }
        ColumnType::Nested(_)
        | ColumnType::Int8
        | ColumnType::UInt8
        | ColumnType::UInt16
        | ColumnType::UInt32
        | ColumnType::UInt64 => return None,
    };
    Some(id.plain())
}

/// Returns the binder's type of a character type.
fn characters_type(of: Characters) -> SqlType {
    let (id, modifier) = match of {
        Characters::Varchar(length) => (constants::VARCHAR, Modifier::Length(length)),
        Characters::Char(length) => (constants::BPCHAR, Modifier::Length(length)),
        Characters::Name => (constants::NAME, Modifier::None),
        Characters::Byte => (constants::CHAR, Modifier::None),
    };
    SqlType { id, modifier }
}
