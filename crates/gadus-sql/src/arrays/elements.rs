//! Expressions that are computed of each element of an array: casts, and comparisons with ANY and ALL elements.
//!
//! - The expression is a part of the function; the rules that a plan's expressions go through are applied here.

use super::column::{ArrayColumn, depth_of, leaf_of, of_leaf};
use super::writer::with_leaves;
use crate::checked::{BesideOthers, Casts, CheckedArithmetic};
use crate::order_keys::OrderKeys;
use crate::string_functions::LongPatterns;
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Fields, SchemaRef};
use datafusion::common::{DFSchema, Result, ScalarValue, internal_err};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    ColumnarValue, EmptyRelation, Expr, ExprSchemable, LogicalPlan, Projection, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::analyzer::type_coercion::TypeCoercion;
use datafusion::optimizer::{Analyzer, AnalyzerRule};
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use datafusion::prelude::SessionConfig;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// Name of the column that is an element.
pub(crate) const ELEMENT: &str = "element";

/// Returns the name of the column that is another value of the row.
pub(crate) fn other_name(place: usize) -> String {
    format!("other{place}")
}

/// Returns arrays of what an expression gives of each element, and of other values of the row. The expression names
/// them [`ELEMENT`] and by [`other_name`].
pub(crate) fn each_element(
    (array, data_type): (Expr, &DataType),
    others: Vec<(Expr, DataType)>,
    body: Expr,
) -> Result<(Expr, DataType)> {
    let mut fields = vec![Field::new(ELEMENT, leaf_of(data_type).clone(), true)];
    let others = others.into_iter().enumerate().map(|(place, (value, data_type))| {
        fields.push(Field::new(other_name(place), data_type, true));
        value
    });
    let arguments = std::iter::once(array).chain(others).collect::<Vec<_>>();
    let schema = DFSchema::from_unqualified_fields(Fields::from(fields), HashMap::new())?;
    let body = analyzed(body, &schema)?;
    let planning = PhysicalPlanningContext::default();
    let physical = create_physical_expr(&body, &schema, &ExecutionProps::new(), &planning)?;
    let result = of_leaf(&body.get_type(&schema)?, depth_of(data_type));
    let function = EachElement {
        name: format!("each element: {body}"),
        body,
        physical,
        schema: Arc::new(schema.as_arrow().clone()),
        result: result.clone(),
        signature: Signature::any(arguments.len(), Volatility::Immutable),
    };
    let function = ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), arguments);
    Ok((Expr::ScalarFunction(function), result))
}

/// Applies the rules that expressions of plans go through.
fn analyzed(body: Expr, schema: &DFSchema) -> Result<Expr> {
    static ANALYZER: LazyLock<Analyzer> = LazyLock::new(|| {
        let rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![
            Arc::new(BesideOthers),
            Arc::new(TypeCoercion::new()),
            Arc::new(Casts),
            Arc::new(CheckedArithmetic::new()),
            Arc::new(OrderKeys),
            Arc::new(LongPatterns),
        ];
        Analyzer::with_rules(rules)
    });
    let rows = EmptyRelation { produce_one_row: false, schema: Arc::new(schema.clone()) };
    let rows = Arc::new(LogicalPlan::EmptyRelation(rows));
    let plan = LogicalPlan::Projection(Projection::try_new(vec![body], rows)?);
    let config = SessionConfig::new();
    let analyzed = ANALYZER.execute_and_check(plan, config.options(), |_, _| {})?;
    let LogicalPlan::Projection(Projection { mut expr, .. }) = analyzed else {
        return internal_err!("an expression of elements has become another plan");
    };
    match (expr.pop(), expr.is_empty()) {
        (Some(expr), true) => Ok(expr.unalias_nested().data),
        _ => internal_err!("an expression of elements has become several"),
    }
}

/// Expression of each element, as a function of arrays.
#[derive(Debug)]
struct EachElement {
    name: String,
    body: Expr,
    physical: Arc<dyn PhysicalExpr>,
    /// Columns of the expression.
    schema: SchemaRef,
    result: DataType,
    signature: Signature,
}

impl PartialEq for EachElement {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body && self.schema == other.schema && self.result == other.result
    }
}

impl Eq for EachElement {}

impl Hash for EachElement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.body.hash(state);
        self.result.hash(state);
    }
}

impl ScalarUDFImpl for EachElement {
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
        let is_one = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_one { 1 } else { args.number_rows };
        let arrays = args.args.iter().map(|value| value.to_array(rows));
        let results = self.computed(&arrays.collect::<Result<Vec<_>>>()?)?;
        Ok(match is_one {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&results, 0)?),
            false => ColumnarValue::Array(results),
        })
    }
}

impl EachElement {
    fn computed(&self, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        let [array, others @ ..] = arrays else { return internal_err!("an array") };
        let column = ArrayColumn::of(array)?;
        let range = column.whole_range();
        let mut columns = vec![column.leaves().slice(range.start, range.len())];
        if !others.is_empty() {
            let rows = (0..column.len()).flat_map(|row| {
                let row_number = u64::try_from(row).unwrap_or(u64::MAX);
                std::iter::repeat_n(row_number, column.range(row).len())
            });
            let rows = UInt64Array::from_iter_values(rows);
            for other in others {
                columns.push(take(other, &rows, None)?);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(range.len()));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?;
        let values = self.physical.evaluate(&batch)?.into_array(range.len())?;
        with_leaves(&column, values)
    }
}
