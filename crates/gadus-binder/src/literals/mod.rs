//! Literals of undecided type, read as PostgreSQL's input functions do.
//!
//! - A text that certainly is a value of the type becomes that value in one form; one that certainly is none is an error.
//! - All else stays as it is written: forms that depend on the time, on settings of a session or on a catalog.
//! - Modifiers are no concern here: PostgreSQL applies a length or a precision when the statement runs.

mod array_texts;
mod arrays;
mod binary;
mod calendar;
mod date_fields;
mod dates;
mod intervals;
mod json;
mod numbers;
mod numeric;

pub use array_texts::{ArrayText, read_array};

use crate::bound::Constant;
use crate::error::{BindError, Result};
use crate::provider::Provider;
use crate::types::{BaseType, Category, TypeId};
use gadus_syntax::Span;

/// Reads a literal as a value of a type; returns the text itself if its meaning is not certain.
pub(crate) fn read(
    text: &str,
    target: TypeId,
    provider: &dyn Provider,
    span: Span,
) -> Result<Constant> {
    match read_if_certain(text, target, provider) {
        Ok(value) => Ok(value.unwrap_or_else(|| Constant::Text(text.to_owned()))),
        Err(error) => Err(BindError { span: Some(span), ..error }),
    }
}

/// Returns true if the value of a literal depends on the time: `now`, `today` and the like.
pub(crate) fn is_volatile(text: &str, target: TypeId) -> bool {
    target.category() == Category::DateTime && dates::names_present(text)
}

/// Value of a literal; `None` if the text stays as it is.
type Read = Result<Option<Constant>>;

fn read_if_certain(text: &str, target: TypeId, provider: &dyn Provider) -> Read {
    if target.is_array {
        return arrays::read(text, target, provider);
    }
    match target.base {
        BaseType::Bool => numbers::boolean(text),
        BaseType::Int2 => numbers::integer(text, i64::from(i16::MIN), "smallint"),
        BaseType::Int4 => numbers::integer(text, i64::from(i32::MIN), "integer"),
        BaseType::Int8 => numbers::integer(text, i64::MIN, "bigint"),
        BaseType::Oid => numbers::object_identifier(text),
        BaseType::Float4 => numbers::float4(text),
        BaseType::Float8 => numbers::float8(text),
        BaseType::Numeric => numeric::read(text),
        BaseType::Date => dates::date(text),
        BaseType::Time => dates::time(text),
        BaseType::Timetz => dates::timetz(text),
        BaseType::Timestamp => dates::timestamp(text),
        BaseType::Timestamptz => dates::timestamptz(text),
        BaseType::Interval => intervals::read(text),
        BaseType::Uuid => binary::uuid(text),
        BaseType::Bytea => binary::bytea(text),
        BaseType::Bit | BaseType::Varbit => binary::bits(text),
        BaseType::Json => json::check(text, json::Kind::Text),
        BaseType::Jsonb => json::check(text, json::Kind::Binary),
        // Read when the query is lowered.
        BaseType::Jsonpath => Ok(Some(Constant::Text(text.to_owned()))),
        BaseType::Enum(_) => label(text, target, provider),
        _ => Ok(None),
    }
}

/// Checks that an enumeration has a label.
fn label(text: &str, target: TypeId, provider: &dyn Provider) -> Read {
    let Some(labels) = provider.enum_labels(target) else { return Ok(None) };
    if labels.iter().any(|label| label == text) {
        return Ok(Some(Constant::Text(text.to_owned())));
    }
    let name = provider.type_name(target).unwrap_or_else(|| target.to_string());
    Err(refused("22P02", format!("invalid input value for enum {name}: \"{text}\"")))
}

/// Returns an error that has no position yet.
fn refused(sql_state: &'static str, message: impl Into<String>) -> BindError {
    BindError::new(sql_state, message, Span::default())
}

fn invalid_syntax(type_name: &str, text: &str) -> BindError {
    refused("22P02", format!("invalid input syntax for type {type_name}: \"{text}\""))
}

/// Returns true for the characters that C's `isspace` accepts.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r')
}

/// Splits a text after its leading ASCII digits.
fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns the rest of a text after a prefix whose letters may be of either case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

#[cfg(test)]
mod tests;
