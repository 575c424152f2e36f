//! Names of types.

use super::{Expr, ObjectName};
use crate::span::Span;

/// Type as it is written: `numeric(10, 2)`, `text[]`, `timestamp with time zone`.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeName {
    /// Name of PostgreSQL's catalog for the forms of the grammar: `int4` for `integer`, `timestamptz` for
    /// `timestamp with time zone`.
    pub name: ObjectName,
    /// `SETOF`, for results of functions.
    pub is_set: bool,
    /// `%TYPE`: the type of a column.
    pub is_column_type: bool,
    pub modifiers: Vec<Expr>,
    /// `YEAR TO MONTH` and the like after INTERVAL.
    pub interval_fields: Option<IntervalFields>,
    pub array_bounds: Vec<ArrayBound>,
    pub span: Span,
}

/// Length of an array's dimension, which PostgreSQL reads and does not check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayBound(pub Option<u32>);

/// Fields of an interval that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalFields {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    YearToMonth,
    DayToHour,
    DayToMinute,
    DayToSecond,
    HourToMinute,
    HourToSecond,
    MinuteToSecond,
}
