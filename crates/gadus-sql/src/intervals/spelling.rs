//! Intervals in statements, in the words that the planner knows.
//!
//! - What is written out becomes months, days and microseconds, which Arrow reads as they are, so that the planner has a
//!   constant wherever it wants one.
//! - Calls get the arguments that are left out: `age(a)` is `age(current_date, a)`, and all of `make_interval` are numbers.

use super::no_interval;
use crate::error::{input, unsupported};
use crate::lists::call;
use datafusion::sql::sqlparser::ast::{
    DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgOperator,
    FunctionArguments, Interval as Written, IntervalFields as Named, Statement, TimezoneInfo,
    TypedString, UnaryOperator, Value as SqlValue, ValueWithSpan, VisitMut, VisitorMut,
};
use gadus_engine::{Error, Interval, IntervalField, IntervalFields, Reason, Result};
use std::ops::ControlFlow;

/// Replaces what is written of intervals.
///
/// # Errors
/// Those of texts that are no intervals.
pub(crate) fn respell(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Spelling) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = Error;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        match respelled(expr) {
            Ok(None) => {}
            Ok(Some(respelled)) => *expr = respelled,
            Err(error) => return ControlFlow::Break(error),
        }
        ControlFlow::Continue(())
    }
}

fn respelled(expr: &mut Expr) -> Result<Option<Expr>> {
    Ok(match expr {
        Expr::Interval(written) => literal_of(written)?.map(spelled),
        Expr::TypedString(TypedString { data_type, value, .. }) => match fields_of(data_type)? {
            Some(fields) => text_of(value).map(|text| read(text, fields)).transpose()?.map(spelled),
            None => None,
        },
        Expr::Cast { expr, data_type, .. } => {
            let Some(fields) = fields_of(data_type)? else { return Ok(None) };
            if let Expr::Value(value) = &**expr
                && let Some(text) = text_of(value)
            {
                return Ok(Some(spelled(read(text, fields)?)));
            }
            if !fields.keep_all() {
                return Err(unsupported(&format!("a cast of values to {data_type}")));
            }
            *data_type = DataType::Interval { fields: None, precision: None };
            None
        }
        // The planner would negate the first number alone.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } if matches!(**expr, Expr::Interval(_)) => {
            let interval = std::mem::replace(&mut **expr, Expr::Value(SqlValue::Null.into()));
            **expr = Expr::Nested(Box::new(interval));
            None
        }
        Expr::Function(function) => called(function)?,
        _ => None,
    })
}

/// What the name of a type leaves of intervals; none of other types.
///
/// # Errors
/// `Input` for a field that an interval has not.
pub(crate) fn fields_of(data_type: &DataType) -> Result<Option<IntervalFields>> {
    use IntervalField::{Day, Hour, Minute, Month, Second, Year};
    let DataType::Interval { fields, precision } = data_type else { return Ok(None) };
    let range = fields.as_ref().map(|fields| match fields {
        Named::Year => (Year, Year),
        Named::Month => (Month, Month),
        Named::Day => (Day, Day),
        Named::Hour => (Hour, Hour),
        Named::Minute => (Minute, Minute),
        Named::Second => (Second, Second),
        Named::YearToMonth => (Year, Month),
        Named::DayToHour => (Day, Hour),
        Named::DayToMinute => (Day, Minute),
        Named::DayToSecond => (Day, Second),
        Named::HourToMinute => (Hour, Minute),
        Named::HourToSecond => (Hour, Second),
        Named::MinuteToSecond => (Minute, Second),
    });
    let digits = precision.map(u32::try_from).transpose().ok().flatten();
    Ok(Some(IntervalFields { range, digits }))
}

/// The interval that is written out; none where it is computed.
fn literal_of(written: &Written) -> Result<Option<Interval>> {
    let (value, sign) = match &*written.value {
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => (&**expr, "-"),
        value => (value, ""),
    };
    let Expr::Value(ValueWithSpan { value, .. }) = value else { return Ok(None) };
    let text = match value {
        SqlValue::SingleQuotedString(text) => text.clone(),
        SqlValue::Number(digits, _) => format!("{sign}{digits}"),
        _ => return Ok(None),
    };
    let range = match (&written.leading_field, &written.last_field) {
        (None, _) => None,
        (Some(unit), None) => match field(unit) {
            Some(field) => Some((field, field)),
            // A unit that is no field of types, as `INTERVAL '2' WEEK`, stands for itself.
            None => {
                let text = format!("{text} {unit}").to_ascii_lowercase();
                return read(&text, IntervalFields::default()).map(Some);
            }
        },
        (Some(first), Some(last)) => {
            let range = field(first).zip(field(last)).filter(|(first, last)| first < last);
            let wrong = || input("an interval has no such fields").because(Reason::Syntax);
            Some(range.ok_or_else(wrong)?)
        }
    };
    let digits = written.fractional_seconds_precision.or(written.leading_precision);
    let digits = digits.map(u32::try_from).transpose().ok().flatten();
    read(&text, IntervalFields { range, digits }).map(Some)
}

/// The field of types that a unit is; none where it is another.
fn field(unit: &DateTimeField) -> Option<IntervalField> {
    Some(match unit {
        DateTimeField::Year | DateTimeField::Years => IntervalField::Year,
        DateTimeField::Month | DateTimeField::Months => IntervalField::Month,
        DateTimeField::Day | DateTimeField::Days => IntervalField::Day,
        DateTimeField::Hour | DateTimeField::Hours => IntervalField::Hour,
        DateTimeField::Minute | DateTimeField::Minutes => IntervalField::Minute,
        DateTimeField::Second | DateTimeField::Seconds => IntervalField::Second,
        _ => return None,
    })
}

fn text_of(value: &ValueWithSpan) -> Option<&str> {
    match &value.value {
        SqlValue::SingleQuotedString(text) => Some(text),
        _ => None,
    }
}

fn read(text: &str, fields: IntervalFields) -> Result<Interval> {
    Interval::parse(text, fields).map_err(|error| no_interval(text, error))
}

/// An interval as Arrow reads it.
fn spelled(interval: Interval) -> Expr {
    let Interval { months, days, microseconds } = interval;
    let text = format!("{months} months {days} days {microseconds} microseconds");
    Expr::Interval(Written {
        value: Box::new(Expr::Value(SqlValue::SingleQuotedString(text).into())),
        leading_field: None,
        leading_precision: None,
        last_field: None,
        fractional_seconds_precision: None,
    })
}

/// A call with all its arguments; none where it has them.
fn called(function: &Function) -> Result<Option<Expr>> {
    let [name] = function.name.0.as_slice() else { return Ok(None) };
    let Some(name) = name.as_ident() else { return Ok(None) };
    let FunctionArguments::List(list) = &function.args else { return Ok(None) };
    if name.value.eq_ignore_ascii_case("make_interval") {
        return make_interval(&list.args).map(Some);
    }
    if name.value.eq_ignore_ascii_case("age")
        && let [FunctionArg::Unnamed(FunctionArgExpr::Expr(earlier))] = list.args.as_slice()
    {
        let today = Expr::Cast {
            kind: datafusion::sql::sqlparser::ast::CastKind::Cast,
            expr: Box::new(call("current_date", Vec::new())),
            data_type: DataType::Timestamp(None, TimezoneInfo::None),
            array: false,
            format: None,
        };
        return Ok(Some(call("age", vec![today, earlier.clone()])));
    }
    Ok(None)
}

/// The names of what intervals are made of, in their order.
const PARTS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

fn make_interval(arguments: &[FunctionArg]) -> Result<Expr> {
    let zero = || Expr::Value(SqlValue::Number("0".to_owned(), false).into());
    let wrong = |name: &str| {
        let message = format!("make_interval has no argument {name}");
        Err(input(message).because(Reason::UnknownFunction))
    };
    let mut parts: [Option<Expr>; PARTS.len()] = std::array::from_fn(|_| None);
    for (place, argument) in arguments.iter().enumerate() {
        let (place, value) = match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (Some(place), value),
            FunctionArg::Named {
                name,
                arg: FunctionArgExpr::Expr(value),
                operator: FunctionArgOperator::RightArrow | FunctionArgOperator::Assignment,
            } => {
                let named = |part: &&str| name.value.eq_ignore_ascii_case(part);
                (PARTS.iter().position(named), value)
            }
            other => return wrong(&other.to_string()),
        };
        match place.and_then(|place| parts.get_mut(place)) {
            Some(part @ None) => *part = Some(value.clone()),
            _ => return wrong(&argument.to_string()),
        }
    }
    Ok(call("make_interval", parts.map(|part| part.unwrap_or_else(zero)).into()))
}
