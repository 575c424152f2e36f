//! Parameters that clients send, as values of statements.

use super::binary::{EPOCH_DAYS, EPOCH_MICROSECONDS, MICROSECONDS_A_DAY};
use super::list::{list_of_binary, list_of_text};
use super::{Type, numeric};
use crate::error::{Failure, SqlState};
use bytes::Buf;
use gadus::{Interval, TextSettings, Value, read_bytes, read_time, uuid_of_text, uuid_text};

/// A value of a type, from its text or binary form; times in a session's zone and styles.
///
/// # Errors
/// `22P02`, `22007` and `22003` for text that is no such value, `22P03` for wrong binary forms, `22021` for text
/// that is not UTF-8, `0A000` for types that are not known.
pub(crate) fn parameter(
    oid: u32,
    format: i16,
    bytes: &[u8],
    times: &TextSettings,
) -> Result<Value, Failure> {
    if format != 0 {
        return binary_parameter(oid, bytes);
    }
    match Type::of_elements(oid) {
        Some(element) => list_of_text(element, bytes, times),
        None => from_text(known(oid)?, text_of(bytes)?, times),
    }
}

/// A value of a type, from its binary form.
///
/// # Errors
/// `22P03` for wrong forms, `22021` for text that is not UTF-8, `0A000` for types that are not known.
pub(crate) fn binary_parameter(oid: u32, bytes: &[u8]) -> Result<Value, Failure> {
    match Type::of_elements(oid) {
        Some(element) => list_of_binary(element, bytes),
        None => from_binary(known(oid)?, bytes),
    }
}

/// The type of a number; a text where it is not determined, as everywhere.
fn known(oid: u32) -> Result<Type, Failure> {
    Type::of(if oid == 0 { Type::Text.oid() } else { oid }).ok_or_else(|| {
        let text = format!("parameters of the type with the number {oid}");
        Failure::new(SqlState::FEATURE_NOT_SUPPORTED, text)
            .hint("send it as text and cast it in the statement")
    })
}

/// Text that can be a value: UTF-8 without NUL.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, Failure> {
    let text = std::str::from_utf8(bytes).map_err(|error| Failure::encoding(&error))?;
    match text.contains('\0') {
        true => Err(Failure::new(SqlState::NOT_IN_REPERTOIRE, "a text holds the character 0")),
        false => Ok(text),
    }
}

fn from_text(known: Type, text: &str, times: &TextSettings) -> Result<Value, Failure> {
    let trimmed = text.trim();
    let invalid = || {
        let shown = text.chars().take(60).collect::<String>();
        let message = format!("invalid input syntax for type {}: \"{shown}\"", known.name());
        Failure::new(SqlState::INVALID_TEXT, message)
    };
    Ok(match known {
        Type::Bool => Value::Boolean(boolean(trimmed).ok_or_else(invalid)?),
        Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid => whole(known, trimmed, invalid)?,
        Type::Float4 | Type::Float8 => Value::Float(trimmed.parse().map_err(|_| invalid())?),
        Type::Numeric => {
            let (value, scale) = numeric::read_text(text)?;
            Value::Decimal(value, scale)
        }
        Type::Bytea => Value::Binary(read_bytes(text)?),
        Type::Date | Type::Time | Type::Timestamp | Type::Timestamptz | Type::Interval => {
            read_time(text, &known.arrow(0), times)?
        }
        Type::Uuid => {
            uuid_of_text(trimmed).ok_or_else(invalid)?;
            Value::Text(trimmed.to_owned())
        }
        Type::Char
        | Type::Name
        | Type::Text
        | Type::Json
        | Type::Jsonb
        | Type::Unknown
        | Type::Bpchar
        | Type::Varchar => Value::Text(text.to_owned()),
    })
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn whole(known: Type, text: &str, invalid: impl Fn() -> Failure) -> Result<Value, Failure> {
    let value = text.parse::<i128>().map_err(|_| invalid())?;
    let fits = match known {
        Type::Int2 => i16::try_from(value).is_ok(),
        Type::Int4 => i32::try_from(value).is_ok(),
        Type::Oid => u32::try_from(value).is_ok(),
        _ => true,
    };
    let value = i64::try_from(value).ok().filter(|_| fits).ok_or_else(|| {
        let message = format!("value \"{text}\" is out of range for type {}", known.name());
        Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message)
    })?;
    Ok(Value::Integer(value))
}

fn from_binary(known: Type, bytes: &[u8]) -> Result<Value, Failure> {
    let size =
        usize::try_from(known.size()).ok().filter(|_| !matches!(known, Type::Name | Type::Char));
    if size.is_some_and(|size| size != bytes.len()) {
        let message = format!("a value of type {} has {} bytes", known.name(), bytes.len());
        return Err(Failure::new(SqlState::INVALID_BINARY, message));
    }
    let mut rest = bytes;
    Ok(match known {
        Type::Bool => Value::Boolean(rest.get_u8() != 0),
        Type::Int2 => Value::Integer(rest.get_i16().into()),
        Type::Int4 => Value::Integer(rest.get_i32().into()),
        Type::Int8 => Value::Integer(rest.get_i64()),
        Type::Oid => Value::Integer(rest.get_u32().into()),
        Type::Float4 => Value::Float(rest.get_f32().into()),
        Type::Float8 => Value::Float(rest.get_f64()),
        Type::Numeric => {
            let (value, scale) = numeric::read_binary(rest)?;
            Value::Decimal(value, scale)
        }
        Type::Bytea => Value::Binary(bytes.to_vec()),
        Type::Date | Type::Time | Type::Timestamp | Type::Timestamptz | Type::Interval => {
            time_from_binary(known, rest).ok_or_else(|| {
                let message = format!("a value is out of range for type {}", known.name());
                Failure::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message)
            })?
        }
        Type::Uuid => Value::Text(uuid_text(bytes).unwrap_or_default()),
        Type::Jsonb => {
            // A version stands before the text.
            let text = bytes.strip_prefix(&[1]).ok_or_else(|| {
                Failure::new(SqlState::INVALID_BINARY, "unsupported jsonb version number")
            })?;
            Value::Text(text_of(text)?.to_owned())
        }
        Type::Char
        | Type::Name
        | Type::Text
        | Type::Json
        | Type::Unknown
        | Type::Bpchar
        | Type::Varchar => Value::Text(text_of(bytes)?.to_owned()),
    })
}

/// Reads a date, a time or an interval; `None` if it is out of range.
fn time_from_binary(known: Type, mut rest: &[u8]) -> Option<Value> {
    Some(match known {
        // The least and the greatest are infinite.
        Type::Date => Value::Date(match rest.get_i32() {
            infinity @ (i32::MIN | i32::MAX) => infinity,
            day => day.checked_add(EPOCH_DAYS).filter(|day| *day != i32::MAX)?,
        }),
        Type::Time => {
            let time = Some(rest.get_i64()).filter(|time| (0..=MICROSECONDS_A_DAY).contains(time));
            Value::Time(time?)
        }
        Type::Interval => {
            let microseconds = rest.get_i64();
            let (days, months) = (rest.get_i32(), rest.get_i32());
            Value::Interval(Interval { months, days, microseconds }.within_range().ok()?)
        }
        _ => {
            let time = match rest.get_i64() {
                infinity @ (i64::MIN | i64::MAX) => infinity,
                time => time.checked_add(EPOCH_MICROSECONDS).filter(|time| *time != i64::MAX)?,
            };
            if known == Type::Timestamp {
                Value::Timestamp(time)
            } else {
                Value::TimestampUtc(time)
            }
        }
    })
}
