//! Literals and parameters.

use super::Binder;
use crate::bound::{Constant, Scalar, ScalarKind};
use crate::error::{BindError, Result};
use crate::types::{TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{Literal, Parameter};

/// Binds a literal.
pub(super) fn literal(literal: &Literal, span: Span) -> Result<Scalar> {
    let (constant, data_type) = match literal {
        Literal::Null => (Constant::Null, constants::UNKNOWN),
        Literal::Boolean(value) => (Constant::Boolean(*value), constants::BOOL),
        Literal::Integer(digits) => integer(digits, false),
        Literal::Decimal(digits) => (Constant::Text(digits.clone()), constants::NUMERIC),
        Literal::Text(text) => (Constant::Text(text.clone()), constants::UNKNOWN),
        Literal::Bits(bits) => (Constant::Text(bits.clone()), constants::BIT),
        Literal::HexBits(digits) => (Constant::Text(bits_of(digits, span)?), constants::BIT),
    };
    Ok(Scalar::new(ScalarKind::Constant(constant), data_type, span))
}

/// Binds the negative of a number; `None` for other literals.
pub(super) fn negative(literal: &Literal, span: Span) -> Option<Scalar> {
    let (constant, data_type) = match literal {
        Literal::Integer(digits) => integer(digits, true),
        Literal::Decimal(digits) => (Constant::Text(format!("-{digits}")), constants::NUMERIC),
        _ => return None,
    };
    Some(Scalar::new(ScalarKind::Constant(constant), data_type, span))
}

/// Returns an integer of the smallest type from int4 on that holds it.
fn integer(digits: &str, is_negative: bool) -> (Constant, TypeId) {
    let (radix, plain) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    let magnitude = i128::from_str_radix(plain, radix);
    let value = magnitude.map(|value| if is_negative { -value } else { value });
    match value {
        Ok(value) if let Ok(small) = i32::try_from(value) => {
            (Constant::Integer(small.into()), constants::INT4)
        }
        Ok(value) if let Ok(large) = i64::try_from(value) => {
            (Constant::Integer(large), constants::INT8)
        }
        Ok(value) => (Constant::Text(value.to_string()), constants::NUMERIC),
        Err(_) => {
            let sign = if is_negative { "-" } else { "" };
            (Constant::Text(format!("{sign}{digits}")), constants::NUMERIC)
        }
    }
}

fn bits_of(digits: &str, span: Span) -> Result<String> {
    let mut bits = String::with_capacity(digits.len() * 4);
    for digit in digits.chars() {
        let Some(value) = digit.to_digit(16) else {
            let message = format!("\"{digit}\" is not a valid hexadecimal digit");
            return Err(BindError::new("22P02", message, span));
        };
        bits.push_str(&format!("{value:04b}"));
    }
    Ok(bits)
}

impl Binder<'_> {
    /// Binds a parameter, whose type may follow from where it stands.
    pub(super) fn parameter(&mut self, parameter: &Parameter, span: Span) -> Result<Scalar> {
        let number = match parameter {
            Parameter::Number(number) | Parameter::Next(number) if *number > 0 => *number,
            Parameter::Number(number) | Parameter::Next(number) => {
                let message = format!("there is no parameter ${number}");
                return Err(BindError::new("42P02", message, span));
            }
            Parameter::Name(_) => return Err(BindError::unsupported("a named parameter", span)),
        };
        let known = self.parameters.data_type(number);
        let data_type = known.unwrap_or_else(|| constants::UNKNOWN.plain());
        Ok(Scalar::new(ScalarKind::Parameter(number), data_type, span))
    }
}
