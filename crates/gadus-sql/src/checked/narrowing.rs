//! Casts of numbers that may be out of range, with PostgreSQL's errors, and texts as floating-point numbers.

use crate::error::to_datafusion;
use crate::executor::check_cancelled;
use crate::one_value::of_one_value;
use crate::scalar_functions::told;
use arrow::array::{Array, ArrayRef, AsArray, Float32Array, Float64Array, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_functions::{FunctionError, numbers};
use std::sync::Arc;

/// Cast to a type with fewer values.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Narrowed {
    wanted: DataType,
    name: String,
    signature: Signature,
}

/// Returns a cast that checks the range of each value; `None` for casts that lose none.
pub(crate) fn narrowed(value: &Expr, from: &DataType, wanted: &DataType) -> Option<Expr> {
    use DataType::{Float32, Float64, Int16, Int32, Int64, Utf8View};
    let is_narrower = matches!(
        (from, wanted),
        (Int64, Int32 | Int16)
            | (Int32, Int16)
            | (Float32 | Float64, Int16 | Int32 | Int64)
            | (Float64, Float32)
            | (Utf8View, Float32 | Float64)
    );
    is_narrower.then(|| {
        let name = format!("narrowed to {wanted}").to_lowercase();
        let signature = Signature::any(1, Volatility::Immutable);
        let function = ScalarUDF::from(Narrowed { wanted: wanted.clone(), name, signature });
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value.clone()]))
    })
}

impl ScalarUDFImpl for Narrowed {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.wanted.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        check_cancelled()?;
        of_one_value(&args, |array| narrowed_array(array, &self.wanted))
    }
}

/// Casts the values of an array.
pub(crate) fn narrowed_array(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let (bounds, name) = match wanted {
        DataType::Int16 => ((i16::MIN.into(), i16::MAX.into()), "smallint"),
        DataType::Int32 => ((i32::MIN.into(), i32::MAX.into()), "integer"),
        _ => ((i64::MIN, i64::MAX), "bigint"),
    };
    match (array.data_type(), wanted) {
        (DataType::Utf8View, _) => floats_of_texts(array, wanted),
        (DataType::Float64, DataType::Float32) => {
            let doubles = array.as_primitive::<Float64Type>().iter();
            let reals = doubles.map(|value| value.map(numbers::real_of_double).transpose());
            Ok(Arc::new(all::<_, Float32Array>(reals)?))
        }
        (DataType::Float32 | DataType::Float64, _) => {
            let doubles = cast(array, &DataType::Float64)?;
            let integer = |value| numbers::integer_of_double(value, bounds, name);
            let doubles = doubles.as_primitive::<Float64Type>().iter();
            let integers = doubles.map(|value| value.map(integer).transpose());
            Ok(cast(&all::<_, Int64Array>(integers)?, wanted)?)
        }
        (DataType::Int16 | DataType::Int32 | DataType::Int64, _) => {
            let wide = cast(array, &DataType::Int64)?;
            for value in wide.as_primitive::<Int64Type>().iter().flatten() {
                numbers::integer_within(value, bounds, name).map_err(of_cast)?;
            }
            Ok(cast(array, wanted)?)
        }
        (from, wanted) => internal_err!("a cast from {from} to {wanted}"),
    }
}

/// Reads texts as floating-point numbers.
pub(crate) fn floats_of_texts(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let texts = cast(array, &DataType::Utf8View)?;
    let texts = texts.as_string_view();
    Ok(match wanted {
        DataType::Float32 => {
            let reals = texts.iter().map(|text| text.map(numbers::real_of_text).transpose());
            Arc::new(all::<_, Float32Array>(reals)?)
        }
        _ => {
            let doubles = texts.iter().map(|text| text.map(numbers::double_of_text).transpose());
            Arc::new(all::<_, Float64Array>(doubles)?)
        }
    })
}

fn all<T, A: FromIterator<Option<T>>>(
    values: impl Iterator<Item = std::result::Result<Option<T>, FunctionError>>,
) -> Result<A> {
    values.collect::<std::result::Result<A, _>>().map_err(of_cast)
}

fn of_cast(error: FunctionError) -> datafusion::error::DataFusionError {
    to_datafusion(told(error))
}
