//! Functions that measure their results before they make them.

use super::result_size::{Argument, is_amplifying, result_bytes};
use super::{check_call, check_constant, check_value};
use crate::executor::{check_cancelled, is_planning};
use crate::memory::Memory;
use crate::string_functions;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, StructFieldMapping,
};
use std::sync::Arc;

/// Replaces the functions whose results may be far larger than their arguments by ones that refuse results
/// that are too large, and those that have better algorithms here.
pub(crate) fn bounded_functions(functions: &mut [Arc<ScalarUDF>], memory: &Memory) {
    let is_bounded = |name: &str| is_amplifying(name) || string_functions::is_own(name);
    for function in functions.iter_mut().filter(|function| is_bounded(function.name())) {
        let inner = function.clone();
        *function = Arc::new(ScalarUDF::from(BoundedFunction { inner, memory: memory.clone() }));
    }
}

/// A function, with the memory that its results are to fit in.
#[derive(Debug, PartialEq, Eq, Hash)]
struct BoundedFunction {
    inner: Arc<ScalarUDF>,
    memory: Memory,
}

impl BoundedFunction {
    fn function(&self) -> &dyn ScalarUDFImpl {
        &**self.inner.inner()
    }
}

#[warn(clippy::missing_trait_methods)] // it delegates all but one
impl ScalarUDFImpl for BoundedFunction {
    fn name(&self) -> &str {
        self.function().name()
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        #[expect(deprecated)]
        self.function().display_name(args)
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.function().schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.function().signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.function().return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.function().return_field_from_args(args)
    }

    fn is_nullable(&self, args: &[Expr], schema: &dyn ExprSchema) -> bool {
        #[expect(deprecated)]
        self.function().is_nullable(args, schema)
    }

    fn is_strict(&self) -> bool {
        self.function().is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = args.args.iter().map(Argument::of).collect::<Vec<_>>();
        let sizes = result_bytes(self.name(), &arguments);
        let is_array = |value: &ColumnarValue| matches!(value, ColumnarValue::Array(_));
        let rows = if args.args.iter().any(is_array) { args.number_rows } else { 1 };
        let (largest, sum) = sizes.largest_and_sum(rows);
        check_value(self.name(), largest, &self.memory)?;
        check_call(self.name(), sum, &self.memory)?;
        if is_planning() {
            check_constant(self.name(), sum)?;
        }
        check_cancelled()?;
        match string_functions::evaluate(self.name(), &args) {
            Some(values) => values,
            None => self.function().invoke_with_args(args),
        }
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let inner = Arc::new(self.function().with_updated_config(config)?);
        Some(ScalarUDF::from(Self { inner, memory: self.memory.clone() }))
    }

    fn aliases(&self) -> &[String] {
        self.function().aliases()
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.function().simplify(args, info)
    }

    fn preimage(
        &self,
        args: &[Expr],
        literal: &Expr,
        info: &SimplifyContext,
    ) -> Result<PreimageResult> {
        self.function().preimage(args, literal, info)
    }

    fn conditional_arguments<'a>(
        &self,
        args: &'a [Expr],
    ) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.function().conditional_arguments(args)
    }

    fn short_circuits(&self) -> bool {
        self.function().short_circuits()
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.function().evaluate_bounds(input)
    }

    fn propagate_constraints(
        &self,
        interval: &Interval,
        inputs: &[&Interval],
    ) -> Result<Option<Vec<Interval>>> {
        self.function().propagate_constraints(interval, inputs)
    }

    fn struct_field_mapping(&self, literals: &[Option<ScalarValue>]) -> Option<StructFieldMapping> {
        self.function().struct_field_mapping(literals)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.function().output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.function().preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.function().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.function().coerce_types(arg_types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.function().documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.function().placement(args)
    }
}
