//! Batches that are cut before an operator evaluates expressions on them, so that the results fit.
//!
//! - Only operators whose expressions concatenate, call an amplifying function or have a large constant (which may
//!   be such a call, folded) are given slices: sizes are
//!   estimated from the values of columns and constants, which costs a look at their lengths.
//! - The estimate is an upper bound as far as it goes; what it does not know counts as large as its arguments.

use super::result_size::{Argument, Sizes, bytes_of, is_amplifying, result_bytes, sum};
use super::{VALUE_BYTES_MAX, check_value, slice_bytes};
use crate::memory::Memory;
use crate::pace::PassingExec;
use arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr, SendableRecordBatchStream};
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;

/// Bytes of a constant that may stand in each row of a batch without a look at how many rows those are.
const LITERAL_BYTES_MAX: usize = 4 << 10;

/// The name of what gives an operator slices.
const SLICED: &str = "GadusSliced";

/// Gives operators slices of their input; after all rules that move expressions.
#[derive(Debug)]
pub(crate) struct SliceByBytes(pub(crate) Memory);

impl PhysicalOptimizerRule for SliceByBytes {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let sliced = plan.transform_up(|plan| {
            let [input] = plan.children()[..] else { return Ok(Transformed::no(plan)) };
            let expressions = amplifying(&*plan)?;
            if expressions.is_empty() {
                return Ok(Transformed::no(plan));
            }
            let (memory, expressions) = (self.0.clone(), Arc::new(expressions));
            let pass = move |input, _: &_| sliced(input, expressions.clone(), memory.clone());
            let input = Arc::new(PassingExec::new(SLICED, input.clone(), pass));
            replace_children_if_necessary(plan, vec![input]).map(Transformed::yes)
        });
        sliced.map(|plan| plan.data)
    }

    fn name(&self) -> &'static str {
        "gadus_slice_by_bytes"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// True if a plan has operators that get slices.
pub(crate) fn is_sliced(plan: &dyn ExecutionPlan) -> bool {
    plan.name() == SLICED || plan.children().into_iter().any(|child| is_sliced(&**child))
}

/// Returns the expressions of an operator that may give far more bytes than they take.
fn amplifying(plan: &dyn ExecutionPlan) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
    let mut found = Vec::new();
    // The later stages of an aggregate take states; their expressions are those of the first one's input.
    if plan.downcast_ref::<AggregateExec>().is_some_and(|aggregate| !takes_rows(aggregate.mode())) {
        return Ok(found);
    }
    plan.apply_expressions(&mut |expression| {
        if is_amplifying_expression(expression)? {
            found.push(expression.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// True if an expression may give far more bytes than it takes, so that it is evaluated in slices alone.
pub(crate) fn is_amplifying_expression(expression: &Arc<dyn PhysicalExpr>) -> Result<bool> {
    expression.exists(|node| Ok(is_amplifying_node(node)))
}

fn takes_rows(mode: &AggregateMode) -> bool {
    matches!(
        mode,
        AggregateMode::Partial | AggregateMode::Single | AggregateMode::SinglePartitioned
    )
}

fn is_amplifying_node(node: &Arc<dyn PhysicalExpr>) -> bool {
    if let Some(call) = node.downcast_ref::<ScalarFunctionExpr>() {
        return is_amplifying(call.name());
    }
    if let Some(literal) = node.downcast_ref::<Literal>() {
        return literal.value().size() > LITERAL_BYTES_MAX;
    }
    let binary = node.downcast_ref::<BinaryExpr>();
    binary.is_some_and(|binary| *binary.op() == Operator::StringConcat)
}

fn sliced(
    input: SendableRecordBatchStream,
    expressions: Arc<Vec<Arc<dyn PhysicalExpr>>>,
    memory: Memory,
) -> SendableRecordBatchStream {
    let schema = input.schema();
    let slices = input.map(move |batch| {
        let slices = batch.and_then(|batch| slices(batch, &expressions, &memory))?;
        Ok::<_, DataFusionError>(stream::iter(slices.into_iter().map(Ok)))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, slices.try_flatten()))
}

/// Cuts a batch where the results of all expressions so far would not fit.
fn slices(
    batch: RecordBatch,
    expressions: &[Arc<dyn PhysicalExpr>],
    memory: &Memory,
) -> Result<Vec<RecordBatch>> {
    let mut sizes = Sizes::All(0);
    for expression in expressions {
        sizes = sizes.plus(&estimate(expression, &batch, Some(memory))?);
    }
    let (_, all) = sizes.largest_and_sum(batch.num_rows());
    let fits = slice_bytes(memory);
    if all <= fits {
        return Ok(vec![batch]);
    }
    let (mut slices, mut start, mut bytes) = (Vec::new(), 0, 0_u64);
    for row in 0..batch.num_rows() {
        let size = sizes.at(row);
        if row > start && bytes.saturating_add(size) > fits {
            slices.push(batch.slice(start, row - start));
            (start, bytes) = (row, 0);
        }
        bytes = bytes.saturating_add(size);
    }
    slices.push(batch.slice(start, batch.num_rows() - start));
    Ok(slices)
}

/// Returns the bytes of an expression's values, with what it makes on the way. A concatenation that is too large is
/// refused here, if it is evaluated for all rows in any case: `memory` is none below what may leave out rows.
fn estimate(
    expression: &Arc<dyn PhysicalExpr>,
    batch: &RecordBatch,
    memory: Option<&Memory>,
) -> Result<Sizes> {
    if let Some(column) = expression.downcast_ref::<Column>() {
        let column = batch.columns().get(column.index());
        return Ok(column.map_or(Sizes::All(0), bytes_of));
    }
    if let Some(literal) = expression.downcast_ref::<Literal>() {
        return Ok(Argument::of_scalar(literal.value()).bytes);
    }
    let call = expression.downcast_ref::<ScalarFunctionExpr>();
    let is_concatenation =
        expression.downcast_ref::<BinaryExpr>().is_some() && is_amplifying_node(expression);
    // Others evaluate some of their arguments for some rows alone, such as CASE and AND.
    let goes_on = is_concatenation || call.is_some_and(|call| !call.fun().short_circuits());
    let below = memory.filter(|_| goes_on);
    let children = expression.children();
    let arguments = children.into_iter().map(|child| argument(child, batch, below));
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    if let Some(call) = call.filter(|call| is_amplifying(call.name())) {
        // The function itself refuses what is too large, for the rows that it is called for.
        return Ok(result_bytes(call.name(), &arguments).plus(&sum(&arguments)));
    }
    let sizes = sum(&arguments);
    if let Some(memory) = memory.filter(|_| is_concatenation) {
        let (largest, _) = sizes.largest_and_sum(batch.num_rows());
        check_value("||", largest.min(VALUE_BYTES_MAX + 1), memory)?;
    }
    Ok(sizes)
}

/// Returns what is known of an argument; its numbers are computed unless that amplifies, too, or fails: for rows that
/// it is not evaluated for, it may.
fn argument(
    expression: &Arc<dyn PhysicalExpr>,
    batch: &RecordBatch,
    memory: Option<&Memory>,
) -> Result<Argument> {
    let is_number = expression.data_type(&batch.schema()).is_ok_and(|found| found.is_integer());
    if is_number
        && !expression.exists(|node| Ok(node.is_volatile_node() || is_amplifying_node(node)))?
        && let Ok(numbers) = expression.evaluate(batch)
    {
        return Ok(Argument::of(&numbers));
    }
    estimate(expression, batch, memory).map(Argument::of_bytes)
}
