//! Columns of exact numbers, read and written value by value.

use super::of_numeric;
use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int64Array, LargeBinaryArray, LargeBinaryBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Int64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};
use gadus_numeric::Numeric;
use std::sync::Arc;

/// Column of exact numbers.
#[derive(Debug)]
pub(crate) enum Column {
    Numerics(LargeBinaryArray),
    /// With their scale.
    Decimals(Decimal128Array, i32),
    Integers(Int64Array),
    Nulls,
}

impl Column {
    /// Returns the numbers of an array.
    pub(crate) fn of(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::LargeBinary => Self::Numerics(array.as_binary::<i64>().clone()),
            DataType::Decimal128(_, scale) => {
                Self::Decimals(array.as_primitive::<Decimal128Type>().clone(), (*scale).into())
            }
            DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                let wide = cast(array, &DataType::Int64)?;
                Self::Integers(wide.as_primitive::<Int64Type>().clone())
            }
            DataType::Null => Self::Nulls,
            other => return internal_err!("{other} as numeric"),
        })
    }

    /// Returns a number; `None` for NULL.
    pub(crate) fn get(&self, row: usize) -> Result<Option<Numeric>> {
        Ok(match self {
            Self::Numerics(array) if array.is_valid(row) => {
                Some(Numeric::read(array.value(row)).map_err(of_numeric)?)
            }
            Self::Decimals(array, scale) if array.is_valid(row) => {
                Some(Numeric::from_unscaled(array.value(row), *scale).map_err(of_numeric)?)
            }
            Self::Integers(array) if array.is_valid(row) => Some(Numeric::from(array.value(row))),
            _ => None,
        })
    }
}

/// Column of numerics that is written value by value.
#[derive(Debug, Default)]
pub(crate) struct Written {
    rows: LargeBinaryBuilder,
    bytes: Vec<u8>,
}

impl Written {
    pub(crate) fn push(&mut self, value: Option<&Numeric>) {
        match value {
            Some(value) => {
                self.bytes.clear();
                value.write(&mut self.bytes);
                self.rows.append_value(&self.bytes);
            }
            None => self.rows.append_null(),
        }
    }

    pub(crate) fn finish(mut self) -> ArrayRef {
        Arc::new(self.rows.finish())
    }
}

/// Returns the rows of a call's arguments as arrays, and whether all of them are single values.
pub(super) fn arrays(args: &ScalarFunctionArgs) -> Result<(Vec<ArrayRef>, bool)> {
    let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
    let rows = if is_one { 1 } else { args.number_rows };
    let arrays = args.args.iter().map(|value| value.to_array(rows)).collect::<Result<_>>()?;
    Ok((arrays, is_one))
}

/// Returns a result as a single value if its arguments were.
pub(super) fn given(results: ArrayRef, is_one: bool) -> Result<ColumnarValue> {
    Ok(match is_one {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
        false => ColumnarValue::Array(results),
    })
}
