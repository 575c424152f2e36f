//! Characters by their codes, and fields of texts.

use crate::error::{FunctionError, INVALID_PARAMETER, Result};

/// SQLSTATE of a character that no text has.
const NO_CHARACTER: &str = "54000";

/// Returns the character of a code.
///
/// # Errors
/// 22023 of negative codes, 54000 of zero, and of codes that Unicode does not have.
pub fn chr(code: i32) -> Result<String> {
    if code == 0 {
        return Err(FunctionError::new(NO_CHARACTER, "null character not permitted"));
    }
    if code < 0 {
        let message = "character number must be positive";
        return Err(FunctionError::new(INVALID_PARAMETER, message));
    }
    let found = u32::try_from(code).ok().and_then(char::from_u32);
    found.map(String::from).ok_or_else(|| {
        let message = match code {
            0x11_0000.. => format!("requested character too large for encoding: {code}"),
            _ => format!("requested character not valid for encoding: {code}"),
        };
        FunctionError::new(NO_CHARACTER, message)
    })
}

/// Returns the field of a number, from 1, or from -1 at the end; an empty text if there is none.
///
/// # Errors
/// 22023 of the field 0.
pub fn split_part(text: &str, separator: &str, field: i32) -> Result<String> {
    if field == 0 {
        return Err(FunctionError::new(INVALID_PARAMETER, "field position must not be zero"));
    }
    if separator.is_empty() {
        return Ok(if field.abs() == 1 { text.to_owned() } else { String::new() });
    }
    let place = usize::try_from(field.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    let found = match field > 0 {
        true => text.split(separator).nth(place),
        // Fields are those that are found from the beginning.
        false => {
            let fields = text.split(separator).collect::<Vec<_>>();
            fields.len().checked_sub(place + 1).map(|place| fields[place])
        }
    };
    Ok(found.unwrap_or_default().to_owned())
}
