//! Errors of Arrow's kernels in PostgreSQL's words.

use arrow::error::ArrowError;

/// Returns the text of an error of Arrow's as PostgreSQL has it; `None` if it has none.
pub(super) fn postgres_text(error: &ArrowError) -> Option<String> {
    match error {
        ArrowError::DivideByZero => Some("division by zero".to_owned()),
        ArrowError::ArithmeticOverflow(_) => Some("value out of range: overflow".to_owned()),
        ArrowError::CastError(text) => {
            // `Cannot cast string 'x' to value of Int32 type`, `Can't cast value 40000 to type Int16`
            if let Some(rest) = text.strip_prefix("Cannot cast string '") {
                let (value, data_type) = rest.rsplit_once("' to value of ")?;
                let name = postgres_type(data_type.strip_suffix(" type")?)?;
                return Some(format!("invalid input syntax for type {name}: \"{value}\""));
            }
            let (_, data_type) =
                text.strip_prefix("Can't cast value ")?.rsplit_once(" to type ")?;
            Some(format!("{} out of range", postgres_type(data_type)?))
        }
        _ => None,
    }
}

fn postgres_type(data_type: &str) -> Option<&'static str> {
    Some(match data_type {
        "Int16" => "smallint",
        "Int32" => "integer",
        "Int64" => "bigint",
        "Float32" => "real",
        "Float64" => "double precision",
        "Boolean" => "boolean",
        "Date32" => "date",
        _ if data_type.starts_with("Decimal128") => "numeric",
        _ => return None,
    })
}
