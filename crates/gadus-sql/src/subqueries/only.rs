//! The value of a subquery that may give several rows: an error for the rows that ask for it, no others.

use crate::error::{several_rows, to_datafusion};
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;

const NAME: &str = "gadus_only";

/// Gives a value where there is no more than one.
#[derive(Debug)]
pub(crate) struct Only(Arc<ScalarUDF>);

impl Default for Only {
    fn default() -> Self {
        Self(Arc::new(ScalarUDF::new_from_impl(OnlyFunction::new())))
    }
}

impl Only {
    /// The value, of which there are so many.
    pub(crate) fn call(&self, value: Expr, many: Expr) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(self.0.clone(), vec![value, many]))
    }

    pub(super) fn is_call(expr: &Expr) -> bool {
        matches!(expr, Expr::ScalarFunction(call) if call.func.name() == NAME)
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OnlyFunction {
    signature: Signature,
}

impl OnlyFunction {
    /// Volatile: it is to be asked for the rows where it stands, and not below a join, for all there are.
    fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for OnlyFunction {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Null))
    }

    /// The value's, with what tells a document from a text; it may be NULL.
    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(match args.arg_fields.first() {
            Some(value) => Arc::new(value.as_ref().clone().with_name(NAME).with_nullable(true)),
            None => Arc::new(Field::new(NAME, DataType::Null, true)),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let many = args.args[1].to_array(args.number_rows)?;
        if many.as_primitive::<Int64Type>().iter().flatten().any(|many| many > 1) {
            return Err(to_datafusion(several_rows()));
        }
        Ok(args.args[0].clone())
    }
}
