//! Expressions that unnesting puts into trees.

use crate::bind::choose_infix;
use crate::bound::{AggregateCall, ColumnId, Constant, Scalar, ScalarKind};
use crate::catalog::functions::functions_named;
use crate::catalog::{CastContext, Function, find_cast};
use crate::error::{BindError, Result};
use crate::types::{SqlType, TypeId, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::BooleanTest;

/// Returns a column as an expression.
pub(super) fn column(id: ColumnId, data_type: impl Into<SqlType>) -> Scalar {
    Scalar::new(ScalarKind::Column(id), data_type, Span::default())
}

pub(super) fn boolean(value: bool) -> Scalar {
    literal(Constant::Boolean(value), constants::BOOL)
}

pub(super) fn integer(value: i64) -> Scalar {
    literal(Constant::Integer(value), constants::INT8)
}

fn literal(value: Constant, data_type: TypeId) -> Scalar {
    Scalar::new(ScalarKind::Constant(value), data_type, Span::default())
}

/// Returns the number of rows that a LIMIT writes out; `None` for NULL and what is computed.
pub(super) fn written(count: &Scalar) -> Option<i64> {
    match &count.kind {
        ScalarKind::Constant(Constant::Integer(count)) => Some(*count),
        ScalarKind::Cast { operand, .. } => written(operand),
        _ => None,
    }
}

/// Returns NULL of a type.
pub(super) fn null(data_type: SqlType) -> Scalar {
    Scalar::new(ScalarKind::Constant(Constant::Null), data_type, Span::default())
}

/// Converts an expression to another type.
pub(super) fn cast(value: Scalar, to: TypeId) -> Result<Scalar> {
    let from = value.data_type.id;
    if from == to || to.is_polymorphic() {
        return Ok(value);
    }
    let context = CastContext::Explicit;
    let path = find_cast(from, to, context).ok_or_else(|| {
        BindError::unsupported(format!("a correlated query over type {from}"), value.span)
    })?;
    let span = value.span;
    let kind = ScalarKind::Cast { operand: Box::new(value), path, context, is_try: false };
    Ok(Scalar::new(kind, to, span))
}

/// Applies an operator of two operands.
pub(super) fn infix(name: &str, left: Scalar, right: Scalar) -> Result<Scalar> {
    let chosen = choose_infix(name, left.data_type.id, right.data_type.id, left.span)?;
    let operands = match chosen.operands[..] {
        [left_type, right_type] => vec![cast(left, left_type)?, cast(right, right_type)?],
        _ => vec![left, right],
    };
    let kind = ScalarKind::Operator { operator: chosen.operator, operands };
    Ok(Scalar::new(kind, chosen.result, Span::default()))
}

/// Returns the condition that two values are equal or both NULL.
pub(super) fn same(left: Scalar, right: Scalar) -> Result<Scalar> {
    let chosen = choose_infix("=", left.data_type.id, right.data_type.id, left.span)?;
    let operands = match chosen.operands[..] {
        [left_type, right_type] => [cast(left, left_type)?, cast(right, right_type)?],
        _ => [left, right],
    };
    let operands = Box::new(operands);
    let kind = ScalarKind::IsDistinct { operator: chosen.operator, operands, negated: true };
    Ok(Scalar::new(kind, constants::BOOL, Span::default()))
}

/// Returns the condition that an expression is true, false or unknown, or is not.
pub(super) fn is(operand: Scalar, test: BooleanTest, negated: bool) -> Scalar {
    let kind = ScalarKind::Is { operand: Box::new(operand), test, negated };
    Scalar::new(kind, constants::BOOL, Span::default())
}

/// Connects conditions with AND.
pub(super) fn all(mut parts: Vec<Scalar>) -> Option<Scalar> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Scalar::new(ScalarKind::And(parts), constants::BOOL, Span::default())),
    }
}

/// Returns the parts that AND connects.
pub(super) fn conjuncts(condition: Scalar) -> Vec<Scalar> {
    match condition.kind {
        ScalarKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![condition],
    }
}

/// Returns CASE with one or more branches.
pub(super) fn case(branches: Vec<(Scalar, Scalar)>, otherwise: Option<Scalar>) -> Scalar {
    let data_type = branches.first().map_or(constants::BOOL.plain(), |(_, then)| then.data_type);
    let otherwise = otherwise.map(Box::new);
    let kind = ScalarKind::Case { operand: None, branches, otherwise };
    Scalar::new(kind, data_type, Span::default())
}

/// Returns a value, or another one for NULL.
pub(super) fn coalesce(value: Scalar, otherwise: Scalar) -> Scalar {
    let data_type = value.data_type;
    let kind = ScalarKind::Coalesce(vec![value, otherwise]);
    Scalar::new(kind, data_type, Span::default())
}

/// Returns the entry of a function with as many arguments; of several the first one that a predicate accepts.
pub(super) fn function(
    name: &str,
    arguments: usize,
    is_wanted: impl Fn(&Function) -> bool,
) -> Result<&'static Function> {
    let all = functions_named(name).iter().copied();
    let mut fitting = all.filter(|function| function.arguments.len() == arguments);
    fitting
        .find(|function| is_wanted(function))
        .ok_or_else(|| BindError::unsupported(format!("function {name}"), Span::default()))
}

/// Returns the call of an aggregate.
pub(super) fn aggregate(
    function: &'static Function,
    arguments: Vec<Scalar>,
    data_type: impl Into<SqlType>,
) -> AggregateCall {
    AggregateCall {
        function,
        arguments,
        is_star: false,
        is_distinct: false,
        order_by: Vec::new(),
        filter: None,
        data_type: data_type.into(),
    }
}

/// Returns `count(*)`, of the rows for which a condition holds.
pub(super) fn count(filter: Option<Scalar>) -> Result<AggregateCall> {
    let function = function("count", 0, |_| true)?;
    let call = aggregate(function, Vec::new(), constants::INT8);
    Ok(AggregateCall { is_star: true, filter, ..call })
}
