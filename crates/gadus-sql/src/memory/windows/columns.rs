//! The columns that window expressions refer to, without the others.

use crate::value_limits::bytes_of_values;
use arrow::array::make_array;
use arrow::array::{Array, ArrayRef, MutableArrayData, NullArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::logical_expr::{WindowFrame, WindowFrameBound, WindowFrameUnits};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::window::SlidingAggregateWindowExpr;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::physical_plan::windows::{
    PlainAggregateWindowExpr, StandardWindowExpr, WindowExpr,
};
use std::sync::Arc;

/// A column whose buffers are larger than its values by this factor, and by more than a little, is copied: it would
/// hold those of others.
const WASTE_MAX: usize = 2;
const LITTLE_BYTES: usize = 16 * 1024;

/// Makes batches of the same rows, in which only some columns have values. The others have the type NULL, which takes no
/// memory: expressions refer to columns by their places.
#[derive(Debug)]
pub(super) struct NeededColumns {
    schema: SchemaRef,
    is_needed: Vec<bool>,
}

impl NeededColumns {
    /// The columns of `input` that expressions refer to; all where those are not known.
    pub(super) fn new(input: &Schema, expressions: Option<&[Arc<dyn PhysicalExpr>]>) -> Self {
        let columns = input.fields().len();
        let mut is_needed = vec![expressions.is_none(); columns];
        for column in expressions.unwrap_or_default().iter().flat_map(collect_columns) {
            if let Some(needed) = is_needed.get_mut(column.index()) {
                *needed = true;
            }
        }
        let fields = input.fields().iter().zip(&is_needed).map(|(field, needed)| match needed {
            true => field.clone(),
            false => Arc::new(Field::new(field.name(), DataType::Null, true)),
        });
        let schema =
            Schema::new_with_metadata(fields.collect::<Vec<_>>(), input.metadata().clone());
        Self { schema: Arc::new(schema), is_needed }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// True if no expression refers to a column.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_needed.contains(&true)
    }

    pub(super) fn of(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns = batch.columns().iter().zip(&self.is_needed);
        let columns = columns.map(|(column, needed)| match needed {
            true => alone(column),
            false => Ok(Arc::new(NullArray::new(rows)) as ArrayRef),
        });
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// Returns the bytes of all columns of a batch, and of those that are needed.
    pub(super) fn bytes(&self, batch: &RecordBatch) -> (usize, usize) {
        let (mut all, mut needed) = (0, 0);
        for (column, is_needed) in batch.columns().iter().zip(&self.is_needed) {
            let bytes = bytes_of_values(column);
            all += bytes;
            needed += if *is_needed { bytes } else { 0 };
        }
        (all, needed)
    }
}

/// Returns a column that holds no buffers of others, as one does that was read from a file.
fn alone(column: &ArrayRef) -> Result<ArrayRef> {
    let held = column.get_buffer_memory_size();
    let is_view = matches!(column.data_type(), DataType::Utf8View | DataType::BinaryView);
    // Views are compact already.
    if is_view || held <= LITTLE_BYTES || held / WASTE_MAX <= bytes_of_values(column) {
        return Ok(column.clone());
    }
    let data = column.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, column.len());
    copy.try_extend(0, 0, column.len())?;
    Ok(make_array(copy.freeze()))
}

/// The expressions that a window expression evaluates on the rows of one partition; none if they are not known.
pub(super) fn evaluated(
    window: &Arc<dyn WindowExpr>,
    input: &Schema,
) -> Option<Vec<Arc<dyn PhysicalExpr>>> {
    let mut expressions = window.expressions();
    let needs_order = match window.as_any().downcast_ref::<StandardWindowExpr>() {
        Some(standard) => {
            let evaluator = standard.get_standard_func_expr().create_evaluator();
            evaluator
                .map_or(true, |function| function.uses_window_frame() || function.include_rank())
        }
        None => {
            expressions.extend(filter(window, input)?);
            true
        }
    };
    if needs_order {
        expressions.extend(window.order_by().iter().map(|key| key.expr.clone()));
    }
    Some(expressions)
}

/// Returns the predicate of an aggregate's FILTER, if it has one; the outer option is none where it is not known.
fn filter(window: &Arc<dyn WindowExpr>, input: &Schema) -> Option<Option<Arc<dyn PhysicalExpr>>> {
    if !window.as_any().is::<PlainAggregateWindowExpr>()
        && !window.as_any().is::<SlidingAggregateWindowExpr>()
    {
        return None;
    }
    // No method gives it, but it ends the text that is derived for debugging.
    let text = format!("{window:?}");
    if text.ends_with("filter: None }") {
        return Some(None);
    }
    let columns = input.fields().iter().enumerate();
    let mut columns = columns.map(|(place, field)| Column::new(field.name(), place));
    let column = columns.find(|column| text.ends_with(&format!("filter: Some({column:?}) }}")))?;
    Some(Some(Arc::new(column)))
}

/// Returns the aggregate of a window expression that has one value for each partition, and no FILTER.
pub(super) fn constant_in_partition(
    window: &Arc<dyn WindowExpr>,
) -> Option<&PlainAggregateWindowExpr> {
    let aggregate = window.as_any().downcast_ref::<PlainAggregateWindowExpr>()?;
    let is_constant = covers_partition(window.get_window_frame(), window.order_by().is_empty());
    let has_filter = || !format!("{window:?}").ends_with("filter: None }");
    (is_constant && !has_filter()).then_some(aggregate)
}

/// True if the frame of each row is its whole partition. Without an order, all rows of a partition are peers.
fn covers_partition(frame: &WindowFrame, has_no_order: bool) -> bool {
    let all_are_peers = has_no_order && frame.units == WindowFrameUnits::Range;
    [&frame.start_bound, &frame.end_bound].into_iter().all(|bound| match bound {
        WindowFrameBound::CurrentRow => all_are_peers,
        bound => bound.is_unbounded(),
    })
}
