//! Floating-point numbers as texts, as PostgreSQL writes them.

use crate::executor::statement_times;
use crate::one_value::of_one_value;
use arrow::array::{ArrayRef, AsArray, StringViewBuilder};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Text of a number, as a function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FloatText {
    signature: Signature,
}

/// Returns the text of a floating-point number.
pub(crate) fn float_text(value: Expr) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = ScalarUDF::from(FloatText { signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![value]))
}

impl ScalarUDFImpl for FloatText {
    fn name(&self) -> &'static str {
        "float_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        of_one_value(&args, float_texts)
    }
}

/// Returns the texts of floating-point numbers.
pub(crate) fn float_texts(array: &ArrayRef) -> Result<ArrayRef> {
    let mut rows = StringViewBuilder::with_capacity(array.len());
    let (mut text, times) = (String::new(), statement_times());
    match array.data_type() {
        DataType::Float32 => {
            for value in array.as_primitive::<Float32Type>() {
                text.clear();
                let written = value.map(|value| times.settings.write_real(&mut text, value));
                rows.append_option(written.map(|_| text.as_str()));
            }
        }
        DataType::Float64 => {
            for value in array.as_primitive::<Float64Type>() {
                text.clear();
                let written = value.map(|value| times.settings.write_double(&mut text, value));
                rows.append_option(written.map(|_| text.as_str()));
            }
        }
        other => return internal_err!("{other} as a floating-point number"),
    }
    Ok(Arc::new(rows.finish()))
}
