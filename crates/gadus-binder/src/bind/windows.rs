//! Window functions: OVER, WINDOW, frames.

use super::Binder;
use super::calls::integer_constant;
use super::scope::Clause;
use crate::bound::{OrderedScalar, Scalar, ScalarKind, WindowBound, WindowCall, WindowFrame};
use crate::catalog::functions::functions_named;
use crate::catalog::{CastContext, Function, FunctionKind};
use crate::error::{BindError, Result};
use crate::types::{BaseType, TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{
    Frame, FrameBound, FrameExclusion, FrameUnits, FunctionCall, Name, Window, WindowSpecification,
};
use std::sync::Arc;

impl Binder<'_> {
    /// Keeps the windows of WINDOW under their names.
    pub(super) fn name_windows(&mut self, windows: &[(Name, Window)]) -> Result<()> {
        for (name, window) in windows {
            let text = name.text.clone();
            if self.scope().window_names.contains_key(&text) {
                let message = format!("window \"{text}\" is already defined");
                return Err(BindError::new("42P20", message, name.span));
            }
            let window = Arc::new(self.refined(window)?);
            self.scope().window_names.insert(text, window);
        }
        Ok(())
    }

    /// Binds a call with OVER; its column is computed above the groups.
    pub(super) fn window_call(
        &mut self,
        name: &str,
        call: &FunctionCall,
        span: Span,
    ) -> Result<Scalar> {
        let scope = self.scope();
        if scope.aggregate_depth > 0 {
            let message = "aggregate function calls cannot contain window function calls";
            return Err(BindError::new("42803", message, span));
        }
        if scope.window_depth > 0 {
            return Err(BindError::new("42P20", "window function calls cannot be nested", span));
        }
        let clause = scope.clause;
        if !clause.allows_windows() {
            let message = format!("window functions are not allowed in {}", clause.name());
            return Err(BindError::new("42P20", message, span));
        }
        scope.window_depth += 1;
        let bound = self.window_parts(name, call, span);
        let scope = self.scope();
        scope.window_depth -= 1;
        scope.clause = clause;
        let bound = bound?;
        let (id, data_type) = (self.new_column(), bound.call.data_type);
        self.scope().windows.push((id, bound));
        Ok(Scalar::new(ScalarKind::Column(id), data_type, span))
    }

    fn window_parts(&mut self, name: &str, call: &FunctionCall, span: Span) -> Result<WindowCall> {
        check_call(name, call, span)?;
        let window = match &call.over {
            Some(WindowSpecification::Name(name)) => self.named_window(name)?,
            Some(WindowSpecification::Window(window)) => Arc::new(self.refined(window)?),
            None => return Err(BindError::unsupported("a window function without OVER", span)),
        };
        let bound = self.aggregate_call(name, call, is_for_windows, span)?;
        if bound.function.kind == FunctionKind::Window && call.filter.is_some() {
            let message = "FILTER is not implemented for non-aggregate window functions";
            return Err(BindError::new("0A000", message, span));
        }
        self.scope().clause = Clause::Window;
        let partition_by = self.exprs(&window.partition_by)?;
        for value in &partition_by {
            super::order::check_equality(value.data_type.id, value.span)?;
        }
        let order_by = self.ordered(&window.order_by)?;
        let frame = self.frame(window.frame.as_ref(), &order_by, window.span)?;
        let ignores_nulls = call.ignore_nulls == Some(true);
        Ok(WindowCall { call: bound, ignores_nulls, partition_by, order_by, frame })
    }

    fn named_window(&mut self, name: &Name) -> Result<Arc<Window>> {
        self.scope().window_names.get(&name.text).cloned().ok_or_else(|| {
            let message = format!("window \"{}\" does not exist", name.text);
            BindError::new("42704", message, name.span)
        })
    }

    /// Returns a window with the parts of the one that it refines.
    fn refined(&mut self, window: &Window) -> Result<Window> {
        let mut window = window.clone();
        let Some(name) = window.base.take() else { return Ok(window) };
        let base = self.named_window(&name)?;
        let refused = |message: String| Err(BindError::new("42P20", message, name.span));
        if !window.partition_by.is_empty() {
            return refused(format!(
                "cannot override PARTITION BY clause of window \"{}\"",
                name.text
            ));
        }
        if !window.order_by.is_empty() && !base.order_by.is_empty() {
            return refused(format!("cannot override ORDER BY clause of window \"{}\"", name.text));
        }
        if base.frame.is_some() {
            return refused(format!(
                "cannot copy window \"{}\" because it has a frame clause",
                name.text
            ));
        }
        window.partition_by.clone_from(&base.partition_by);
        if window.order_by.is_empty() {
            window.order_by.clone_from(&base.order_by);
        }
        Ok(window)
    }

    fn frame(
        &mut self,
        frame: Option<&Frame>,
        order_by: &[OrderedScalar],
        span: Span,
    ) -> Result<WindowFrame> {
        let Some(frame) = frame else {
            return Ok(WindowFrame {
                units: FrameUnits::Range,
                start: WindowBound::UnboundedPreceding,
                end: WindowBound::CurrentRow,
                exclusion: FrameExclusion::NoOthers,
            });
        };
        if frame.units == FrameUnits::Groups && order_by.is_empty() {
            return Err(BindError::new("42P20", "GROUPS mode requires an ORDER BY clause", span));
        }
        let start = self.frame_bound(&frame.start, frame.units, order_by, span)?;
        let end = match &frame.end {
            Some(end) => self.frame_bound(end, frame.units, order_by, span)?,
            None => WindowBound::CurrentRow,
        };
        Ok(WindowFrame { units: frame.units, start, end, exclusion: frame.exclusion })
    }

    fn frame_bound(
        &mut self,
        bound: &FrameBound,
        units: FrameUnits,
        order_by: &[OrderedScalar],
        span: Span,
    ) -> Result<WindowBound> {
        let expr = match bound {
            FrameBound::UnboundedPreceding => return Ok(WindowBound::UnboundedPreceding),
            FrameBound::CurrentRow => return Ok(WindowBound::CurrentRow),
            FrameBound::UnboundedFollowing => return Ok(WindowBound::UnboundedFollowing),
            FrameBound::Preceding(expr) | FrameBound::Following(expr) => expr,
        };
        // The distance is one for all rows.
        let (value, _) = self.in_scope(|binder| {
            binder.scope().clause = Clause::Limit;
            binder.expr(expr)
        })?;
        let source = value.data_type.id;
        let (target, name) = match units {
            FrameUnits::Rows => (constants::INT8, "ROWS"),
            FrameUnits::Groups => (constants::INT8, "GROUPS"),
            FrameUnits::Range => (range_distance(order_by, source, span)?, "RANGE"),
        };
        let context = CastContext::Assignment;
        let converted = self.coercion().convert(value, target, context)?.ok_or_else(|| {
            let message = format!("argument of {name} must be type {target}, not type {source}");
            BindError::new("42804", message, expr.span)
        })?;
        if integer_constant(&converted).is_some_and(|number| number < 0)
            && units != FrameUnits::Range
        {
            let side =
                if matches!(bound, FrameBound::Preceding(_)) { "starting" } else { "ending" };
            let message = format!("frame {side} offset must not be negative");
            return Err(BindError::new("22013", message, expr.span));
        }
        Ok(match bound {
            FrameBound::Preceding(_) => WindowBound::Preceding(converted),
            _ => WindowBound::Following(converted),
        })
    }
}

/// Returns the type of a distance between values of the order's only key.
fn range_distance(order_by: &[OrderedScalar], offset: TypeId, span: Span) -> Result<TypeId> {
    let [key] = order_by else {
        let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column";
        return Err(BindError::new("42P20", message, span));
    };
    let id = key.value.data_type.id;
    let distance = match id.base {
        _ if id.is_array => None,
        BaseType::Int2 | BaseType::Int4 | BaseType::Int8 => match offset.base {
            BaseType::Int2 | BaseType::Int4 | BaseType::Int8 => Some(offset),
            _ => Some(id),
        },
        BaseType::Float4 | BaseType::Float8 => Some(constants::FLOAT8),
        BaseType::Numeric => Some(constants::NUMERIC),
        BaseType::Date
        | BaseType::Time
        | BaseType::Timetz
        | BaseType::Timestamp
        | BaseType::Timestamptz
        | BaseType::Interval => Some(constants::INTERVAL),
        _ => None,
    };
    distance.ok_or_else(|| {
        let message =
            format!("RANGE with offset PRECEDING/FOLLOWING is not supported for column type {id}");
        BindError::new("0A000", message, span)
    })
}

fn is_for_windows(function: &Function) -> bool {
    matches!(function.kind, FunctionKind::Window | FunctionKind::Aggregate)
}

fn check_call(name: &str, call: &FunctionCall, span: Span) -> Result<()> {
    let all = functions_named(name);
    if !all.is_empty() && !all.iter().any(|function| is_for_windows(function)) {
        let is_ordered_set = all.iter().any(|function| function.is_aggregate());
        let (state, message) = match is_ordered_set {
            true => ("0A000", format!("OVER is not supported for ordered-set aggregate {name}")),
            false => (
                "42809",
                format!(
                    "OVER specified, but {name} is not a window function nor an aggregate function"
                ),
            ),
        };
        return Err(BindError::new(state, message, span));
    }
    let refused = |message: &str| Err(BindError::new("0A000", message, span));
    if call.distinct {
        return refused("DISTINCT is not implemented for window functions");
    }
    if !call.order_by.is_empty() {
        return refused("aggregate ORDER BY is not implemented for window functions");
    }
    Ok(())
}
