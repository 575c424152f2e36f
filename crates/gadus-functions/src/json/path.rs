//! Changes of a document at a path: `jsonb_set`, `jsonb_insert`, `jsonb_delete_path`.

use super::parse::parse_normalized;
use super::value::{Value, sorted_by_key};
use crate::error::{FunctionError, INVALID_PARAMETER, NULL_NOT_ALLOWED, Result};

/// SQLSTATE of a step into an array that is no integer.
const INVALID_TEXT: &str = "22P02";

/// Steps of a path: keys of objects, and places in arrays.
type Path<'a> = [Option<&'a str>];

/// Change of the value that a path leads to.
#[derive(Debug, Clone)]
enum Change {
    /// Sets a value, and adds a member that is not there if it may.
    Set {
        value: Value,
        creates: bool,
    },
    Insert {
        value: Value,
        is_after: bool,
    },
    Delete,
}

/// Treatment of NULL by `jsonb_set_lax`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullTreatment {
    /// Raises an error.
    RaiseException,
    /// Sets the null of JSON.
    UseJsonNull,
    /// Deletes what is at the path.
    DeleteKey,
    /// Changes nothing.
    ReturnTarget,
}

impl NullTreatment {
    /// Reads the name of a treatment.
    ///
    /// # Errors
    /// 22023 of other names, and of none.
    pub fn named(name: Option<&str>) -> Result<Self> {
        match name {
            Some("raise_exception") => Ok(Self::RaiseException),
            Some("use_json_null") => Ok(Self::UseJsonNull),
            Some("delete_key") => Ok(Self::DeleteKey),
            Some("return_target") => Ok(Self::ReturnTarget),
            _ => {
                let message = "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"";
                Err(FunctionError::new(INVALID_PARAMETER, message))
            }
        }
    }
}

/// Sets the value at a path.
///
/// # Errors
/// 22023 of a scalar, 22004 and 22P02 of a wrong path.
pub fn jsonb_set(target: &str, path: &Path<'_>, value: &str, creates: bool) -> Result<String> {
    let value = parse_normalized(value)?;
    changed(target, path, &Change::Set { value, creates }, "set path in")
}

/// Sets the value at a path, and treats NULL as it is told to.
///
/// # Errors
/// As `jsonb_set`, and 22004 of a NULL that is not allowed.
pub fn jsonb_set_lax(
    target: &str,
    path: &Path<'_>,
    value: Option<&str>,
    creates: bool,
    treatment: NullTreatment,
) -> Result<String> {
    match (value, treatment) {
        (Some(value), _) => jsonb_set(target, path, value, creates),
        (None, NullTreatment::UseJsonNull) => jsonb_set(target, path, "null", creates),
        (None, NullTreatment::DeleteKey) => jsonb_delete_path(target, path),
        (None, NullTreatment::ReturnTarget) => Ok(parse_normalized(target)?.spaced()),
        (None, NullTreatment::RaiseException) => {
            let detail =
                "Exception was raised because null_value_treatment is \"raise_exception\".";
            let hint = "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.";
            let error = FunctionError::new(NULL_NOT_ALLOWED, "JSON value must not be null");
            Err(error.detail(detail).hint(hint))
        }
    }
}

/// Inserts a value before a place in an array, or after it, or a new member.
///
/// # Errors
/// 22023 of a scalar, and of a member that is there; 22004 and 22P02 of a wrong path.
pub fn jsonb_insert(target: &str, path: &Path<'_>, value: &str, is_after: bool) -> Result<String> {
    let value = parse_normalized(value)?;
    changed(target, path, &Change::Insert { value, is_after }, "set path in")
}

/// Deletes what is at a path.
///
/// # Errors
/// 22023 of a scalar, 22004 and 22P02 of a wrong path.
pub fn jsonb_delete_path(target: &str, path: &Path<'_>) -> Result<String> {
    changed(target, path, &Change::Delete, "delete path in")
}

fn changed(target: &str, path: &Path<'_>, change: &Change, what: &str) -> Result<String> {
    let target = parse_normalized(target)?;
    if !target.is_container() {
        return Err(FunctionError::new(INVALID_PARAMETER, format!("cannot {what} scalar")));
    }
    let is_empty = match &target {
        Value::Array(values) => values.is_empty(),
        Value::Object(pairs) => pairs.is_empty(),
        _ => false,
    };
    let stays = is_empty && !change.creates();
    Ok(match path.is_empty() || stays && !matches!(change, Change::Insert { .. }) {
        true => target.spaced(),
        false => changed_value(target, path, 0, change)?.spaced(),
    })
}

impl Change {
    fn creates(&self) -> bool {
        matches!(self, Self::Set { creates: true, .. } | Self::Insert { .. })
    }

    fn value(&self) -> Option<&Value> {
        match self {
            Self::Set { value, .. } | Self::Insert { value, .. } => Some(value),
            Self::Delete => None,
        }
    }
}

fn changed_value(target: Value, path: &Path<'_>, level: usize, change: &Change) -> Result<Value> {
    if !target.is_container() {
        return Ok(target);
    }
    let step = path[level].ok_or_else(|| {
        let message = format!("path element at position {} is null", level + 1);
        FunctionError::new(NULL_NOT_ALLOWED, message)
    })?;
    match target {
        Value::Object(pairs) => changed_object(pairs, step, path, level, change),
        Value::Array(values) => changed_array(values, step, path, level, change),
        scalar => Ok(scalar),
    }
}

fn changed_object(
    pairs: Vec<(String, Value)>,
    step: &str,
    path: &Path<'_>,
    level: usize,
    change: &Change,
) -> Result<Value> {
    let is_last = level + 1 == path.len();
    let mut pairs = pairs;
    let Some(index) = pairs.iter().position(|(key, _)| key == step) else {
        if let Some(value) = change.value().filter(|_| is_last && change.creates()) {
            pairs.push((step.to_owned(), value.clone()));
        }
        return Ok(Value::Object(sorted_by_key(pairs)));
    };
    if !is_last {
        let value = std::mem::replace(&mut pairs[index].1, Value::Null);
        pairs[index].1 = changed_value(value, path, level + 1, change)?;
        return Ok(Value::Object(pairs));
    }
    match change {
        Change::Insert { .. } => {
            let hint = "Try using the function jsonb_set to replace key value.";
            return Err(
                FunctionError::new(INVALID_PARAMETER, "cannot replace existing key").hint(hint)
            );
        }
        Change::Set { value, .. } => pairs[index].1 = value.clone(),
        Change::Delete => {
            pairs.remove(index);
        }
    }
    Ok(Value::Object(pairs))
}

fn changed_array(
    values: Vec<Value>,
    step: &str,
    path: &Path<'_>,
    level: usize,
    change: &Change,
) -> Result<Value> {
    let is_last = level + 1 == path.len();
    let mut values = values;
    let step = integer(step).ok_or_else(|| {
        let message =
            format!("path element at position {} is not an integer: \"{step}\"", level + 1);
        FunctionError::new(INVALID_TEXT, message)
    })?;
    let distance = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    let index = match step < 0 {
        true => values.len().checked_sub(distance),
        false => Some(distance.min(values.len())),
    };
    let Some(index) = index.filter(|index| *index < values.len()) else {
        // Beyond either end, a value is added there.
        if let Some(value) = change.value().filter(|_| is_last && change.creates()) {
            let place = index.unwrap_or(0);
            values.insert(place, value.clone());
        }
        return Ok(Value::Array(values));
    };
    if !is_last {
        let value = std::mem::replace(&mut values[index], Value::Null);
        values[index] = changed_value(value, path, level + 1, change)?;
        return Ok(Value::Array(values));
    }
    match change {
        Change::Set { value, .. } => values[index] = value.clone(),
        Change::Insert { value, is_after } => {
            values.insert(index + usize::from(*is_after), value.clone());
        }
        Change::Delete => {
            values.remove(index);
        }
    }
    Ok(Value::Array(values))
}

/// Reads an integer as C's `strtol`, to the end.
pub(super) fn integer(text: &str) -> Option<i32> {
    let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let is_number =
        trimmed.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-'));
    trimmed.parse().ok().filter(|_| is_number)
}
