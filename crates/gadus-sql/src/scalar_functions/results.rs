//! Results of kernels, gathered as a column.

use super::overloads::Kind;
use arrow::array::{
    ArrayRef, BinaryViewBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Float64Builder,
    Int32Builder, Int64Builder, LargeStringBuilder, ListBuilder, StringViewBuilder,
    TimestampMicrosecondBuilder,
};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, internal_err};
use gadus_functions::FunctionError;
use gadus_functions::numbers::Decimal;
use std::sync::Arc;

/// Result of a kernel for one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Null,
    Boolean(bool),
    Bytes(Vec<u8>),
    Decimal(i128),
    Scaled(Decimal),
    Double(f64),
    /// An integer of any size, days of a date, or microseconds of a point in time.
    Integer(i64),
    Text(String),
    Texts(Vec<Option<String>>),
    TextLists(Vec<Vec<Option<String>>>),
}

macro_rules! answer_from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Answer {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

answer_from!(bool => Boolean, Vec<u8> => Bytes, i128 => Decimal, Decimal => Scaled, f64 => Double, i32 => Integer, i64 => Integer,
    String => Text, Vec<Option<String>> => Texts, Vec<Vec<Option<String>>> => TextLists);

impl From<Vec<String>> for Answer {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts.into_iter().map(Some).collect())
    }
}

impl<T: Into<Answer>> From<Option<T>> for Answer {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Makes a result an answer.
pub(super) fn answer<T: Into<Answer>>(
    result: Result<T, FunctionError>,
) -> Result<Answer, FunctionError> {
    result.map(Into::into)
}

impl Answer {
    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Texts(texts) => bytes_of(texts),
            Self::TextLists(lists) => lists.iter().map(|texts| bytes_of(texts) + 8).sum(),
            _ => 16,
        }
    }
}

fn bytes_of(texts: &[Option<String>]) -> usize {
    texts.iter().map(|text| text.as_ref().map_or(0, String::len) + 16).sum()
}

/// Column of results that grows row by row.
#[derive(Debug)]
pub(super) enum Results {
    Booleans(BooleanBuilder),
    Bytes(BinaryViewBuilder),
    Dates(Date32Builder),
    /// Decimals with the digits of their fraction.
    Decimals(Decimal128Builder, i8),
    Doubles(Float64Builder),
    Integers(Int32Builder),
    Bigints(Int64Builder),
    Lists(ListBuilder<StringViewBuilder>),
    ListsOfLists(ListBuilder<ListBuilder<StringViewBuilder>>),
    Texts(StringViewBuilder),
    /// JSONB
    Documents(LargeStringBuilder),
    Times(TimestampMicrosecondBuilder),
}

impl Results {
    pub(super) fn of(kind: Kind, data_type: &DataType, rows: usize) -> Self {
        if let DataType::Decimal128(_, scale) = data_type {
            let rows = Decimal128Builder::with_capacity(rows);
            return Self::Decimals(rows.with_data_type(data_type.clone()), *scale);
        }
        match kind {
            Kind::Boolean => Self::Booleans(BooleanBuilder::with_capacity(rows)),
            Kind::Bytes => Self::Bytes(BinaryViewBuilder::with_capacity(rows)),
            Kind::Date => Self::Dates(Date32Builder::with_capacity(rows)),
            Kind::Double => Self::Doubles(Float64Builder::with_capacity(rows)),
            Kind::Integer => Self::Integers(Int32Builder::with_capacity(rows)),
            Kind::Bigint => Self::Bigints(Int64Builder::with_capacity(rows)),
            Kind::Texts => Self::Lists(ListBuilder::new(StringViewBuilder::new())),
            Kind::TextLists => {
                Self::ListsOfLists(ListBuilder::new(ListBuilder::new(StringViewBuilder::new())))
            }
            Kind::Timestamp | Kind::TimestampUtc => Self::Times(
                TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(kind.data_type()),
            ),
            Kind::Jsonb => Self::Documents(LargeStringBuilder::new()),
            _ => Self::Texts(StringViewBuilder::with_capacity(rows)),
        }
    }

    /// Appends a result, which is of the kind that the overload says.
    pub(super) fn append(&mut self, answer: Answer) -> Result<()> {
        match (self, answer) {
            (Self::Booleans(rows), Answer::Boolean(value)) => rows.append_value(value),
            (Self::Bytes(rows), Answer::Bytes(value)) => rows.try_append_value(value)?,
            (Self::Decimals(rows, _), Answer::Decimal(value)) => rows.append_value(value),
            (Self::Decimals(rows, scale), Answer::Scaled(value)) => {
                rows.append_value(rescaled(value, *scale)?);
            }
            (Self::Doubles(rows), Answer::Double(value)) => rows.append_value(value),
            (Self::Bigints(rows), Answer::Integer(value)) => rows.append_value(value),
            (Self::Times(rows), Answer::Integer(value)) => rows.append_value(value),
            (Self::Integers(rows), Answer::Integer(value)) => match i32::try_from(value) {
                Ok(value) => rows.append_value(value),
                Err(_) => return internal_err!("{value} is no integer of 32 bits"),
            },
            (Self::Dates(rows), Answer::Integer(value)) => match i32::try_from(value) {
                Ok(value) => rows.append_value(value),
                Err(_) => return internal_err!("{value} are no days of a date"),
            },
            (Self::Texts(rows), Answer::Text(value)) => rows.try_append_value(value)?,
            (Self::Documents(rows), Answer::Text(value)) => rows.append_value(value),
            (Self::Lists(rows), Answer::Texts(value)) => append_list(rows, value)?,
            (Self::ListsOfLists(rows), Answer::TextLists(lists)) => {
                for list in lists {
                    append_list(rows.values(), list)?;
                }
                rows.append(true);
            }
            (rows, Answer::Null) => rows.append_null(),
            (_, other) => return internal_err!("a function gives {other:?}, of another type"),
        }
        Ok(())
    }

    pub(super) fn append_null(&mut self) {
        match self {
            Self::Booleans(rows) => rows.append_null(),
            Self::Bytes(rows) => rows.append_null(),
            Self::Dates(rows) => rows.append_null(),
            Self::Decimals(rows, _) => rows.append_null(),
            Self::Doubles(rows) => rows.append_null(),
            Self::Integers(rows) => rows.append_null(),
            Self::Bigints(rows) => rows.append_null(),
            Self::Lists(rows) => rows.append_null(),
            Self::ListsOfLists(rows) => rows.append_null(),
            Self::Texts(rows) => rows.append_null(),
            Self::Documents(rows) => rows.append_null(),
            Self::Times(rows) => rows.append_null(),
        }
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Booleans(mut rows) => Arc::new(rows.finish()),
            Self::Bytes(mut rows) => Arc::new(rows.finish()),
            Self::Dates(mut rows) => Arc::new(rows.finish()),
            Self::Decimals(mut rows, _) => Arc::new(rows.finish()),
            Self::Doubles(mut rows) => Arc::new(rows.finish()),
            Self::Integers(mut rows) => Arc::new(rows.finish()),
            Self::Bigints(mut rows) => Arc::new(rows.finish()),
            Self::Lists(mut rows) => Arc::new(rows.finish()),
            Self::ListsOfLists(mut rows) => Arc::new(rows.finish()),
            Self::Texts(mut rows) => Arc::new(rows.finish()),
            Self::Documents(mut rows) => Arc::new(rows.finish()),
            Self::Times(mut rows) => Arc::new(rows.finish()),
        }
    }
}

fn append_list(
    rows: &mut ListBuilder<StringViewBuilder>,
    texts: Vec<Option<String>>,
) -> Result<()> {
    for text in texts {
        match text {
            Some(text) => rows.values().try_append_value(text)?,
            None => rows.values().append_null(),
        }
    }
    rows.append(true);
    Ok(())
}

/// Returns the digits of a decimal with another scale; digits beyond it are rounded.
fn rescaled(value: Decimal, scale: i8) -> Result<i128> {
    let (from, to) = (u32::from(value.scale), u32::from(scale.unsigned_abs()));
    let unit = 10_i128.checked_pow(from.abs_diff(to));
    let digits = match unit {
        Some(unit) if from <= to => value.unscaled.checked_mul(unit),
        Some(unit) => {
            let half = unit / 2 * value.unscaled.signum();
            value.unscaled.checked_add(half).map(|sum| sum / unit)
        }
        None => None,
    };
    match digits {
        Some(digits) => Ok(digits),
        None => exec_err!("value overflows numeric format"),
    }
}
