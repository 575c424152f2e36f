//! Arrow types of SQL types.

use super::arrays::common_array;
use super::{Result, missing};
use crate::arrays::list_of;
use crate::json::JSONB;
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use gadus_binder::types::{BaseType, Modifier, SqlType};
use gadus_engine::{INTERVAL, UUID};

/// Digits of a numeric that a plan computes with; more have no plan yet.
pub(super) const DIGITS_MAX: u8 = 38;

/// Returns the Arrow type of values of a SQL type, of arrays with one dimension; `None` if there is none, or if the SQL type
/// alone does not say it.
pub(super) fn arrow_type(data_type: SqlType) -> Option<DataType> {
    if let Some(element) = element_type(data_type) {
        // Documents in arrays would be compared as texts.
        let is_document = matches!(element.id.base, BaseType::Json | BaseType::Jsonb);
        return if is_document { None } else { arrow_type(element).map(list_of) };
    }
    Some(match data_type.id.base {
        BaseType::Bool => DataType::Boolean,
        BaseType::Int2 => DataType::Int16,
        BaseType::Int4 => DataType::Int32,
        BaseType::Int8 => DataType::Int64,
        BaseType::Float4 => DataType::Float32,
        BaseType::Float8 => DataType::Float64,
        BaseType::Text | BaseType::Varchar | BaseType::Bpchar | BaseType::Name | BaseType::Char => {
            DataType::Utf8View
        }
        BaseType::Json | BaseType::Jsonpath => DataType::Utf8View,
        BaseType::Jsonb => JSONB,
        BaseType::Bytea => DataType::BinaryView,
        BaseType::Date => DataType::Date32,
        BaseType::Time => DataType::Time64(TimeUnit::Microsecond),
        BaseType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        BaseType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        BaseType::Interval => INTERVAL,
        BaseType::Uuid => UUID,
        BaseType::Numeric => {
            let Modifier::Numeric { precision, scale } = data_type.modifier else { return None };
            decimal(u8::try_from(precision).ok()?, i8::try_from(scale).ok()?)?
        }
        _ => return None,
    })
}

/// Returns the Arrow type of values of parameters of a SQL type; `None` if there is none.
pub(crate) fn parameter_type(data_type: SqlType) -> Option<DataType> {
    // Documents are read when the statement runs.
    match arrow_type(data_type)? {
        of if of == JSONB => Some(DataType::Utf8View),
        of => Some(of),
    }
}

/// Returns the Arrow type of a SQL type, or says that it has none.
pub(super) fn lowered_type(data_type: SqlType) -> Result<DataType> {
    match arrow_type(data_type) {
        Some(lowered) => Ok(lowered),
        None if element_type(data_type).is_some_and(is_numeric) => Ok(list_of(NUMERIC)),
        None => missing(format!("type {data_type}")),
    }
}

/// Returns the type of the elements of arrays; `None` for other types.
pub(super) fn element_type(data_type: SqlType) -> Option<SqlType> {
    data_type.id.element().map(|id| SqlType { id, ..data_type })
}

/// Returns the decimal of so many digits, if there is one.
pub(super) fn decimal(precision: u8, scale: i8) -> Option<DataType> {
    let fits = scale >= 0 && precision <= DIGITS_MAX && scale.unsigned_abs() <= precision;
    fits.then_some(DataType::Decimal128(precision.max(1), scale))
}

/// Returns true for the Arrow types of numerics.
pub(super) fn is_exact(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal128(..) | DataType::Null) || *data_type == NUMERIC
}

/// Returns true for numerics, whose Arrow type has the number of digits behind the point.
pub(super) fn is_numeric(data_type: SqlType) -> bool {
    !data_type.id.is_array && data_type.id.base == BaseType::Numeric
}

/// Returns the type of values of both types, with their digits behind the point; `None` for types that have none in
/// common.
pub(super) fn common_type(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (left, right) if left == right => Some(left.clone()),
        (DataType::Decimal128(left, scale), DataType::Decimal128(right, other))
            if scale == other =>
        {
            decimal(*left.max(right), *scale)
        }
        (left, right) if is_exact(left) && is_exact(right) => Some(NUMERIC),
        (left, right) => common_array(left, right, common_type),
    }
}
