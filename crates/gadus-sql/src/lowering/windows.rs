//! Window functions.

use super::casts::converted;
use super::frames::uses_frame;
use super::groups::finished;
use super::keys::{bits, has_key};
use super::relations::{unify, written_integer};
use super::types::{is_numeric, lowered_type};
use super::{Lowering, Result, Typed, column_name, missing};
use crate::arrays::is_array;
use crate::checked::moving_aggregate;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction};
use datafusion::logical_expr::{
    AggregateUDF, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, SortExpr, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition, lit,
};
use gadus_binder::bound::{ColumnId, Scalar, WindowBound, WindowCall, WindowFrame as BoundFrame};
use gadus_binder::catalog::FunctionKind;
use gadus_syntax::ast::{FrameExclusion, FrameUnits};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the number of a row within its group, from 1.
pub(super) fn row_number(groups: Vec<Expr>, order_by: Vec<SortExpr>) -> Result<Expr> {
    let mut window = WindowFunction::new(row_number_udwf(), Vec::new());
    window.params.partition_by = groups;
    window.params.order_by = order_by;
    window.params.window_frame = up_to_current_row();
    Ok(Expr::from(window))
}

/// Returns the frame of functions whose results do not depend on one.
pub(super) fn up_to_current_row() -> WindowFrame {
    let first = WindowFrameBound::Preceding(ScalarValue::UInt64(None));
    WindowFrame::new_bounds(WindowFrameUnits::Rows, first, WindowFrameBound::CurrentRow)
}

impl Lowering<'_> {
    pub(super) fn windows(
        &mut self,
        input: LogicalPlan,
        calls: &[(ColumnId, WindowCall)],
    ) -> Result<LogicalPlan> {
        let before = input.schema().columns();
        let mut items = before.into_iter().map(Expr::Column).collect::<Vec<_>>();
        let mut distinct = HashMap::new();
        for (id, call) in calls {
            let document = match call.call.function.kind {
                FunctionKind::Window => None,
                _ => self.document_aggregate(&call.call, input.schema())?,
            };
            let (aggregate, finish) = document.unzip();
            let (expr, given, wanted) = self.window_call(call, aggregate, input.schema())?;
            let name = expr.schema_name().to_string();
            let value = Expr::Column(Column::new_unqualified(&name));
            let value = match finish {
                Some(finish) => finish.apply(value),
                None => {
                    let value = finished(&call.call, Typed::new(value, given.clone()));
                    converted(Typed::new(value, given), wanted.clone(), false)?.expr
                }
            };
            items.push(value.alias(column_name(*id)));
            self.make(*id, wanted);
            // One column for calls that are the same.
            distinct.insert(name, expr);
        }
        let plan = LogicalPlanBuilder::window_plan(input, distinct.into_values())?;
        Ok(LogicalPlanBuilder::from(plan).project(items)?.build()?)
    }

    /// Lowers a call, or takes an aggregate that is lowered; returns it with the type that it gives, and the type of its column.
    fn window_call(
        &mut self,
        call: &WindowCall,
        aggregate: Option<Typed>,
        schema: &DFSchema,
    ) -> Result<(Expr, DataType, DataType)> {
        let function = call.call.function;
        if self.is_framed(call) {
            return self.framed_call(call, aggregate, schema);
        }
        let (definition, arguments, known) = match function.kind {
            FunctionKind::Window => {
                let Some(kernel) = self.planner.window_functions().get(function.name) else {
                    return missing(format!("window function {}", function.name));
                };
                let kernel = WindowFunctionDefinition::WindowUDF(kernel.clone());
                (kernel, self.window_arguments(&call.call.arguments, schema)?, None)
            }
            _ => {
                let (kernel, arguments, data_type) =
                    self.window_aggregate(call, aggregate, schema)?;
                let moving = match arguments.first() {
                    Some(value) if is_moving(&call.frame) => {
                        moving_aggregate(function.name, &value.get_type(schema)?)
                    }
                    _ => None,
                };
                let kernel = WindowFunctionDefinition::AggregateUDF(moving.unwrap_or(kernel));
                (kernel, arguments, Some(data_type))
            }
        };
        let mut window = WindowFunction::new(definition, arguments);
        let params = &mut window.params;
        let mut has_bytes = false;
        for value in &call.partition_by {
            params.partition_by.push(bits(self.scalar(value, schema)?));
        }
        for key in &call.order_by {
            let value = self.scalar(&key.value, schema)?;
            has_bytes |= has_key(&value.data_type);
            let value = bits(value);
            params.order_by.push(value.sort(!key.is_descending, key.nulls_first));
        }
        params.window_frame = frame_of(call, has_bytes)?;
        params.null_treatment = call.ignores_nulls.then_some(NullTreatment::IgnoreNulls);
        if let Some(filter) = &call.call.filter {
            params.filter = Some(Box::new(self.condition(filter, schema)?));
        }
        let expr = Expr::from(window);
        let given = expr.get_type(schema)?;
        let wanted = match known {
            Some(known) => known,
            None if is_numeric(call.call.data_type) || is_array(&given) => given.clone(),
            None => lowered_type(call.call.data_type)?,
        };
        Ok((expr, given, wanted))
    }

    /// Lowers an aggregate over a window, or takes one that is lowered; returns its function, its arguments, and the type of
    /// its column.
    pub(super) fn window_aggregate(
        &mut self,
        call: &WindowCall,
        aggregate: Option<Typed>,
        schema: &DFSchema,
    ) -> Result<(Arc<AggregateUDF>, Vec<Expr>, DataType)> {
        let (Typed { expr, .. }, data_type) = match aggregate {
            Some(aggregate) => {
                let data_type = aggregate.data_type.clone();
                (aggregate, data_type)
            }
            None => self.aggregate_call(&call.call, schema)?,
        };
        let Expr::AggregateFunction(aggregate) = expr else {
            return missing(format!("{} over a window", call.call.function.name));
        };
        if aggregate.params.distinct || !aggregate.params.order_by.is_empty() {
            return missing("DISTINCT or ORDER BY in a call over a window");
        }
        Ok((aggregate.func, aggregate.params.args, data_type))
    }

    /// Lowers arguments: values, distances, and the value of `lag` and `lead` beyond the partition, whose type is that of
    /// the values.
    fn window_arguments(&mut self, arguments: &[Scalar], schema: &DFSchema) -> Result<Vec<Expr>> {
        let mut lowered = Vec::with_capacity(arguments.len());
        for (place, argument) in arguments.iter().enumerate() {
            // Distances are written out for DataFusion.
            let is_distance = place == 1 || arguments.len() == 1;
            lowered.push(match written_integer(argument).filter(|_| is_distance) {
                Some(number) => Typed::new(lit(number), DataType::Int64),
                None => self.scalar(argument, schema)?,
            });
        }
        if let [value, _, default] = lowered.as_mut_slice() {
            unify([value, default].into_iter())?;
        }
        Ok(lowered.into_iter().map(|argument| argument.expr).collect())
    }
}

/// Returns the frame of a call; keys may be bytes.
fn frame_of(call: &WindowCall, has_bytes: bool) -> Result<WindowFrame> {
    let is_ordered = !call.order_by.is_empty();
    match uses_frame(call.call.function) {
        // DataFusion has no ranges of bytes; without distances they are groups of peers.
        true if has_bytes && call.frame.units == FrameUnits::Range => {
            frame(&BoundFrame { units: FrameUnits::Groups, ..call.frame.clone() }, is_ordered)
        }
        true => frame(&call.frame, is_ordered),
        false => Ok(up_to_current_row()),
    }
}

/// Returns true for a frame whose first row is not always that of its partition.
fn is_moving(frame: &BoundFrame) -> bool {
    !matches!(frame.start, WindowBound::UnboundedPreceding)
}

/// Lowers a frame.
fn frame(frame: &BoundFrame, is_ordered: bool) -> Result<WindowFrame> {
    if frame.exclusion != FrameExclusion::NoOthers {
        return missing("EXCLUDE in a frame");
    }
    let units = match frame.units {
        FrameUnits::Rows => WindowFrameUnits::Rows,
        FrameUnits::Range => WindowFrameUnits::Range,
        FrameUnits::Groups => WindowFrameUnits::Groups,
    };
    let is_of_range = units == WindowFrameUnits::Range;
    let (start, end) = (bound(&frame.start, is_of_range)?, bound(&frame.end, is_of_range)?);
    if units != WindowFrameUnits::Rows && !is_ordered {
        let is_plain = matches!(start, WindowFrameBound::Preceding(ScalarValue::UInt64(None)))
            && !matches!(frame.end, WindowBound::Following(_) | WindowBound::Preceding(_));
        // All rows are peers.
        return match is_plain {
            true => Ok(WindowFrame::new(None)),
            false => missing("a frame of a window without an order"),
        };
    }
    Ok(WindowFrame::new_bounds(units, start, end))
}

fn bound(bound: &WindowBound, is_of_range: bool) -> Result<WindowFrameBound> {
    let distance = |distance: &Scalar| {
        let rows = written_integer(distance).filter(|_| !is_of_range);
        match rows.map(u64::try_from) {
            Some(Ok(rows)) => Ok(ScalarValue::UInt64(Some(rows))),
            Some(Err(_)) => missing("a negative distance in a frame"),
            None => missing("a distance in a frame"),
        }
    };
    Ok(match bound {
        WindowBound::UnboundedPreceding => WindowFrameBound::Preceding(ScalarValue::UInt64(None)),
        WindowBound::Preceding(rows) => WindowFrameBound::Preceding(distance(rows)?),
        WindowBound::CurrentRow => WindowFrameBound::CurrentRow,
        WindowBound::Following(rows) => WindowFrameBound::Following(distance(rows)?),
        WindowBound::UnboundedFollowing => WindowFrameBound::Following(ScalarValue::UInt64(None)),
    })
}
