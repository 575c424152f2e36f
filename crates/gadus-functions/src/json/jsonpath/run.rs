//! Evaluation of paths.

use super::parse::parse;
use super::predicates::decided;
use super::{Expression, Method, Path, Step};
use crate::error::{FunctionError, INVALID_PARAMETER, Result, check_interrupt};
use crate::json::numbers::normalized_number;
use crate::json::parse::parse_normalized;
use crate::json::value::Value;

/// Path that was read.
#[derive(Debug, Clone)]
pub struct JsonPath(Path);

impl JsonPath {
    /// Reads a path.
    ///
    /// # Errors
    /// 42601 of a text that is none.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text).map(Self)
    }
}

/// Document, variables and mode of a query.
#[derive(Debug)]
pub(super) struct Context<'a> {
    root: &'a Value,
    variables: &'a Value,
    pub(super) is_strict: bool,
}

/// Value that `@` is, and length of the array around, for `last`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) current: &'a Value,
    length: Option<usize>,
}

impl<'a> Place<'a> {
    pub(super) fn at(self, current: &'a Value) -> Self {
        Self { current, ..self }
    }
}

/// Returns the values that a path leads to, as JSONB; with `is_silent` none if it fails.
///
/// # Errors
/// Class 22 for values that are not as the path expects them.
pub fn jsonb_path_query(
    document: &str,
    path: &JsonPath,
    variables: &str,
    is_silent: bool,
) -> Result<Vec<String>> {
    let found = found(document, path, variables, is_silent)?.unwrap_or_default();
    Ok(found.iter().map(Value::spaced).collect())
}

/// Returns the values that a path leads to as an array.
///
/// # Errors
/// As [`jsonb_path_query`].
pub fn jsonb_path_query_array(
    document: &str,
    path: &JsonPath,
    variables: &str,
    is_silent: bool,
) -> Result<String> {
    let found = found(document, path, variables, is_silent)?.unwrap_or_default();
    Ok(Value::Array(found).spaced())
}

/// Returns true if a path leads to a value; `None` if it fails and `is_silent`.
///
/// # Errors
/// As [`jsonb_path_query`].
pub fn jsonb_path_exists(
    document: &str,
    path: &JsonPath,
    variables: &str,
    is_silent: bool,
) -> Result<Option<bool>> {
    Ok(found(document, path, variables, is_silent)?.map(|found| !found.is_empty()))
}

/// Returns the truth value that a path gives; `None` if it is unknown.
///
/// # Errors
/// As [`jsonb_path_query`]; 22038 for anything else than one truth value.
pub fn jsonb_path_match(
    document: &str,
    path: &JsonPath,
    variables: &str,
    is_silent: bool,
) -> Result<Option<bool>> {
    match found(document, path, variables, is_silent)?.as_deref() {
        Some([Value::Boolean(value)]) => Ok(Some(*value)),
        Some([Value::Null]) | None => Ok(None),
        Some(_) if is_silent => Ok(None),
        Some(_) => Err(FunctionError::new("22038", "single boolean result is expected")),
    }
}

fn found(
    document: &str,
    path: &JsonPath,
    variables: &str,
    is_silent: bool,
) -> Result<Option<Vec<Value>>> {
    let (root, variables) = (parse_normalized(document)?, parse_normalized(variables)?);
    if !matches!(variables, Value::Object(_)) {
        let error = FunctionError::new(INVALID_PARAMETER, "\"vars\" argument is not an object");
        return Err(error.detail(
            "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
        ));
    }
    let context = Context { root: &root, variables: &variables, is_strict: path.0.is_strict };
    let place = Place { current: &root, length: None };
    match context.values(&path.0.expression, place) {
        Ok(values) => Ok(Some(values)),
        Err(error) if is_silent && error.sqlstate.starts_with("22") => Ok(None),
        Err(error) => Err(error),
    }
}

impl Context<'_> {
    /// Returns the values of an expression.
    pub(super) fn values(&self, expression: &Expression, place: Place<'_>) -> Result<Vec<Value>> {
        check_interrupt()?;
        Ok(match expression {
            Expression::Root => vec![self.root.clone()],
            Expression::Current => vec![place.current.clone()],
            Expression::Literal(value) => vec![value.clone()],
            Expression::Variable(name) => {
                let Value::Object(pairs) = self.variables else { return Ok(Vec::new()) };
                let known = pairs.iter().find(|(key, _)| key == name);
                let (_, value) = known.ok_or_else(|| {
                    let message = format!("could not find jsonpath variable \"{name}\"");
                    FunctionError::new("42704", message)
                })?;
                vec![value.clone()]
            }
            Expression::Last => {
                let Some(length) = place.length else {
                    let message = "LAST is allowed only in array subscripts";
                    return Err(FunctionError::new("42601", message));
                };
                vec![Value::Number(
                    i64::try_from(length).map_or(0, |length| length - 1).to_string(),
                )]
            }
            Expression::Predicate(condition) => vec![match decided(self, condition, place)? {
                Some(value) => Value::Boolean(value),
                None => Value::Null,
            }],
            Expression::Steps(first, steps) => {
                let mut values = self.values(first, place)?;
                for step in steps {
                    let mut next = Vec::new();
                    for value in &values {
                        self.follow(step, value, place, &mut next)?;
                    }
                    values = next;
                }
                values
            }
        })
    }

    /// Follows a step from a value.
    fn follow(
        &self,
        step: &Step,
        value: &Value,
        place: Place<'_>,
        found: &mut Vec<Value>,
    ) -> Result<()> {
        let is_unwrapped = match step {
            Step::Key(_) | Step::AnyKey | Step::Filter(_) => true,
            Step::Method(method) => !matches!(method, Method::Size | Method::Type),
            _ => false,
        };
        if let (true, false, Value::Array(elements)) = (is_unwrapped, self.is_strict, value) {
            for element in elements {
                self.follow_one(step, element, place, found)?;
            }
            return Ok(());
        }
        self.follow_one(step, value, place, found)
    }

    fn follow_one(
        &self,
        step: &Step,
        value: &Value,
        place: Place<'_>,
        found: &mut Vec<Value>,
    ) -> Result<()> {
        match (step, value) {
            (Step::Key(key), Value::Object(pairs)) => {
                match pairs.iter().find(|(known, _)| known == key) {
                    Some((_, value)) => found.push(value.clone()),
                    None if self.is_strict => {
                        let message = format!("JSON object does not contain key \"{key}\"");
                        return Err(FunctionError::new("2203A", message));
                    }
                    None => {}
                }
            }
            (Step::AnyKey, Value::Object(pairs)) => {
                found.extend(pairs.iter().map(|(_, value)| value.clone()));
            }
            (Step::Key(_), _) => {
                self.refuse("2203A", "jsonpath member accessor can only be applied to an object")?
            }
            (Step::AnyKey, _) => self.refuse(
                "2203C",
                "jsonpath wildcard member accessor can only be applied to an object",
            )?,
            (Step::AnyLevel(first, last), value) => levels(value, 0, (*first, *last), found)?,
            (Step::AnyElement, Value::Array(elements)) => found.extend(elements.iter().cloned()),
            (Step::AnyElement, value) => {
                self.refuse(
                    "22039",
                    "jsonpath wildcard array accessor can only be applied to an array",
                )?;
                found.push(value.clone());
            }
            (Step::Elements(subscripts), Value::Array(elements)) => {
                self.elements(subscripts, elements, place, found)?;
            }
            (Step::Elements(subscripts), value) => {
                self.refuse("22039", "jsonpath array accessor can only be applied to an array")?;
                self.elements(subscripts, std::slice::from_ref(value), place, found)?;
            }
            (Step::Filter(condition), value) => {
                if decided(self, condition, place.at(value))? == Some(true) {
                    found.push(value.clone());
                }
            }
            (Step::Method(method), value) => found.push(self.called(*method, value)?),
        }
        Ok(())
    }

    /// Fails in strict mode.
    fn refuse(&self, sqlstate: &'static str, message: &str) -> Result<()> {
        if self.is_strict { Err(FunctionError::new(sqlstate, message)) } else { Ok(()) }
    }

    fn elements(
        &self,
        subscripts: &[(Expression, Option<Expression>)],
        elements: &[Value],
        place: Place<'_>,
        found: &mut Vec<Value>,
    ) -> Result<()> {
        let place = Place { length: Some(elements.len()), ..place };
        for (first, last) in subscripts {
            let from = self.subscript(first, place)?;
            let to = last.as_ref().map_or(Ok(from), |last| self.subscript(last, place))?;
            let end = i64::try_from(elements.len()).unwrap_or(i64::MAX);
            if self.is_strict && (from < 0 || from > to || to >= end) {
                let message = "jsonpath array subscript is out of bounds";
                return Err(FunctionError::new("22033", message));
            }
            for index in from.max(0)..=to.min(end - 1) {
                found.extend(usize::try_from(index).ok().and_then(|at| elements.get(at)).cloned());
            }
        }
        Ok(())
    }

    fn subscript(&self, expression: &Expression, place: Place<'_>) -> Result<i64> {
        let values = self.values(expression, place)?;
        let [Value::Number(number)] = values.as_slice() else {
            let message = "jsonpath array subscript is not a single numeric value";
            return Err(FunctionError::new("22033", message));
        };
        let whole = number.split('.').next().unwrap_or_default();
        let message = "jsonpath array subscript is out of integer range";
        let whole = whole.parse::<i32>().map_err(|_| FunctionError::new("22033", message));
        whole.map(i64::from)
    }

    fn called(&self, method: Method, value: &Value) -> Result<Value> {
        let name = match method {
            Method::Type => {
                return Ok(Value::Text(
                    super::super::access::type_name(&value.compact()).to_owned(),
                ));
            }
            Method::Size => {
                return match value {
                    Value::Array(elements) => Ok(Value::Number(elements.len().to_string())),
                    _ => {
                        let message =
                            "jsonpath item method .size() can only be applied to an array";
                        self.refuse("22039", message)?;
                        Ok(Value::Number("1".to_owned()))
                    }
                };
            }
            Method::Double => "double",
            Method::Abs => "abs",
            Method::Floor => "floor",
            Method::Ceiling => "ceiling",
        };
        match (method, value) {
            (Method::Double, Value::Number(number)) => double(number),
            (Method::Double, Value::Text(text)) => double(text),
            (Method::Double, _) => Err(FunctionError::new(
                "22036",
                "jsonpath item method .double() can only be applied to a string or numeric value",
            )),
            (Method::Abs, Value::Number(number)) => {
                Ok(Value::Number(number.trim_start_matches('-').to_owned()))
            }
            (Method::Floor | Method::Ceiling, Value::Number(number)) => {
                whole(number, method == Method::Ceiling)
            }
            _ => Err(FunctionError::new(
                "22036",
                format!("jsonpath item method .{name}() can only be applied to a numeric value"),
            )),
        }
    }
}

fn double(text: &str) -> Result<Value> {
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| {
        let message = "string argument of jsonpath item method .double() is not a valid representation of a double precision number";
        FunctionError::new("22036", message)
    })?;
    normalized_number(&format!("{value:e}")).map(Value::Number)
}

/// Returns the next whole number in a direction.
fn whole(number: &str, is_up: bool) -> Result<Value> {
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_negative = number.starts_with('-');
    let has_rest = fraction.bytes().any(|digit| digit != b'0');
    if !has_rest || is_negative == is_up {
        return normalized_number(integer).map(Value::Number);
    }
    let mut digits = integer.trim_start_matches('-').as_bytes().to_vec();
    let mut carries = true;
    for digit in digits.iter_mut().rev() {
        carries = *digit == b'9';
        *digit = if carries { b'0' } else { *digit + 1 };
        if !carries {
            break;
        }
    }
    let digits = String::from_utf8_lossy(&digits).into_owned();
    let carry = if carries { "1" } else { "" };
    let sign = if is_negative { "-" } else { "" };
    normalized_number(&format!("{sign}{carry}{digits}")).map(Value::Number)
}

/// Gathers the values between two levels below a value, which is level 0.
fn levels(value: &Value, level: u32, wanted: (u32, u32), found: &mut Vec<Value>) -> Result<()> {
    check_interrupt()?;
    let (first, last) = wanted;
    // Levels `last` are those of values without parts.
    let is_leaf = !value.is_container();
    if (level >= first && level <= last) || (first == u32::MAX && is_leaf) {
        found.push(value.clone());
    }
    if level < last {
        match value {
            Value::Array(elements) => {
                for element in elements {
                    levels(element, level + 1, wanted, found)?;
                }
            }
            Value::Object(pairs) => {
                for (_, value) in pairs {
                    levels(value, level + 1, wanted, found)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}
