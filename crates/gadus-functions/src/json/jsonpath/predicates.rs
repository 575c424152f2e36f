//! Conditions of paths: true, false or unknown. Errors within them are unknown.

use super::run::{Context, Place};
use super::{Comparison, Expression, Predicate};
use crate::error::{FunctionError, Result};
use crate::json::sort_key::number_key;
use crate::json::value::Value;
use crate::patterns::regexp_like;
use std::cmp::Ordering;

/// Decides a condition.
pub(super) fn decided(
    context: &Context<'_>,
    condition: &Predicate,
    place: Place<'_>,
) -> Result<Option<bool>> {
    Ok(match condition {
        Predicate::And(left, right) => match decided(context, left, place)? {
            Some(false) => Some(false),
            known => match (known, decided(context, right, place)?) {
                (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
        },
        Predicate::Or(left, right) => match decided(context, left, place)? {
            Some(true) => Some(true),
            known => match (known, decided(context, right, place)?) {
                (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        },
        Predicate::Not(operand) => decided(context, operand, place)?.map(|value| !value),
        Predicate::IsUnknown(operand) => Some(decided(context, operand, place)?.is_none()),
        Predicate::Exists(operand) => {
            known(context.values(operand, place))?.map(|found| !found.is_empty())
        }
        Predicate::Compare(comparison, left, right) => {
            let pairs = (operands(context, left, place)?, operands(context, right, place)?);
            any(context, pairs, |left, right| compared(*comparison, left, right))?
        }
        Predicate::StartsWith(left, prefix) => {
            let pairs = (operands(context, left, place)?, operands(context, prefix, place)?);
            any(context, pairs, |text, prefix| {
                Ok(match (text, prefix) {
                    (Value::Text(text), Value::Text(prefix)) => Some(text.starts_with(prefix)),
                    _ => None,
                })
            })?
        }
        Predicate::LikeRegex(left, pattern, flags) => {
            let pairs = (operands(context, left, place)?, Some(vec![Value::Null]));
            any(context, pairs, |text, _| {
                Ok(match text {
                    Value::Text(text) => Some(regexp_like(text, pattern, flags)?),
                    _ => None,
                })
            })?
        }
        Predicate::Value(expression) => match context.values(expression, place)?.as_slice() {
            [Value::Boolean(value)] => Some(*value),
            [Value::Null] => None,
            _ => return Err(FunctionError::new("42601", "syntax error at end of jsonpath input")),
        },
    })
}

/// Returns the values of an operand, arrays unwrapped in lax mode; `None` if it fails.
fn operands(
    context: &Context<'_>,
    expression: &Expression,
    place: Place<'_>,
) -> Result<Option<Vec<Value>>> {
    let Some(values) = known(context.values(expression, place))? else { return Ok(None) };
    if context.is_strict {
        return Ok(Some(values));
    }
    let mut unwrapped = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Array(elements) => unwrapped.extend(elements),
            other => unwrapped.push(other),
        }
    }
    Ok(Some(unwrapped))
}

/// Makes errors of values unknown.
fn known<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.sqlstate.starts_with("22") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Decides if a condition holds for any pair: in strict mode all pairs are looked at, and one that is unknown decides.
fn any(
    context: &Context<'_>,
    (left, right): (Option<Vec<Value>>, Option<Vec<Value>>),
    decide: impl Fn(&Value, &Value) -> Result<Option<bool>>,
) -> Result<Option<bool>> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    let (mut is_found, mut is_unknown) = (false, false);
    for left in &left {
        for right in &right {
            match decide(left, right)? {
                Some(true) if !context.is_strict => return Ok(Some(true)),
                Some(true) => is_found = true,
                Some(false) => {}
                None if context.is_strict => return Ok(None),
                None => is_unknown = true,
            }
        }
    }
    Ok(match (is_found, is_unknown) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    })
}

fn compared(comparison: Comparison, left: &Value, right: &Value) -> Result<Option<bool>> {
    let order = match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) | (_, Value::Null) => {
            // Null differs from all else, and has no order.
            return Ok(Some(comparison == Comparison::NotEqual));
        }
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Number(left), Value::Number(right)) => number_key(left).cmp(&number_key(right)),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        _ => return Ok(None),
    };
    Ok(Some(match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }))
}
