//! Conversions to numerics and from them.

use super::values::{Column, Written};
use super::{NUMERIC, of_numeric};
use crate::error::{input, to_datafusion};
use crate::one_value::of_one_value;
use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Builder, Float32Builder, Float64Builder, Int16Builder,
    Int32Builder, Int64Builder, LargeBinaryBuilder, StringViewBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use gadus_engine::{EXTENSION_KEY, ErrorKind, NUMERIC_EXTENSION};
use gadus_numeric::{Numeric, TypeModifier};
use std::sync::Arc;

/// Conversion of one value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Conversion {
    /// To a numeric, of a number or a text.
    To,
    /// To a number or a text.
    From(DataType),
    /// Rounding to a precision and a scale, packed as PostgreSQL packs them.
    Modifier(i32),
    /// Bytes by which values are compared.
    Key,
    /// Text that says that it is a numeric.
    Shown,
}

/// Conversion as DataFusion calls it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Converted {
    conversion: Conversion,
    signature: Signature,
}

/// Converts a number or a text to a numeric.
pub(crate) fn to_numeric(value: Expr) -> Expr {
    call(Conversion::To, value)
}

/// Converts a numeric to a number or a text.
pub(crate) fn from_numeric(value: Expr, wanted: DataType) -> Expr {
    call(Conversion::From(wanted), value)
}

/// Rounds a numeric to the digits of a type.
pub(crate) fn with_modifier(value: Expr, modifier: TypeModifier) -> Expr {
    call(Conversion::Modifier(modifier.packed()), value)
}

/// Returns what a numeric is compared by.
pub(crate) fn key_of(value: Expr) -> Expr {
    call(Conversion::Key, value)
}

/// Returns a numeric as it leaves.
pub(crate) fn shown(value: Expr) -> Expr {
    call(Conversion::Shown, value)
}

/// Returns the field of texts that are numerics.
pub(crate) fn numeric_field(name: &str) -> Field {
    let extension = [(EXTENSION_KEY.to_owned(), NUMERIC_EXTENSION.to_owned())];
    Field::new(name, DataType::Utf8View, true).with_metadata(extension.into())
}

fn call(conversion: Conversion, value: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = ScalarUDF::from(Converted { conversion, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value]))
}

impl ScalarUDFImpl for Converted {
    fn name(&self) -> &str {
        match &self.conversion {
            Conversion::To => "to_numeric",
            Conversion::From(_) => "from_numeric",
            Conversion::Modifier(_) => "numeric",
            Conversion::Key => "numeric_key",
            Conversion::Shown => "numeric_shown",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match &self.conversion {
            Conversion::To | Conversion::Modifier(_) | Conversion::Key => NUMERIC,
            Conversion::From(wanted) => wanted.clone(),
            Conversion::Shown => DataType::Utf8View,
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types = args.arg_fields.iter().map(|field| field.data_type().clone());
        let field = Field::new(self.name(), self.return_type(&types.collect::<Vec<_>>())?, true);
        Ok(Arc::new(match self.conversion {
            Conversion::Shown => numeric_field(self.name()),
            _ => field,
        }))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, |array| match &self.conversion {
            Conversion::To => converted_to(array),
            Conversion::From(wanted) => converted_from(array, wanted),
            Conversion::Shown => converted_from(array, &DataType::Utf8View),
            Conversion::Modifier(packed) => modified(array, *packed),
            Conversion::Key => keys(array),
        })
    }
}

pub(super) fn converted_to(array: &ArrayRef) -> Result<ArrayRef> {
    let mut written = Written::default();
    match array.data_type() {
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            values.iter().for_each(|value| written.push(value.map(Numeric::from).as_ref()));
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            values.iter().for_each(|value| written.push(value.map(Numeric::from).as_ref()));
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = cast(array, &DataType::Utf8View)?;
            for text in texts.as_string_view() {
                let value = text.map(|text| Numeric::parse(text, None)).transpose();
                written.push(value.map_err(of_numeric)?.as_ref());
            }
        }
        _ => {
            let column = Column::of(array)?;
            for row in 0..array.len() {
                written.push(column.get(row)?.as_ref());
            }
        }
    }
    Ok(written.finish())
}

fn modified(array: &ArrayRef, packed: i32) -> Result<ArrayRef> {
    let Some(modifier) = TypeModifier::from_packed(packed) else {
        return internal_err!("{packed} as a modifier of numeric");
    };
    let (column, mut written) = (Column::of(array)?, Written::default());
    for row in 0..array.len() {
        let value = column.get(row)?.map(|value| modifier.apply(&value)).transpose();
        written.push(value.map_err(of_numeric)?.as_ref());
    }
    Ok(written.finish())
}

/// Returns the bytes by which numerics are compared.
pub(crate) fn keys(array: &ArrayRef) -> Result<ArrayRef> {
    let values = array.as_binary::<i64>();
    let mut keys = LargeBinaryBuilder::with_capacity(values.len(), values.values().len());
    values.iter().for_each(|value| keys.append_option(value.map(Numeric::key)));
    Ok(Arc::new(keys.finish()))
}

macro_rules! numbers {
    ($array:ident, $builder:ident, $convert:expr) => {{
        let column = Column::of($array)?;
        let mut rows = $builder::with_capacity($array.len());
        for row in 0..$array.len() {
            let value = column.get(row)?.map(|value| $convert(&value)).transpose();
            rows.append_option(value.map_err(of_numeric)?);
        }
        Arc::new(rows.finish())
    }};
}

/// Returns the texts of exact numbers.
pub(crate) fn numeric_texts(array: &ArrayRef) -> Result<ArrayRef> {
    converted_from(array, &DataType::Utf8View)
}

pub(super) fn converted_from(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    Ok(match wanted {
        DataType::Int16 => numbers!(array, Int16Builder, Numeric::to_i16),
        DataType::Int32 => numbers!(array, Int32Builder, Numeric::to_i32),
        DataType::Int64 => numbers!(array, Int64Builder, Numeric::to_i64),
        DataType::Float32 => numbers!(array, Float32Builder, Numeric::to_f32),
        DataType::Float64 => numbers!(array, Float64Builder, Numeric::to_f64),
        DataType::Utf8View => {
            let column = Column::of(array)?;
            let mut rows = StringViewBuilder::with_capacity(array.len());
            for row in 0..array.len() {
                rows.append_option(column.get(row)?.map(|value| value.to_string()));
            }
            Arc::new(rows.finish())
        }
        DataType::Decimal128(precision, scale) => {
            let modifier = TypeModifier::new((*precision).into(), Some((*scale).into()));
            let modifier = modifier.map_err(of_numeric)?;
            let (column, mut rows) = (Column::of(array)?, Decimal128Builder::new());
            for row in 0..array.len() {
                let value = column.get(row)?.map(|value| modifier.apply(&value)).transpose();
                rows.append_option(
                    value.map_err(of_numeric)?.map(|value| decimal(&value, *scale)).transpose()?,
                );
            }
            Arc::new(rows.finish().with_data_type(wanted.clone()))
        }
        other => return internal_err!("numeric as {other}"),
    })
}

/// Returns the digits of a value as a decimal of so many behind the point.
fn decimal(value: &Numeric, scale: i8) -> Result<i128> {
    value.to_unscaled(scale.into()).ok_or_else(|| {
        let message = format!("{value} cannot be stored in a column of NUMERIC with a precision");
        to_datafusion(input(message).of_kind(ErrorKind::OutOfRange))
    })
}
