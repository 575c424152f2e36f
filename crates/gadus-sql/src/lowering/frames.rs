//! Window functions over frames that DataFusion does not have.

use super::casts::converted;
use super::keys::bits;
use super::operators::numeric_call;
use super::relations::written_integer;
use super::times::time_call;
use super::types::{is_exact, is_numeric, lowered_type};
use super::windows::up_to_current_row;
use super::{Lowering, Result, Typed, missing};
use crate::frames::{Call, End, Frame, Framed};
use crate::numerics::NUMERIC;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::DFSchema;
use datafusion::functions::math::isnan;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    AggregateUDF, Expr, ExprSchemable, WindowFunctionDefinition, cast, lit, when,
};
use gadus_binder::bound::{OrderedScalar, Scalar, WindowBound, WindowCall};
use gadus_binder::catalog::{Function, FunctionKind};
use gadus_syntax::ast::{FrameExclusion, FrameUnits};

/// Window functions whose results depend on the frame.
const OF_FRAMES: [&str; 3] = ["first_value", "last_value", "nth_value"];

/// Returns true for a function whose results depend on the frame.
pub(super) fn uses_frame(function: &Function) -> bool {
    function.kind != FunctionKind::Window || OF_FRAMES.contains(&function.name)
}

/// Returns the distance of an end.
fn distance(bound: &WindowBound) -> Option<&Scalar> {
    match bound {
        WindowBound::Preceding(distance) | WindowBound::Following(distance) => Some(distance),
        WindowBound::UnboundedPreceding
        | WindowBound::CurrentRow
        | WindowBound::UnboundedFollowing => None,
    }
}

fn end(bound: &WindowBound) -> End {
    match bound {
        WindowBound::UnboundedPreceding => End::UnboundedPreceding,
        WindowBound::Preceding(_) => End::Preceding,
        WindowBound::CurrentRow => End::CurrentRow,
        WindowBound::Following(_) => End::Following,
        WindowBound::UnboundedFollowing => End::UnboundedFollowing,
    }
}

impl Lowering<'_> {
    /// Returns true for a call over a frame of our own.
    pub(super) fn is_framed(&self, call: &WindowCall) -> bool {
        let frame = &call.frame;
        let is_of_plans = |bound: &WindowBound| match distance(bound) {
            Some(distance) => {
                frame.units != FrameUnits::Range
                    && written_integer(distance).is_some_and(|rows| rows >= 0)
            }
            None => true,
        };
        let is_plain = frame.exclusion == FrameExclusion::NoOthers
            && is_of_plans(&frame.start)
            && is_of_plans(&frame.end);
        uses_frame(call.call.function) && !is_plain
    }

    /// Lowers a call; returns it with the type that it gives, and the type of its column.
    pub(super) fn framed_call(
        &mut self,
        call: &WindowCall,
        aggregate: Option<Typed>,
        schema: &DFSchema,
    ) -> Result<(Expr, DataType, DataType)> {
        if call.ignores_nulls {
            return missing("IGNORE NULLS over this frame");
        }
        let (function, mut arguments, known) = self.framed_function(call, aggregate, schema)?;
        let mut framed = Framed {
            call: function,
            arguments: arguments.len(),
            has_filter: call.call.filter.is_some(),
            sort: Vec::with_capacity(call.order_by.len()),
            frame: Frame {
                units: call.frame.units,
                start: end(&call.frame.start),
                end: end(&call.frame.end),
                exclusion: call.frame.exclusion,
            },
        };
        if let Some(filter) = &call.call.filter {
            arguments.push(self.condition(filter, schema)?);
        }
        let mut order_by = Vec::with_capacity(call.order_by.len());
        let mut keys = Vec::with_capacity(call.order_by.len());
        for key in &call.order_by {
            let mut value = self.scalar(&key.value, schema)?;
            if value.data_type == DataType::Null {
                value = converted(value, NUMERIC, false)?;
            }
            if !is_key(&value.data_type) {
                return missing(format!("this frame by {}", value.data_type));
            }
            let (descending, nulls_first) = (key.is_descending, key.nulls_first);
            framed.sort.push(SortOptions { descending, nulls_first });
            order_by.push(bits(value.clone()).sort(!descending, nulls_first));
            keys.push(value);
        }
        arguments.extend(self.ends(call, keys, schema)?);
        let definition = WindowFunctionDefinition::WindowUDF(framed.function());
        let mut window = WindowFunction::new(definition, arguments);
        for value in &call.partition_by {
            window.params.partition_by.push(bits(self.scalar(value, schema)?));
        }
        window.params.window_frame = up_to_current_row();
        window.params.order_by = order_by;
        let expr = Expr::from(window);
        let given = expr.get_type(schema)?;
        let wanted = match known {
            Some(known) => known,
            None if is_numeric(call.call.data_type) => given.clone(),
            None => lowered_type(call.call.data_type)?,
        };
        Ok((expr, given, wanted))
    }

    fn framed_function(
        &mut self,
        call: &WindowCall,
        aggregate: Option<Typed>,
        schema: &DFSchema,
    ) -> Result<(Call, Vec<Expr>, Option<DataType>)> {
        let function = match call.call.function.name {
            "first_value" => Call::First,
            "last_value" => Call::Last,
            "nth_value" => Call::Nth,
            _ => {
                let (kernel, arguments, data_type) =
                    self.window_aggregate(call, aggregate, schema)?;
                let arguments = coerced(&kernel, arguments, schema)?;
                return Ok((Call::Aggregate(kernel), arguments, Some(data_type)));
            }
        };
        let mut arguments = Vec::with_capacity(call.call.arguments.len());
        for argument in &call.call.arguments {
            arguments.push(self.scalar(argument, schema)?.expr);
        }
        Ok((function, arguments, None))
    }

    /// Returns the keys of the order, and the offsets of the frame's ends.
    fn ends(
        &mut self,
        call: &WindowCall,
        keys: Vec<Typed>,
        schema: &DFSchema,
    ) -> Result<Vec<Expr>> {
        let frame = &call.frame;
        let mut distances = Vec::new();
        for (bound, is_start) in [(&frame.start, true), (&frame.end, false)] {
            if let Some(distance) = distance(bound) {
                let is_before = matches!(bound, WindowBound::Preceding(_));
                distances.push((self.scalar(distance, schema)?, is_before, is_start));
            }
        }
        if frame.units != FrameUnits::Range || distances.is_empty() {
            let keys = keys.into_iter().map(bits);
            return Ok(keys
                .chain(distances.into_iter().map(|(distance, ..)| distance.expr))
                .collect());
        }
        let ([key], [order]) = (keys.as_slice(), call.order_by.as_slice()) else {
            return missing("RANGE with a distance by several keys");
        };
        let key = measured(key.clone())?;
        let mut ends = vec![bits(key.clone())];
        for (distance, is_before, is_start) in distances {
            let end = ended(&key, distance, (is_before, is_start), order)?;
            ends.push(bits(end));
        }
        Ok(ends)
    }
}

/// Returns the arguments of an aggregate in the types that it takes: DataFusion's rules see only a window function.
fn coerced(function: &AggregateUDF, arguments: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    let fields = arguments.iter().map(|argument| Ok(argument.to_field(schema)?.1));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let wanted = fields_with_udf(&fields, function)?;
    let coerced = arguments.into_iter().zip(fields).zip(wanted).map(
        |((argument, given), wanted)| match given.data_type() == wanted.data_type() {
            true => argument,
            false => cast(argument, wanted.data_type().clone()),
        },
    );
    Ok(coerced.collect())
}

/// Returns true for values whose bytes are in the order of the values.
fn is_key(data_type: &DataType) -> bool {
    use DataType::{
        BinaryView, Boolean, Date32, Decimal128, Float32, Float64, Int16, Int32, Int64, Time64,
        Timestamp, Utf8View,
    };
    let is_plain = matches!(
        data_type,
        Boolean
            | Int16
            | Int32
            | Int64
            | Float32
            | Float64
            | Decimal128(..)
            | Utf8View
            | BinaryView
    );
    is_plain || *data_type == NUMERIC || matches!(data_type, Date32 | Time64(_) | Timestamp(..))
}

/// Returns a key as the type in which distances are added to it.
fn measured(key: Typed) -> Result<Typed> {
    let wanted = match &key.data_type {
        exact if exact.is_integer() || is_exact(exact) => NUMERIC,
        DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Date32 => DataType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Timestamp(..) => return Ok(key),
        other => return missing(format!("RANGE with a distance by {other}")),
    };
    converted(key, wanted, false)
}

/// Returns the value at which a frame ends.
fn ended(
    key: &Typed,
    distance: Typed,
    (is_before, is_start): (bool, bool),
    order: &OrderedScalar,
) -> Result<Typed> {
    let name = if is_before == order.is_descending { "+" } else { "-" };
    if key.data_type == NUMERIC {
        let distance = converted(distance, NUMERIC, false)?;
        return numeric_call(name, vec![key.clone(), distance]);
    }
    if key.data_type == DataType::Float64 {
        let distance = converted(distance, DataType::Float64, false)?;
        let sum = match name {
            "+" => key.expr.clone() + distance.expr,
            _ => key.expr.clone() - distance.expr,
        };
        // An infinite distance from the other infinity includes all.
        let outermost = match is_start == order.is_descending {
            true => f64::INFINITY,
            false => f64::NEG_INFINITY,
        };
        let is_lost = isnan().call(vec![sum.clone()]).and(!isnan().call(vec![key.expr.clone()]));
        return Ok(Typed::new(when(is_lost, lit(outermost)).otherwise(sum)?, DataType::Float64));
    }
    match time_call(name, vec![key.clone(), distance], &key.data_type) {
        Some(end) => Ok(end),
        None => missing(format!("RANGE with a distance by {}", key.data_type)),
    }
}
