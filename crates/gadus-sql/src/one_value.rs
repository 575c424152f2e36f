//! Functions of one value.

use arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs};

/// What such a function gives, of a whole array or of a single value.
pub(crate) fn of_one_value(
    args: &ScalarFunctionArgs,
    convert: impl Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    match args.args.as_slice() {
        [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(convert(array)?)),
        [ColumnarValue::Scalar(scalar)] => {
            let array = convert(&scalar.to_array()?)?;
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?))
        }
        other => internal_err!("a function of one value has {}", other.len()),
    }
}
