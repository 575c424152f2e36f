//! The operators `+`, `-` and `*` on integers.
//!
//! - An analyzer rule replaces them by functions that check. It runs behind type coercion, so both
//!   operands have one type.

use super::rewrite::rewritten;
use super::strict_field;
use crate::error::to_datafusion;
use arrow::array::ArrayRef;
use arrow::compute::kernels::numeric::{add, mul, sub};
use arrow::datatypes::{DataType, FieldRef};
use arrow::error::ArrowError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use gadus_engine::{Error, ErrorKind};
use std::sync::Arc;

/// Replaces `+`, `-` and `*` on integers.
#[derive(Debug)]
pub(crate) struct CheckedArithmetic {
    functions: [Arc<ScalarUDF>; 3],
}

/// One operator as a function of two integers of one type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CheckedFunction {
    operator: Operator,
    signature: Signature,
}

impl CheckedArithmetic {
    pub(crate) fn new() -> Self {
        let function = |operator| {
            let signature = Signature::any(2, Volatility::Immutable);
            Arc::new(ScalarUDF::from(CheckedFunction { operator, signature }))
        };
        Self { functions: [Operator::Plus, Operator::Minus, Operator::Multiply].map(function) }
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let function = match op {
            Operator::Plus => &self.functions[0],
            Operator::Minus => &self.functions[1],
            Operator::Multiply => &self.functions[2],
            _ => return Ok(Transformed::no(expr)),
        };
        let data_type = left.get_type(schema)?;
        if !data_type.is_integer() || right.get_type(schema)? != data_type {
            return Ok(Transformed::no(expr));
        }
        let args = vec![Expr::clone(left), Expr::clone(right)];
        let call = ScalarFunction::new_udf(function.clone(), args);
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    }
}

/// Returns the error of an operator in PostgreSQL's words.
fn out_of_range(error: ArrowError, data_type: &DataType) -> DataFusionError {
    let name = match data_type {
        DataType::Int16 => "smallint",
        DataType::Int32 => "integer",
        DataType::Int64 => "bigint",
        _ => return error.into(),
    };
    match error {
        ArrowError::ArithmeticOverflow(_) => {
            let message = format!("{name} out of range");
            to_datafusion(Error::new(ErrorKind::OutOfRange, message))
        }
        other => other.into(),
    }
}

impl AnalyzerRule for CheckedArithmetic {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        rewritten(plan, &|expr, schema| self.rewrite(expr, schema))
    }

    fn name(&self) -> &'static str {
        "checked_arithmetic"
    }
}

impl ScalarUDFImpl for CheckedFunction {
    fn name(&self) -> &str {
        match self.operator {
            Operator::Plus => "add",
            Operator::Minus => "subtract",
            _ => "multiply",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Int64))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        strict_field(self, &args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalars = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if scalars { 1 } else { args.number_rows };
        let operand = |index: usize| -> Result<(ArrayRef, bool)> {
            match &args.args[index] {
                ColumnarValue::Scalar(value) => Ok((value.to_array()?, true)),
                ColumnarValue::Array(array) => Ok((array.clone(), false)),
            }
        };
        let ((left, left_scalar), (right, right_scalar)) = (operand(0)?, operand(1)?);
        let kernel = match self.operator {
            Operator::Plus => add,
            Operator::Minus => sub,
            _ => mul,
        };
        let data_type = left.data_type().clone();
        let result = match (left_scalar && !scalars, right_scalar && !scalars) {
            (true, _) => kernel(&arrow::array::Scalar::new(left), &right),
            (_, true) => kernel(&left, &arrow::array::Scalar::new(right)),
            _ => kernel(&left, &right),
        };
        let result = result.map_err(|error| out_of_range(error, &data_type))?;
        gadus_base::strict_assert!(result.len() == rows, "a value for each row");
        if scalars {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}
