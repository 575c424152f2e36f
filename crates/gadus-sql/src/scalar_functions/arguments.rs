//! Arguments of a kernel: the values of one row.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Decimal128Array, Float64Array,
    Int64Array, ListArray, StringViewArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, IntervalMonthDayNanoType,
    TimestampMicrosecondType,
};
use datafusion::common::{Result, internal_err};
use gadus_engine::{Interval, IntervalArray};
use gadus_functions::numbers::Decimal;
use gadus_functions::{FunctionError, Result as Computed};

/// Column of an argument.
#[derive(Debug)]
pub(super) enum Column {
    Booleans(BooleanArray),
    Bytes(BinaryViewArray),
    Decimals(Decimal128Array, u8),
    Doubles(Float64Array),
    Integers(Int64Array),
    Intervals(IntervalArray),
    /// A list of texts or doubles.
    Lists(ListArray),
    Nulls,
    Texts(StringViewArray),
}

/// Values of one row, with the limit of the result.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    pub(super) columns: &'a [Column],
    pub(super) row: usize,
    pub(super) bytes_max: usize,
}

impl Column {
    /// Reads an array of a type that an overload coerces to.
    pub(super) fn of(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Booleans(array.as_boolean().clone()),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
                Self::Bytes(cast(array, &DataType::BinaryView)?.as_binary_view().clone())
            }
            DataType::Decimal128(_, scale) => {
                let scale = scale.unsigned_abs();
                Self::Decimals(array.as_primitive::<Decimal128Type>().clone(), scale)
            }
            DataType::Float64 => Self::Doubles(array.as_primitive::<Float64Type>().clone()),
            from if from.is_integer() => {
                let integers = cast(array, &DataType::Int64)?;
                Self::Integers(integers.as_primitive::<Int64Type>().clone())
            }
            DataType::Date32 => {
                let days = array.as_primitive::<Date32Type>();
                Self::Integers(days.unary(i64::from))
            }
            DataType::Timestamp(..) => {
                let times = array.as_primitive::<TimestampMicrosecondType>();
                Self::Integers(Int64Array::new(times.values().clone(), times.nulls().cloned()))
            }
            DataType::Interval(_) => {
                Self::Intervals(array.as_primitive::<IntervalMonthDayNanoType>().clone())
            }
            DataType::List(_) => Self::Lists(array.as_list::<i32>().clone()),
            DataType::Null => Self::Nulls,
            from if from.is_string() => {
                Self::Texts(cast(array, &DataType::Utf8View)?.as_string_view().clone())
            }
            other => return internal_err!("a function of plain values has one of {other}"),
        })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Booleans(array) => array.is_null(row),
            Self::Bytes(array) => array.is_null(row),
            Self::Decimals(array, _) => array.is_null(row),
            Self::Doubles(array) => array.is_null(row),
            Self::Integers(array) => array.is_null(row),
            Self::Intervals(array) => array.is_null(row),
            Self::Lists(array) => array.is_null(row),
            Self::Texts(array) => array.is_null(row),
            Self::Nulls => true,
        }
    }
}

/// Access by index: the type of an argument is what the overload of the kernel takes, and what is NULL is its default.
impl<'a> Arguments<'a> {
    pub(super) fn count(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn is_null(&self, index: usize) -> bool {
        self.columns.get(index).is_none_or(|column| column.is_null(self.row))
    }

    /// Returns a text, or the text of a boolean.
    pub(super) fn text(&self, index: usize) -> &'a str {
        self.optional_text(index).unwrap_or_default()
    }

    pub(super) fn optional_text(&self, index: usize) -> Option<&'a str> {
        match self.columns.get(index).filter(|column| !column.is_null(self.row))? {
            Column::Texts(texts) => Some(texts.value(self.row)),
            Column::Booleans(values) => Some(if values.value(self.row) { "t" } else { "f" }),
            _ => None,
        }
    }

    pub(super) fn bytes(&self, index: usize) -> &'a [u8] {
        match self.columns.get(index) {
            Some(Column::Bytes(values)) => values.value(self.row),
            _ => &[],
        }
    }

    pub(super) fn boolean(&self, index: usize) -> bool {
        matches!(self.columns.get(index), Some(Column::Booleans(values)) if values.value(self.row))
    }

    pub(super) fn double(&self, index: usize) -> f64 {
        match self.columns.get(index) {
            Some(Column::Doubles(values)) => values.value(self.row),
            _ => 0.0,
        }
    }

    pub(super) fn decimal(&self, index: usize) -> Decimal {
        match self.columns.get(index) {
            Some(Column::Decimals(values, scale)) => {
                Decimal { unscaled: values.value(self.row), scale: *scale }
            }
            _ => Decimal { unscaled: 0, scale: 0 },
        }
    }

    /// Returns an integer, days of a date, or microseconds of a point in time.
    pub(super) fn bigint(&self, index: usize) -> i64 {
        match self.columns.get(index) {
            Some(Column::Integers(values)) => values.value(self.row),
            _ => 0,
        }
    }

    /// Returns an integer of 32 bits, which a literal may exceed.
    pub(super) fn integer(&self, index: usize) -> Computed<i32> {
        i32::try_from(self.bigint(index)).map_err(|_| FunctionError {
            sqlstate: "22003",
            message: "integer out of range".to_owned(),
            detail: None,
            hint: None,
        })
    }

    pub(super) fn interval(&self, index: usize) -> Interval {
        match self.columns.get(index) {
            Some(Column::Intervals(values)) => Interval::from_arrow(values.value(self.row)),
            _ => Interval::default(),
        }
    }

    /// Returns the elements of a list.
    pub(super) fn list(&self, index: usize) -> Option<ArrayRef> {
        match self.columns.get(index) {
            Some(Column::Lists(lists)) => Some(lists.value(self.row)),
            _ => None,
        }
    }
}
