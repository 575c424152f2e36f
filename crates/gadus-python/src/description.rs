//! What DB-API 2.0 wants to know of a result's columns.

use gadus::arrow::datatypes::{DataType, Field, Schema};
use gadus::is_numeric_text;
use pyo3::prelude::*;
use pyo3::types::PyList;

/// Name, type, display size, internal size, precision, scale, and whether it may be NULL, of each column.
pub(crate) fn description<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyList>> {
    let fields = schema.fields().iter().map(|field| {
        let (precision, scale) = match field.data_type() {
            DataType::Decimal128(precision, scale) => (Some(*precision), Some(*scale)),
            _ => (None, None),
        };
        let (name, nullable) = (field.name().as_str(), field.is_nullable());
        let sizes = (None::<usize>, None::<usize>);
        (name, type_of(field), sizes.0, sizes.1, precision, scale, nullable)
    });
    PyList::new(py, fields)
}

fn type_of(field: &Field) -> String {
    if is_numeric_text(field) { "DECIMAL".to_owned() } else { sql_type(field.data_type()) }
}

/// The SQL name of a type.
fn sql_type(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Boolean => "BOOLEAN",
        DataType::Int8 => "TINYINT",
        DataType::Int16 => "SMALLINT",
        DataType::Int32 => "INTEGER",
        DataType::Int64 => "BIGINT",
        DataType::UInt8 => "UTINYINT",
        DataType::UInt16 => "USMALLINT",
        DataType::UInt32 => "UINTEGER",
        DataType::UInt64 => "UBIGINT",
        DataType::Float16 | DataType::Float32 => "REAL",
        DataType::Float64 => "DOUBLE",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "TEXT",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BYTEA",
        uuid if *uuid == gadus::UUID => "UUID",
        DataType::Date32 | DataType::Date64 => "DATE",
        DataType::Time32(_) | DataType::Time64(_) => "TIME",
        DataType::Timestamp(_, None) => "TIMESTAMP",
        DataType::Timestamp(_, Some(_)) => "TIMESTAMPTZ",
        DataType::Interval(_) | DataType::Duration(_) => "INTERVAL",
        DataType::Decimal128(..) | DataType::Decimal256(..) => "DECIMAL",
        DataType::Dictionary(_, values) => return sql_type(values),
        other => return other.to_string().to_uppercase(),
    };
    name.to_owned()
}
