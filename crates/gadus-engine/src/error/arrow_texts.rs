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
                if is_integer(value) && matches!(name, "smallint" | "integer" | "bigint") {
                    return Some(format!("value \"{value}\" is out of range for type {name}"));
                }
                return Some(format!("invalid input syntax for type {name}: \"{value}\""));
            }
            // `value of 40000 is out of range Int16`
            let (_, data_type) = match text.strip_prefix("value of ") {
                Some(rest) => rest.rsplit_once(" is out of range ")?,
                None => text.strip_prefix("Can't cast value ")?.rsplit_once(" to type ")?,
            };
            Some(format!("{} out of range", postgres_type(data_type)?))
        }
        _ => None,
    }
}

/// Returns true for the text of a cast of a number, or of the digits of one, that does not fit its type.
pub(super) fn is_out_of_range(text: &str) -> bool {
    let of_digits = || {
        let rest = text.split_once("Cannot cast string '")?.1;
        let (value, data_type) = rest.rsplit_once("' to value of ")?;
        Some(is_integer(value) && data_type.starts_with("Int"))
    };
    text.contains("Can't cast value")
        || text.contains(" is out of range ")
        || of_digits().unwrap_or(false)
}

/// Returns true for the text of a whole number, of any size.
fn is_integer(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
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
