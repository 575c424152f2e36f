//! Constants and parameters.

use super::arrays::array_literal;
use super::casts::converted;
use super::json::document_kind;
use super::times::{limited_literal, time_literal};
use super::types::{decimal, is_numeric, lowered_type, parameter_type};
use super::{Lowering, Result, Typed, missing};
use crate::json::{JSONB, to_json, to_jsonb};
use crate::numerics::NUMERIC;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, lit};
use gadus_binder::bound::Constant;
use gadus_binder::types::{BaseType, Modifier, SqlType};
use gadus_engine::Characters;
use gadus_functions::json::DocumentKind;
use gadus_numeric::Numeric;
use gadus_syntax::Span;
use std::sync::Arc;

impl Lowering<'_> {
    /// Lowers a literal.
    pub(super) fn constant(
        &self,
        constant: &Constant,
        data_type: SqlType,
        span: Span,
    ) -> Result<Typed> {
        // NULL has no digits and no length.
        let data_type = match constant {
            Constant::Null => data_type.id.plain(),
            _ => data_type,
        };
        if is_numeric(data_type) && data_type.modifier == Modifier::None {
            return numeric(constant);
        }
        if let (Constant::Text(text), true) = (constant, data_type.modifier != Modifier::None)
            && let Some(value) = limited_literal(text, data_type, span)?
        {
            return Ok(value);
        }
        if data_type.modifier != Modifier::None {
            return missing(format!("a literal of type {data_type}"));
        }
        if let (Constant::Text(text), true) = (constant, data_type.id.is_array) {
            return array_literal(text, data_type, span);
        }
        let wanted =
            if data_type.id.is_unknown() { DataType::Utf8View } else { lowered_type(data_type)? };
        let value = match (constant, &wanted) {
            (Constant::Null, _) => ScalarValue::try_from(&wanted)?,
            (Constant::Boolean(value), DataType::Boolean) => ScalarValue::Boolean(Some(*value)),
            (Constant::Integer(value), DataType::Int16 | DataType::Int32 | DataType::Int64) => {
                ScalarValue::Int64(Some(*value)).cast_to(&wanted)?
            }
            (Constant::Text(text), _) => return text_literal(text, data_type, wanted, span),
            _ => return missing(format!("a literal of type {data_type}")),
        };
        Ok(Typed::new(lit(value), wanted))
    }

    /// Lowers `$1`.
    pub(super) fn parameter(&self, number: u32, data_type: SqlType) -> Result<Typed> {
        let known =
            usize::try_from(number).ok().and_then(|at| self.parameters.get(at.checked_sub(1)?));
        let data_type = known.copied().unwrap_or(data_type);
        let Some(wanted) = parameter_type(data_type) else {
            return missing(format!("type {data_type}"));
        };
        let name = format!("${number}");
        let field = Arc::new(Field::new(&name, wanted.clone(), true));
        let placeholder = Placeholder::new_with_field(name, Some(field));
        let value = Expr::Placeholder(placeholder);
        Ok(match document_kind(data_type.id) {
            Some(DocumentKind::Text) => Typed::new(to_json(value), wanted),
            Some(DocumentKind::Binary) => Typed::new(to_jsonb(value), JSONB),
            None => Typed::new(value, wanted),
        })
    }
}

/// Returns a literal that is written as a text: read now if that is sure to succeed, else where the statement runs.
fn text_literal(text: &str, data_type: SqlType, wanted: DataType, span: Span) -> Result<Typed> {
    if let Some(value) = time_literal(text, &wanted, span)? {
        return Ok(Typed::new(lit(value), wanted));
    }
    let plain = |text: &str| lit(ScalarValue::Utf8View(Some(text.to_owned())));
    let literal = plain(text);
    let expr = match data_type.id.base {
        BaseType::Text | BaseType::Varchar | BaseType::Unknown | BaseType::Jsonpath => literal,
        // What the binder does not check is too deep.
        BaseType::Json => to_json(literal),
        BaseType::Name => plain(&Characters::Name.cut(text)),
        BaseType::Char => plain(&Characters::Byte.cut(text)),
        BaseType::Bpchar => plain(text.trim_end_matches(' ')),
        _ => {
            let literal = Typed::new(literal, DataType::Utf8View);
            return converted(literal, wanted, false);
        }
    };
    Ok(Typed::new(expr, wanted))
}

/// Returns a numeric with exactly its digits. NULL has none.
fn numeric(constant: &Constant) -> Result<Typed> {
    let (digits, scale) = match constant {
        Constant::Null => return Ok(Typed::new(lit(ScalarValue::Null), DataType::Null)),
        Constant::Integer(value) => (value.to_string(), 0),
        Constant::Text(text) => match plain_digits(text) {
            Some(plain) => plain,
            None => return written(text),
        },
        Constant::Boolean(_) => return missing("a boolean as numeric"),
    };
    let Ok(value) = digits.parse::<i128>() else { return written(&with_point(&digits, scale)) };
    let count = digits.trim_start_matches(['-', '0']).len().max(usize::from(scale.unsigned_abs()));
    let wanted = u8::try_from(count).ok().and_then(|precision| decimal(precision.max(1), scale));
    let Some(DataType::Decimal128(precision, scale)) = wanted else {
        return written(&with_point(&digits, scale));
    };
    let value = ScalarValue::Decimal128(Some(value), precision, scale);
    Ok(Typed::new(lit(value), DataType::Decimal128(precision, scale)))
}

/// Returns a numeric with its digits behind the point after those before it.
fn with_point(digits: &str, scale: i8) -> String {
    format!("{digits}e-{scale}")
}

/// Returns a numeric that is no decimal of Arrow's.
fn written(text: &str) -> Result<Typed> {
    let Ok(value) = Numeric::parse(text, None) else { return missing(format!("numeric {text}")) };
    let mut bytes = Vec::new();
    value.write(&mut bytes);
    Ok(Typed::new(lit(ScalarValue::LargeBinary(Some(bytes))), NUMERIC))
}

/// Returns the digits of a numeric without its point, and how many of them are behind it.
fn plain_digits(text: &str) -> Option<(String, i8)> {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(unsigned) || !are_digits(fraction) || unsigned.len() + fraction.len() == 0 {
        return None;
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    let zeros = usize::try_from(scale.min(0).unsigned_abs()).ok().filter(|zeros| *zeros <= 64)?;
    let whole = whole.strip_prefix('+').unwrap_or(whole);
    let digits = format!("{whole}{fraction}{}", "0".repeat(zeros));
    Some((digits, i8::try_from(scale.max(0)).ok()?))
}
