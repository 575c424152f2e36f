//! What operators mean beside intervals and points in time.
//!
//! - What has types while a statement is read becomes what DataFusion computes as PostgreSQL does, or a function here: the
//!   difference of points in time is an interval, a date and an interval are a point in time, an interval has multiples.
//! - Dates that an interval of whole days is added to are compared with dates as dates, so that filters of tables see it.

use super::functions::What;
use super::is_interval;
use super::parts::Part;
use crate::value::is_text;
use arrow::datatypes::{DataType, IntervalMonthDayNano, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Cast, InList, ScalarFunction};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{
    Between, BinaryExpr, Expr, ExprSchemable, Operator, binary_expr, cast, lit,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use gadus_engine::INTERVAL;

/// Gives operators their meaning while a statement is read.
#[derive(Debug)]
pub(crate) struct IntervalOperators;

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Interval,
    Date,
    Timestamp,
    TimestampUtc,
    Number,
    /// A text that is written out, which may be meant as anything.
    Text,
    /// A parameter whose type is not known yet.
    Open,
    Other,
}

impl ExprPlanner for IntervalOperators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{Divide, Minus, Multiply, Plus};
        use Kind::{Date, Interval, Number, Open, Text, Timestamp, TimestampUtc};
        if !matches!(expr.op, Plus | Minus | Multiply | Divide) {
            return Ok(PlannerResult::Original(expr));
        }
        let kinds = (kind(&expr.left, schema), kind(&expr.right, schema));
        let RawBinaryExpr { op, left, right } = expr;
        let planned = match (op.clone(), kinds) {
            (Multiply, (Interval, Number | Text | Open)) => {
                What::Product.of(vec![left, cast(right, DataType::Float64)])
            }
            (Multiply, (Number | Text | Open, Interval)) => {
                What::Product.of(vec![right, cast(left, DataType::Float64)])
            }
            (Divide, (Interval, Number | Text | Open)) => {
                What::Quotient.of(vec![left, cast(right, DataType::Float64)])
            }
            (Plus, (Date, Interval)) => binary_expr(point_in_time(left), Operator::Plus, right),
            (Plus, (Interval, Date)) => binary_expr(left, Operator::Plus, point_in_time(right)),
            (Minus, (Date, Interval)) => binary_expr(point_in_time(left), Operator::Minus, right),
            (Plus, (Timestamp | TimestampUtc, Interval | Text | Open)) => {
                binary_expr(microseconds(left, schema)?, Operator::Plus, interval(right, schema))
            }
            (Minus, (Timestamp | TimestampUtc, Interval)) => {
                binary_expr(microseconds(left, schema)?, Operator::Minus, right)
            }
            (Plus, (Interval | Text | Open, Timestamp | TimestampUtc)) => {
                binary_expr(interval(left, schema), Operator::Plus, microseconds(right, schema)?)
            }
            (Plus, (Interval, Text | Open)) => {
                binary_expr(left, Operator::Plus, cast(right, INTERVAL))
            }
            (Minus, (Interval, Text | Open)) => {
                binary_expr(left, Operator::Minus, cast(right, INTERVAL))
            }
            (Plus, (Text | Open, Interval)) => {
                binary_expr(cast(left, INTERVAL), Operator::Plus, right)
            }
            (Minus, (left_kind, right_kind)) if are_points_in_time(left_kind, right_kind) => {
                // Where one has a zone, both have.
                let zone = [left_kind, right_kind].contains(&TimestampUtc).then(|| "UTC".into());
                let time = DataType::Timestamp(TimeUnit::Microsecond, zone);
                What::Between.of(vec![cast(left, time.clone()), cast(right, time)])
            }
            _ => return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right })),
        };
        Ok(PlannerResult::Planned(planned))
    }
}

fn kind(expr: &Expr, schema: &DFSchema) -> Kind {
    if let Expr::Placeholder(open) = expr
        && open.field.is_none()
    {
        return Kind::Open;
    }
    match expr.get_type(schema) {
        Ok(DataType::Interval(_)) => Kind::Interval,
        Ok(DataType::Date32) => Kind::Date,
        Ok(DataType::Timestamp(_, None)) => Kind::Timestamp,
        Ok(DataType::Timestamp(_, Some(_))) => Kind::TimestampUtc,
        Ok(text) if is_text(&text) && matches!(expr, Expr::Literal(..)) => Kind::Text,
        Ok(number) if number.is_numeric() => Kind::Number,
        _ => Kind::Other,
    }
}

/// Whether a difference is one of points in time. Of two dates it is a number of days, which others see to.
fn are_points_in_time(left: Kind, right: Kind) -> bool {
    let is_time = |kind| matches!(kind, Kind::Timestamp | Kind::TimestampUtc);
    let may_be = |kind| is_time(kind) || matches!(kind, Kind::Date | Kind::Text | Kind::Open);
    (is_time(left) && may_be(right)) || (may_be(left) && is_time(right))
}

/// A point in time in microseconds: nanoseconds, which literals have, end in 2262.
fn microseconds(time: Expr, schema: &DFSchema) -> Result<Expr> {
    Ok(match time.get_type(schema)? {
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            cast(time, DataType::Timestamp(TimeUnit::Microsecond, zone))
        }
        _ => time,
    })
}

/// What is meant as an interval.
fn interval(value: Expr, schema: &DFSchema) -> Expr {
    let is_one = kind(&value, schema) == Kind::Interval;
    if is_one { value } else { cast(value, INTERVAL) }
}

/// A date as the point in time at which it begins.
fn point_in_time(date: Expr) -> Expr {
    cast(date, time())
}

/// Sums and differences of intervals, and what is negative, as functions that fail rather than wrap. It is for behind type
/// coercion.
pub(crate) fn checked(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is = |value: &Expr| value.get_type(schema).is_ok_and(|data_type| data_type == INTERVAL);
    Ok(match expr {
        Expr::Negative(value) if is(&value) => {
            let zero = IntervalMonthDayNano::new(0, 0, 0);
            let zero = lit(ScalarValue::IntervalMonthDayNano(Some(zero)));
            Transformed::yes(What::Difference.of(vec![zero, *value]))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right })
            if matches!(op, Operator::Plus | Operator::Minus) && is(&left) && is(&right) =>
        {
            let what = if op == Operator::Plus { What::Sum } else { What::Difference };
            Transformed::yes(what.of(vec![*left, *right]))
        }
        other => Transformed::no(other),
    })
}

/// Dates compared with dates that an interval of whole days is added to, as dates. It is for before type coercion, which
/// would make points in time of all of them.
pub(crate) fn dates_compared(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let mut values: Vec<&mut Expr> = match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Eq | NotEq | Lt | LtEq | Gt | GtEq, right }) => {
            vec![left, right]
        }
        Expr::Between(Between { expr, low, high, .. }) => vec![expr, low, high],
        Expr::InList(InList { expr, list, .. }) => {
            std::iter::once(&mut **expr).chain(list).collect()
        }
        _ => return Ok(Transformed::no(expr)),
    };
    let is_date =
        |value: &Expr| value.get_type(schema).is_ok_and(|data_type| data_type == DataType::Date32);
    let is_plain = |value: &Expr| is_date(value) || is_text_literal(value);
    let are_dates = values.iter().any(|value| is_date(value))
        && values.iter().all(|value| is_plain(value) || as_date(value, schema).is_some());
    if !are_dates {
        return Ok(Transformed::no(expr));
    }
    let mut changed = false;
    for value in &mut values {
        if let Some(date) = as_date(value, schema) {
            **value = date;
            changed = true;
        }
    }
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

fn is_text_literal(value: &Expr) -> bool {
    matches!(value, Expr::Literal(text, _) if is_text(&text.data_type()))
}

/// The date that a point in time is, where it is a date and an interval of whole days.
fn as_date(value: &Expr, schema: &DFSchema) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) =
        value
    else {
        return None;
    };
    if let Some(date) = date_within(left, schema).filter(|_| is_of_whole_days(right)) {
        return Some(binary_expr(date, *op, Expr::clone(right)));
    }
    let date =
        date_within(right, schema).filter(|_| *op == Operator::Plus && is_of_whole_days(left))?;
    Some(binary_expr(Expr::clone(left), *op, date))
}

/// The date that [`point_in_time`] has made a point in time of, or that an interval was added to before.
fn date_within(value: &Expr, schema: &DFSchema) -> Option<Expr> {
    match value {
        Expr::Cast(Cast { expr, field }) => {
            let is_date = expr.get_type(schema).is_ok_and(|of| of == DataType::Date32);
            (is_date && *field.data_type() == time()).then(|| Expr::clone(expr))
        }
        sum => as_date(sum, schema),
    }
}

fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, None)
}

fn is_of_whole_days(value: &Expr) -> bool {
    matches!(
        value,
        Expr::Literal(
            ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano { nanoseconds: 0, .. })),
            _
        )
    )
}

/// Parts of intervals as PostgreSQL has them, where DataFusion has other ones or none. It is for before type coercion.
pub(crate) fn parts_asked(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(ScalarFunction { func, args }) = &expr else {
        return Ok(Transformed::no(expr));
    };
    if func.name() != "date_part" {
        return Ok(Transformed::no(expr));
    }
    let [Expr::Literal(name, _), value] = args.as_slice() else { return Ok(Transformed::no(expr)) };
    let Some(name) = name.try_as_str().flatten() else { return Ok(Transformed::no(expr)) };
    if !value.get_type(schema).is_ok_and(|data_type| is_interval(&data_type)) {
        return Ok(Transformed::no(expr));
    }
    let part = Part::named(name).map_err(crate::error::to_datafusion)?;
    Ok(Transformed::yes(What::Part(part).of(vec![cast(value.clone(), INTERVAL)])))
}
