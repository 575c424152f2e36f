//! Functions of arrays as DataFusion calls them.

use super::slices::Subscript;
use super::{
    accumulate, assign, combine, construct, dimensions, keys, quantified, search, series, sets,
    slices, texts,
};
use crate::executor::check_cancelled;
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Function of arrays.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ArrayFunction {
    /// `ARRAY[…]` of values.
    Construct,
    /// `ARRAY[…]` of arrays.
    Nest,
    /// `array_fill`
    Fill,
    /// Array in a type of more or fewer dimensions, which it can be only without elements.
    Adapt,
    /// Array of texts from its text.
    Read,
    /// Text of an array of texts.
    Write,
    /// `array_to_string` of an array of texts.
    Join,
    /// `string_to_array`
    Split,
    /// `a[1][2]`
    Element,
    /// `a[1:2]`
    Slice(Vec<Subscript>),
    /// Array with a value as one of its elements.
    AssignElement,
    /// Array with elements of another in a slice.
    AssignSlice(Vec<Subscript>),
    /// `array_append`
    Append,
    /// `array_prepend`
    Prepend,
    /// `array_cat`
    Concatenate,
    /// `array_length` and `array_upper`
    Length,
    /// `array_lower`
    Lower,
    /// `cardinality`
    Cardinality,
    /// `array_ndims`
    Dimensions,
    /// `array_dims`
    DimensionsText,
    /// `trim_array`
    Trim,
    /// `array_position`
    Position,
    /// `array_positions`
    Positions,
    /// `array_remove`
    Remove,
    /// `array_replace`
    Replace,
    /// `@>`
    Contains,
    /// `&&`
    Overlaps,
    /// `width_bucket` of thresholds.
    Bucket,
    /// True if one of the truth values is.
    Any,
    /// True if all truth values are.
    All,
    /// Elements in one dimension.
    Flatten,
    /// `generate_subscripts`
    Subscripts,
    /// `generate_series`
    Series,
    /// Numbers of the rows that the longest of several lists gives.
    Ordinals,
    /// Elements in ascending order, or descending, each once.
    Distinct { descending: bool, nulls_first: bool },
    /// Arrays that were accumulated, as one.
    Accumulated,
    /// Array in a type that says more about its elements.
    Relabel,
    /// Bytes by which arrays are compared.
    Key,
}

/// Function with the type of its results.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Call {
    function: ArrayFunction,
    result: DataType,
    name: String,
    signature: Signature,
}

/// Returns a call of a function with results of a type.
pub(crate) fn call(function: ArrayFunction, arguments: Vec<Expr>, result: DataType) -> Expr {
    // Calls of one name and arguments are one column of a plan.
    let name = format!("array {function:?}").to_lowercase();
    let signature = Signature::any(arguments.len(), Volatility::Immutable);
    let udf = ScalarUDF::from(Call { function, result, name, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(udf), arguments))
}

impl ScalarUDFImpl for Call {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        check_cancelled()?;
        let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|value| value.to_array(rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let results = self.compute(&arrays, rows)?;
        Ok(match is_one {
            // As it is: a scalar that is made anew would not say what its elements are.
            true => ColumnarValue::Scalar(match results.as_list_opt::<i32>() {
                Some(lists) => ScalarValue::List(Arc::new(lists.slice(0, 1))),
                None => ScalarValue::try_from_array(&results, 0)?,
            }),
            false => ColumnarValue::Array(results),
        })
    }
}

impl Call {
    fn compute(&self, arrays: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let result = &self.result;
        match &self.function {
            ArrayFunction::Construct => construct::of_values(arrays, rows, result),
            ArrayFunction::Nest => construct::of_arrays(arrays, rows, result),
            ArrayFunction::Fill => construct::filled(arrays, result),
            ArrayFunction::Adapt => construct::adapted(arrays, result),
            ArrayFunction::Read => texts::read(arrays, result),
            ArrayFunction::Write => texts::written(arrays),
            ArrayFunction::Join => texts::joined(arrays),
            ArrayFunction::Split => texts::split(arrays),
            ArrayFunction::Element => slices::elements(arrays, result),
            ArrayFunction::Slice(items) => slices::slices(arrays, items, result),
            ArrayFunction::AssignElement => assign::elements(arrays, result),
            ArrayFunction::AssignSlice(items) => assign::slices(arrays, items, result),
            ArrayFunction::Append => combine::appended(arrays, true, result),
            ArrayFunction::Prepend => combine::appended(arrays, false, result),
            ArrayFunction::Concatenate => combine::concatenated(arrays, result),
            ArrayFunction::Length => dimensions::lengths(arrays),
            ArrayFunction::Lower => dimensions::lower_bounds(arrays),
            ArrayFunction::Cardinality => dimensions::cardinalities(arrays),
            ArrayFunction::Dimensions => dimensions::counts(arrays),
            ArrayFunction::DimensionsText => dimensions::texts(arrays),
            ArrayFunction::Trim => dimensions::trimmed(arrays, result),
            ArrayFunction::Position => search::position(arrays),
            ArrayFunction::Positions => search::positions(arrays),
            ArrayFunction::Remove => search::removed(arrays, result),
            ArrayFunction::Replace => search::replaced(arrays, result),
            ArrayFunction::Contains => search::contains(arrays),
            ArrayFunction::Overlaps => search::overlaps(arrays),
            ArrayFunction::Bucket => search::buckets(arrays),
            ArrayFunction::Any => quantified::any(arrays),
            ArrayFunction::All => quantified::all(arrays),
            ArrayFunction::Flatten => sets::flattened(arrays),
            ArrayFunction::Subscripts => sets::subscripts(arrays),
            ArrayFunction::Series => series::series(arrays, result),
            ArrayFunction::Ordinals => sets::ordinals(arrays, rows),
            ArrayFunction::Distinct { descending, nulls_first } => {
                accumulate::distinct(arrays, (*descending, *nulls_first), result)
            }
            ArrayFunction::Accumulated => accumulate::checked(arrays),
            ArrayFunction::Relabel => construct::relabeled(arrays, result),
            ArrayFunction::Key => keys::keys(arrays),
        }
    }
}
