//! What a kept plan is bound to: a snapshot, and the values of its parameters.
//!
//! - Expressions reach their values through a function without arguments, as a plan has no other
//!   place for what changes between its runs. It is volatile, lest it be folded into a constant.
//! - Filters that the engine takes over are kept as expressions and made anew for each run.

use crate::provider::{Reading, predicate_of};
use crate::times;
use crate::value::is_text;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, ScalarValue, plan_err};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use gadus_engine::{Predicate, Snapshot, TableSchema};
use parking_lot::RwLock;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The snapshot and the values of one run at a time.
#[derive(Debug, Default)]
pub(crate) struct Binding {
    pub(super) bound: RwLock<Bound>,
    /// Types to which values are converted; `None` if they stay as they are given.
    pub(super) types: Option<Vec<DataType>>,
}

#[derive(Debug, Default)]
pub(super) struct Bound {
    snapshot: Option<Snapshot>,
    values: Arc<[ScalarValue]>,
    reading: Reading,
}

impl Binding {
    /// Sets what the next run reads.
    pub(super) fn bind(&self, snapshot: Snapshot, values: Vec<ScalarValue>, reading: Reading) {
        *self.bound.write() = Bound { snapshot: Some(snapshot), values: values.into(), reading };
    }

    /// Returns values in the types of the parameters; `None` if one cannot be.
    pub(super) fn converted(&self, values: Vec<ScalarValue>) -> Option<Vec<ScalarValue>> {
        match &self.types {
            Some(types) => converted(values, types),
            None => Some(values),
        }
    }

    /// Lets the snapshot go; values stay, for threads of a run that was dropped and still ends.
    pub(super) fn release(&self) {
        self.bound.write().snapshot = None;
    }

    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        self.bound.read().snapshot.clone()
    }

    /// How the run of now reads tables.
    pub(crate) fn reading(&self) -> Reading {
        self.bound.read().reading.clone()
    }

    /// The value of a parameter, counted from 0.
    fn value(&self, index: usize) -> Option<ScalarValue> {
        self.bound.read().values.get(index).cloned()
    }

    /// The value of a placeholder such as `$1`.
    fn value_of(&self, id: &str) -> Result<ScalarValue> {
        match index_of(id).and_then(|index| self.value(index)) {
            Some(value) => Ok(value),
            None => plan_err!("parameter {id} has no value"),
        }
    }

    /// The engine's form of a filter with the values of now, where it has one.
    pub(crate) fn predicate(&self, filter: &Expr, schema: &TableSchema) -> Option<Predicate> {
        let plain = |expr: Expr| match expr {
            Expr::Placeholder(placeholder) => {
                Ok(Transformed::yes(Expr::Literal(self.value_of(&placeholder.id)?, None)))
            }
            Expr::Column(column) => {
                Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name))))
            }
            other => Ok(Transformed::no(other)),
        };
        let filter = filter.clone().transform_up(plain).ok()?.data;
        let columns = DFSchema::try_from(schema.arrow()).ok()?;
        let context = SimplifyContext::builder().with_schema(Arc::new(columns)).build();
        predicate_of(&ExprSimplifier::new(context).simplify(filter).ok()?, schema)
    }

    /// Gives placeholders the types of their values.
    pub(super) fn typed(&self, expr: Expr) -> Result<Transformed<Expr>> {
        let Expr::Placeholder(Placeholder { id, .. }) = expr else {
            return Ok(Transformed::no(expr));
        };
        let data_type = self.value_of(&id)?.data_type();
        let field = arrow::datatypes::Field::new(&id, data_type, true);
        let typed = Placeholder::new_with_field(id, Some(Arc::new(field)));
        Ok(Transformed::yes(Expr::Placeholder(typed)))
    }

    /// Replaces a placeholder by the function that reads its value.
    pub(super) fn called(self: &Arc<Self>, expr: Expr) -> Result<Transformed<Expr>> {
        let Expr::Placeholder(Placeholder { id, .. }) = expr else {
            return Ok(Transformed::no(expr));
        };
        let Some(index) = index_of(&id) else { return plan_err!("{id} is no parameter") };
        let function = ParameterFunction {
            index,
            data_type: self.value_of(&id)?.data_type(),
            binding: self.clone(),
            signature: Signature::nullary(Volatility::Volatile),
        };
        let function = Arc::new(ScalarUDF::new_from_impl(function));
        let call = ScalarFunction::new_udf(function, Vec::new());
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    }
}

/// Converts values to types, one for each; `None` if one cannot be.
pub(crate) fn converted(values: Vec<ScalarValue>, types: &[DataType]) -> Option<Vec<ScalarValue>> {
    let value = |(value, data_type): (ScalarValue, &DataType)| {
        let given = value.data_type();
        // A value whose type nothing decides keeps its own: it is no text.
        let is_undecided = is_text(data_type) && !is_text(&given) && !given.is_null();
        match given == *data_type {
            true => Some(value),
            false if is_undecided => None,
            false if is_text(&given) && times::is_cast(&given, data_type) => {
                let array = value.to_array().ok()?;
                let read = times::cast_array(&array, data_type)?.ok()?;
                ScalarValue::try_from_array(&read, 0).ok()
            }
            false => {
                let cast = value.cast_to(data_type).ok()?;
                // Nothing may be lost on the way.
                (cast.cast_to(&given).ok()? == value).then_some(cast)
            }
        }
    };
    (values.len() == types.len()).then_some(())?;
    values.into_iter().zip(types).map(value).collect()
}

fn index_of(id: &str) -> Option<usize> {
    id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// The value that a parameter has in the run of now.
#[derive(Debug)]
struct ParameterFunction {
    index: usize,
    data_type: DataType,
    binding: Arc<Binding>,
    signature: Signature,
}

impl PartialEq for ParameterFunction {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && Arc::ptr_eq(&self.binding, &other.binding)
    }
}

impl Eq for ParameterFunction {}

impl Hash for ParameterFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
        Arc::as_ptr(&self.binding).hash(state);
    }
}

impl ScalarUDFImpl for ParameterFunction {
    fn name(&self) -> &'static str {
        "gadus_parameter"
    }

    fn display_name(&self, _: &[Expr]) -> Result<String> {
        Ok(format!("${}", self.index + 1))
    }

    fn schema_name(&self, _: &[Expr]) -> Result<String> {
        Ok(format!("${}", self.index + 1))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.data_type.clone())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match self.binding.value(self.index) {
            Some(value) => Ok(ColumnarValue::Scalar(value)),
            None => plan_err!("parameter ${} has no value", self.index + 1),
        }
    }
}
