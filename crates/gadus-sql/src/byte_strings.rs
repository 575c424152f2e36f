//! Byte strings that are read from texts, and written as such.

use crate::error::to_datafusion;
use crate::executor::statement_times;
use crate::one_value::of_one_value;
use crate::scalar_functions::told;
use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result as PlannerResult;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use gadus_engine::Result;
use gadus_functions::bytes as kernel;
use std::sync::Arc;

/// Reads a byte string that is written as PostgreSQL writes it.
///
/// # Errors
/// `22023` for wrong hexadecimal digits, `22P02` for a wrong escape.
pub fn read_bytes(text: &str) -> Result<Vec<u8>> {
    kernel::read_bytes(text).map_err(told)
}

/// Conversion between texts and byte strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Conversion {
    Read,
    /// Gives NULL for texts that are no byte strings.
    TryRead,
    Write,
}

/// Returns the byte string of a text.
pub(crate) fn read(text: Expr, is_try: bool) -> Expr {
    converted(text, if is_try { Conversion::TryRead } else { Conversion::Read })
}

/// Returns a byte string as a text.
pub(crate) fn written(bytes: Expr) -> Expr {
    converted(bytes, Conversion::Write)
}

fn converted(value: Expr, conversion: Conversion) -> Expr {
    let signature = Signature::any(1, Volatility::Immutable);
    let function = Arc::new(ScalarUDF::from(Converted { conversion, signature }));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![value]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Converted {
    conversion: Conversion,
    signature: Signature,
}

impl ScalarUDFImpl for Converted {
    fn name(&self) -> &'static str {
        match self.conversion {
            Conversion::Read => "byteain",
            Conversion::TryRead => "try_byteain",
            Conversion::Write => "byteaout",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlannerResult<DataType> {
        Ok(match self.conversion {
            Conversion::Read | Conversion::TryRead => DataType::BinaryView,
            Conversion::Write => DataType::Utf8View,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> PlannerResult<ColumnarValue> {
        of_one_value(&args, |values| match self.conversion {
            Conversion::Read => bytes_of(values, false).map_err(to_datafusion),
            Conversion::TryRead => bytes_of(values, true).map_err(to_datafusion),
            Conversion::Write => texts_of(values),
        })
    }
}

/// Reads texts.
pub(crate) fn bytes_of(texts: &ArrayRef, is_try: bool) -> Result<ArrayRef> {
    let texts = arrow::compute::cast(texts, &DataType::Utf8View)?;
    let mut bytes = BinaryViewBuilder::with_capacity(texts.len());
    for text in texts.as_string_view() {
        match text.map(read_bytes) {
            Some(Ok(value)) => bytes.append_value(value),
            Some(Err(error)) if !is_try => return Err(error),
            Some(Err(_)) | None => bytes.append_null(),
        }
    }
    Ok(Arc::new(bytes.finish()))
}

fn texts_of(values: &ArrayRef) -> PlannerResult<ArrayRef> {
    let values = arrow::compute::cast(values, &DataType::BinaryView)?;
    let mut texts = StringViewBuilder::with_capacity(values.len());
    let times = statement_times();
    for value in values.as_binary_view() {
        texts.append_option(value.map(|value| times.settings.bytes_text(value)));
    }
    Ok(Arc::new(texts.finish()))
}
