//! Dates, times, timestamps and intervals.

use super::casts::converted;
use super::operators::compared;
use super::types::{decimal, lowered_type};
use super::{Lowering, NotLowered, Result, Typed, missing};
use crate::times;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, Operator as PlanOperator, lit};
use gadus_binder::BindError;
use gadus_binder::bound::{Constant, Scalar, ScalarKind};
use gadus_binder::catalog::Function;
use gadus_binder::types::{BaseType, Modifier, SqlType, constants};
use gadus_engine::Error;
use gadus_syntax::Span;
use gadus_syntax::ast::ValueFunction;

/// Digits of the decimals that fields are.
const FIELD_DIGITS: u8 = 27;

/// Place of the seconds among the arguments of `make_interval`.
const SECONDS_PLACE: usize = 6;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Functions that are casts by the name of their result.
const CASTS: &[&str] = &["date", "time", "timestamp", "timestamptz", "interval"];

impl Lowering<'_> {
    /// Lowers a function of dates and times; `None` if it is none.
    pub(super) fn time_function(
        &mut self,
        function: &Function,
        arguments: &[Scalar],
        result: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        if !is_of_times(function) {
            return Ok(None);
        }
        if let ("extract" | "date_part", [name, value]) = (function.name, arguments) {
            return self.field(function, name, value, schema).map(Some);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(match argument.kind {
                ScalarKind::Default if function.name == "make_interval" => zero(values.len())?,
                ScalarKind::Default => return Ok(None),
                _ => self.scalar(argument, schema)?,
            });
        }
        if function.name == "make_interval" {
            for place in values.len()..=SECONDS_PLACE {
                values.push(zero(place)?);
            }
        }
        let wanted = lowered_type(result)?;
        if CASTS.contains(&function.name)
            && let [value] = values.as_slice()
        {
            return match times::is_cast(&value.data_type, &wanted) {
                true => converted(value.clone(), wanted, false).map(Some),
                false => missing(format!("function {} of {}", function.name, value.data_type)),
            };
        }
        Ok(time_call(function.name, values, &wanted))
    }

    /// Lowers EXTRACT and `date_part`.
    fn field(
        &mut self,
        function: &Function,
        name: &Scalar,
        value: &Scalar,
        schema: &DFSchema,
    ) -> Result<Typed> {
        let written = match &name.kind {
            ScalarKind::Constant(Constant::Text(written)) => Some(written.as_str()),
            _ => None,
        };
        let (name, value) = (self.scalar(name, schema)?, self.scalar(value, schema)?);
        if value.data_type == DataType::Null {
            return missing("a field of NULL");
        }
        if function.result != constants::NUMERIC {
            let call = time_call("date_part", vec![name, value], &DataType::Float64);
            return call.map_or_else(|| missing("date_part"), Ok);
        }
        let scale = written.and_then(|field| times::decimal_scale(field, &value.data_type));
        let given = scale.and_then(|scale| decimal(FIELD_DIGITS, scale));
        let given = given.unwrap_or(crate::numerics::NUMERIC);
        let call = times::extract(vec![name.expr, value.expr], scale);
        Ok(Typed::new(call, given))
    }

    /// Lowers CURRENT_DATE and the like; `None` for values that are no times.
    pub(super) fn time_of_session(&self, function: ValueFunction) -> Option<Typed> {
        let (name, wanted) = match function {
            ValueFunction::CurrentDate => ("current_date", DataType::Date32),
            ValueFunction::CurrentTimestamp => {
                ("now", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
            }
            ValueFunction::LocalTime => ("localtime", DataType::Time64(TimeUnit::Microsecond)),
            ValueFunction::LocalTimestamp => {
                ("localtimestamp", DataType::Timestamp(TimeUnit::Microsecond, None))
            }
            _ => return None,
        };
        time_call(name, Vec::new(), &wanted)
    }

    /// Lowers the modifier of a time; `None` for other types.
    pub(super) fn time_modifier(
        &mut self,
        operand: &Scalar,
        target: SqlType,
        schema: &DFSchema,
    ) -> Result<Option<Typed>> {
        match target.modifier {
            Modifier::Precision(digits) => {
                let operand = self.scalar(operand, schema)?;
                let Typed { expr, data_type } = operand;
                let rounded = times::with_precision(expr, &data_type, digits);
                Ok(rounded.map(|expr| Typed::new(expr, data_type)))
            }
            Modifier::Interval(_) if target.id.base == BaseType::Interval => {
                let packed = target.modifier.code(false);
                if let ScalarKind::Constant(Constant::Text(text)) = &operand.kind {
                    let value = times::interval_literal(text, packed);
                    let value = value.map_err(|error| refused(&error, operand.span))?;
                    return Ok(Some(Typed::new(lit(value), gadus_engine::INTERVAL)));
                }
                let operand = self.scalar(operand, schema)?;
                let expr = times::with_interval_modifier(operand.expr, packed);
                Ok(Some(Typed::new(expr, gadus_engine::INTERVAL)))
            }
            _ => Ok(None),
        }
    }
}

/// Returns the default of an argument of `make_interval`, of which the last one is a floating-point number.
fn zero(place: usize) -> Result<Typed> {
    let wanted = if place == SECONDS_PLACE { DataType::Float64 } else { DataType::Int32 };
    Ok(Typed::new(lit(ScalarValue::new_zero(&wanted)?), wanted))
}

/// Returns true for a function with a date, a time, a timestamp or an interval.
fn is_of_times(function: &Function) -> bool {
    use BaseType::{Date, Interval, Time, Timestamp, Timestamptz};
    let is_time = |base| matches!(base, Date | Interval | Time | Timestamp | Timestamptz);
    // Templates have kernels of their own.
    let is_of_template = matches!(function.name, "to_char" | "to_date")
        || (function.name == "to_timestamp" && function.arguments.len() == 2);
    let has_array = function.arguments.iter().any(|argument| argument.is_array);
    let ids = function.arguments.iter().chain([&function.result]);
    let mut bases = ids.map(|id| id.base);
    !is_of_template && !has_array && !function.returns_set && bases.any(is_time)
}

/// Returns a call of a function or an operator of times; `None` if there is none.
pub(super) fn time_call(name: &str, values: Vec<Typed>, result: &DataType) -> Option<Typed> {
    let types = values.iter().map(|value| value.data_type.clone()).collect::<Vec<_>>();
    if !times::has_function(name, &types, result) {
        return None;
    }
    let arguments = values.into_iter().map(|value| value.expr).collect();
    let call = times::call(name, arguments, result)?;
    Some(Typed::new(call, result.clone()))
}

/// Reads a literal of a type with a modifier; `None` for types of no times, and for texts whose value depends on the time.
pub(super) fn limited_literal(text: &str, data_type: SqlType, span: Span) -> Result<Option<Typed>> {
    if data_type.id.base == BaseType::Interval {
        let value = times::interval_literal(text, data_type.modifier.code(false));
        let value = value.map_err(|error| refused(&error, span))?;
        return Ok(Some(Typed::new(lit(value), gadus_engine::INTERVAL)));
    }
    let Modifier::Precision(digits) = data_type.modifier else { return Ok(None) };
    let wanted = lowered_type(data_type.id.plain())?;
    let Some(value) = time_literal(text, &wanted, span)? else { return Ok(None) };
    let rounded = times::with_precision(lit(value), &wanted, digits);
    Ok(rounded.map(|expr| Typed::new(expr, wanted)))
}

/// Reads a literal of a time; `None` for other types, and for texts whose value depends on the time.
pub(super) fn time_literal(
    text: &str,
    data_type: &DataType,
    span: Span,
) -> Result<Option<ScalarValue>> {
    let read = times::literal(text, data_type).transpose();
    read.map_err(|error| refused(&error, span))
}

/// Returns the error of a literal, with its position.
pub(super) fn refused(error: &Error, span: Span) -> NotLowered {
    let diagnosis = error.diagnosis();
    let sql_state = diagnosis.and_then(|found| found.sql_state).unwrap_or("22007");
    let mut refused = BindError::new(sql_state, error.to_string(), span);
    refused.detail = diagnosis.and_then(|found| found.detail.clone());
    refused.hint = diagnosis.and_then(|found| found.hint.clone());
    NotLowered::Refused(refused)
}

/// Compares a date with a timestamp that is written out as two dates, so that tables see it; `None` for other values.
pub(super) fn dates_compared(
    comparison: PlanOperator,
    left: &Typed,
    right: &Typed,
) -> Option<Result<Typed>> {
    let (date, time, comparison) = match (&left.data_type, &right.data_type) {
        (DataType::Date32, DataType::Timestamp(..)) => (left, right, comparison),
        (DataType::Timestamp(..), DataType::Date32) => (right, left, comparison.swap()?),
        _ => return None,
    };
    let Expr::Literal(value, _) = &time.expr else { return None };
    let local = match value {
        ScalarValue::TimestampMicrosecond(Some(value), None) => *value,
        ScalarValue::TimestampMicrosecond(Some(value), Some(_)) => times::midnight(*value)?,
        _ => return None,
    };
    let (days, is_midnight) = match local {
        i64::MAX => (i32::MAX, true),
        i64::MIN => (i32::MIN, true),
        local => (i32::try_from(local.div_euclid(DAY)).ok()?, local.rem_euclid(DAY) == 0),
    };
    let comparison = match comparison {
        comparison if is_midnight => comparison,
        PlanOperator::Lt | PlanOperator::LtEq => PlanOperator::LtEq,
        PlanOperator::Gt | PlanOperator::GtEq => PlanOperator::Gt,
        _ => return None,
    };
    let day = Typed::new(lit(ScalarValue::Date32(Some(days))), DataType::Date32);
    Some(compared(comparison, date.clone(), day))
}
