//! Lists that clients send.

use super::{Type, binary_parameter, parameter};
use crate::error::{Failure, SqlState};
use bytes::Buf;
use gadus::{TextSettings, Value, list_elements};

const TEXT: i16 = 0;
/// Of a length that is none: NULL.
const NULL: i32 = -1;

/// A list of values of a type, from its text.
///
/// # Errors
/// Errors of its elements; `22P02` for a text that is no list.
pub(super) fn list_of_text(of: Type, bytes: &[u8], times: &TextSettings) -> Result<Value, Failure> {
    list(of, from_text(of, bytes, times)?)
}

/// A list of values of a type, from its binary form.
///
/// # Errors
/// Errors of its elements; `22P03` for bytes that are no list; `0A000` for lists in lists.
pub(super) fn list_of_binary(of: Type, bytes: &[u8]) -> Result<Value, Failure> {
    list(of, from_binary(of, bytes)?)
}

/// Values of a type as a list.
pub(crate) fn list(of: Type, values: Vec<Value>) -> Result<Value, Failure> {
    let scale = |value: &Value| match value {
        Value::Decimal(_, scale) => *scale,
        _ => 0,
    };
    let scale = values.iter().map(scale).max().unwrap_or(0);
    Ok(Value::list(&of.arrow(scale), values)?)
}

fn from_text(of: Type, bytes: &[u8], times: &TextSettings) -> Result<Vec<Value>, Failure> {
    let text = super::parameter::text_of(bytes)?;
    let elements = list_elements(text).ok_or_else(|| {
        let shown = text.chars().take(60).collect::<String>();
        Failure::new(SqlState::INVALID_TEXT, format!("malformed array literal: \"{shown}\""))
    })?;
    let value = |element: Option<String>| match element {
        Some(element) => parameter(of.oid(), TEXT, element.as_bytes(), times),
        None => Ok(Value::Null),
    };
    elements.into_iter().map(value).collect()
}

/// One dimension: their number, whether NULLs may be, the type, how many elements, the first one's index,
/// and each behind its length.
fn from_binary(of: Type, bytes: &[u8]) -> Result<Vec<Value>, Failure> {
    let malformed = || Failure::new(SqlState::INVALID_BINARY, "a list is not what its length says");
    let mut rest = bytes;
    let number = |rest: &mut &[u8]| rest.try_get_i32().map_err(|_| malformed());
    let dimensions = number(&mut rest)?;
    let (_has_nulls, oid) = (number(&mut rest)?, number(&mut rest)?);
    if !(0..=1).contains(&dimensions) {
        let text = format!("lists of {dimensions} dimensions as parameters");
        return Err(Failure::new(SqlState::FEATURE_NOT_SUPPORTED, text));
    }
    if u32::try_from(oid) != Ok(of.oid()) {
        let text = format!("a list of {} has elements of the type {oid}", of.name());
        return Err(Failure::new(SqlState::INVALID_BINARY, text));
    }
    let mut values = Vec::new();
    if dimensions == 1 {
        let (count, _first) = (number(&mut rest)?, number(&mut rest)?);
        for _ in 0..usize::try_from(count).map_err(|_| malformed())? {
            let length = number(&mut rest)?;
            if length == NULL {
                values.push(Value::Null);
                continue;
            }
            let length = usize::try_from(length).map_err(|_| malformed())?;
            let (element, behind) = rest.split_at_checked(length).ok_or_else(malformed)?;
            values.push(binary_parameter(of.oid(), element)?);
            rest = behind;
        }
    }
    if rest.is_empty() { Ok(values) } else { Err(malformed()) }
}
