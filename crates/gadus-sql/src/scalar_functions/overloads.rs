//! Overloads: types of arguments that a function takes, and which of them a call means.
//!
//! - The planner knows no literals without a type, as PostgreSQL does: any text may become another type, at a cost. The
//!   cheapest overload is chosen, the first of several.

use super::arguments::Arguments;
use super::results::Answer;
use crate::json::JSONB;
use arrow::datatypes::{DataType, Field, TimeUnit};
use gadus_engine::INTERVAL;
use gadus_functions::FunctionError;
use std::sync::Arc;

/// Type of an argument or a result, in PostgreSQL's terms.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Any type, as its text.
    Any,
    Bigint,
    Boolean,
    Bytes,
    Double,
    Doubles,
    Integer,
    Interval,
    Json,
    /// JSONB as plans have it; a text is taken for it.
    Jsonb,
    /// Decimals of any scale; a result is an integer.
    Numeric,
    /// A result whose scale the second argument decides, if it is a literal.
    Scaled(fn(&str) -> usize),
    Text,
    TextLists,
    Texts,
    Date,
    Timestamp,
    TimestampUtc,
}

/// Kernel of a function, for one row.
pub(super) type Compute = fn(&Arguments<'_>) -> Result<Answer, FunctionError>;

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) takes: &'static [Kind],
    /// The last argument may come any number of times, also none.
    pub(super) is_variadic: bool,
    /// The result is NULL if an argument is.
    pub(super) is_strict: bool,
    pub(super) gives: Kind,
    pub(super) compute: Compute,
}

/// A function with all its overloads.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) overloads: &'static [Overload],
}

impl Overload {
    /// An overload that gives NULL for NULL.
    pub(super) const fn strict(takes: &'static [Kind], gives: Kind, compute: Compute) -> Self {
        Self { takes, is_variadic: false, is_strict: true, gives, compute }
    }

    /// An overload whose kernel takes NULLs.
    pub(super) const fn of_nulls(takes: &'static [Kind], gives: Kind, compute: Compute) -> Self {
        Self { takes, is_variadic: false, is_strict: false, gives, compute }
    }

    /// Allows any number of last arguments.
    pub(super) const fn variadic(self) -> Self {
        Self { is_variadic: true, ..self }
    }

    fn kind(&self, index: usize) -> Option<Kind> {
        let last = self.takes.last().filter(|_| self.is_variadic);
        self.takes.get(index).or(last).copied()
    }

    fn cost(&self, types: &[DataType]) -> Option<u32> {
        let least = self.takes.len() - usize::from(self.is_variadic);
        if types.len() < least || !self.is_variadic && types.len() > least {
            return None;
        }
        let costs = types.iter().enumerate();
        costs.map(|(index, from)| cost(from, self.kind(index)?)).sum()
    }

    /// Returns the types that arguments of these types are cast to.
    pub(super) fn coerced(&self, types: &[DataType]) -> Vec<DataType> {
        let to = |(index, from): (usize, &DataType)| {
            self.kind(index).map_or(DataType::Null, |kind| kind.of(from))
        };
        types.iter().enumerate().map(to).collect()
    }
}

impl Function {
    /// Returns the overload that a call with arguments of these types means.
    pub(super) fn overload(&self, types: &[DataType]) -> Option<&'static Overload> {
        let fitting = self.overloads.iter().filter_map(|overload| {
            let cost = overload.cost(types)?;
            Some((cost, overload))
        });
        fitting.min_by_key(|(cost, _)| *cost).map(|(_, overload)| overload)
    }
}

impl Kind {
    /// Returns the type that an argument of another type is cast to.
    fn of(self, from: &DataType) -> DataType {
        match (self, from) {
            // A boolean within a text is a letter, but a cast gives a word.
            (Self::Any, DataType::Boolean) => DataType::Boolean,
            // A literal has 64 bits; the kernel's own error tells of one that is too large.
            (Self::Integer, DataType::Int64 | DataType::UInt32 | DataType::UInt64) => {
                DataType::Int64
            }
            (Self::Numeric, DataType::Decimal128(..)) => from.clone(),
            (Self::Numeric, from) if from.is_integer() => DataType::Decimal128(20, 0),
            (Self::Numeric, DataType::Decimal32(precision, scale))
            | (Self::Numeric, DataType::Decimal64(precision, scale)) => {
                DataType::Decimal128(*precision, *scale)
            }
            (Self::Numeric, _) => DataType::Decimal128(38, SCALE),
            _ => self.data_type(),
        }
    }

    /// Returns the type of results.
    pub(super) fn data_type(self) -> DataType {
        let list = |of| DataType::List(Arc::new(Field::new_list_field(of, true)));
        match self {
            Self::Any | Self::Json | Self::Text => DataType::Utf8View,
            Self::Jsonb => JSONB,
            Self::Bigint => DataType::Int64,
            Self::Boolean => DataType::Boolean,
            Self::Bytes => DataType::BinaryView,
            Self::Double => DataType::Float64,
            Self::Doubles => list(DataType::Float64),
            Self::Integer => DataType::Int32,
            Self::Interval => INTERVAL,
            Self::Numeric => DataType::Decimal128(38, 0),
            Self::Scaled(_) => DataType::Decimal128(38, SCALE),
            Self::Texts => list(DataType::Utf8View),
            Self::TextLists => list(list(DataType::Utf8View)),
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampUtc => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }

    /// Returns the word for it in messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Bigint => "bigint",
            Self::Boolean => "boolean",
            Self::Bytes => "bytea",
            Self::Double => "double precision",
            Self::Doubles => "double precision[]",
            Self::Integer => "integer",
            Self::Interval => "interval",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Numeric | Self::Scaled(_) => "numeric",
            Self::Text => "text",
            Self::Texts | Self::TextLists => "text[]",
            Self::Date => "date",
            Self::Timestamp => "timestamp without time zone",
            Self::TimestampUtc => "timestamp with time zone",
        }
    }
}

/// Scale of NUMERIC without one.
const SCALE: i8 = 10;

/// Cost of a text that is read as another type: above all casts between types.
const READ: u32 = 100;

/// Returns how far a type is from another; `None` if it does not become it by itself.
fn cost(from: &DataType, to: Kind) -> Option<u32> {
    use DataType::{Date32, Float32, Float64, Int8, Int16, Int32, Null, Timestamp, UInt8, UInt16};
    let is_text = from.is_string();
    let is_list = matches!(from, DataType::List(_) | DataType::LargeList(_));
    let is_decimal = from.is_decimal();
    Some(match (to, from) {
        (_, Null) => 0,
        (Kind::Any, _) => 20,
        (Kind::Text | Kind::Json | Kind::Jsonb, _) if is_text => 0,
        (Kind::Bytes, from) if from.is_binary() => 0,
        (Kind::Integer, Int8 | Int16 | Int32 | UInt8 | UInt16) => 0,
        // Literals have 64 bits.
        (Kind::Integer, from) if from.is_integer() => 1,
        (Kind::Bigint, from) if from.is_integer() => 0,
        (Kind::Double, Float64) => 0,
        (Kind::Double, Float32) => 1,
        (Kind::Double, from) if from.is_integer() => 2,
        (Kind::Double, _) if is_decimal => 4,
        (Kind::Numeric, _) if is_decimal => 0,
        (Kind::Numeric, from) if from.is_integer() => 3,
        (Kind::Boolean, DataType::Boolean) => 0,
        (Kind::Date, Date32) => 0,
        (Kind::Timestamp, Timestamp(_, None)) => 0,
        (Kind::Timestamp, Date32) => 3,
        (Kind::TimestampUtc, Timestamp(_, Some(_))) => 0,
        (Kind::TimestampUtc, Timestamp(_, None) | Date32) => 2,
        (Kind::Interval, DataType::Interval(_)) => 0,
        (Kind::Texts, DataType::List(of) | DataType::LargeList(of)) => {
            if of.data_type().is_string() { 0 } else { 10 }
        }
        (Kind::Doubles, DataType::List(of) | DataType::LargeList(of)) => {
            return of.data_type().is_numeric().then_some(1);
        }
        _ if is_text && !is_list => READ,
        _ => return None,
    })
}
