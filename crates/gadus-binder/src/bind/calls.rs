//! Calls: choice of the signature, aggregates, functions of the grammar.

use super::Binder;
use super::scope::{Clause, Scope};
use super::signatures::{Arguments, Called, FunctionCalled};
use crate::bound::{AggregateCall, ColumnId, Constant, OrderedScalar, Scalar, ScalarKind, SetCall};
use crate::catalog::functions::functions_named;
use crate::catalog::{CastContext, Function, FunctionKind};
use crate::error::{BindError, Result};
use crate::types::{SqlType, constants};
use gadus_syntax::Span;
use gadus_syntax::ast::{CallForm, FunctionCall};

impl Binder<'_> {
    /// Binds a call.
    pub(super) fn call(&mut self, call: &FunctionCall, span: Span) -> Result<Scalar> {
        let name = match call.name.parts.as_slice() {
            [name] => name.text.as_str(),
            [schema, name] if schema.text == "pg_catalog" => name.text.as_str(),
            _ => return Err(self.missing_function(&shown(call), &[], span)),
        };
        if call.form == CallForm::Grammar
            && let Some(value) = self.grammar_call(name, call, span)?
        {
            return Ok(value);
        }
        if call.over.is_some() {
            return self.window_call(name, call, span);
        }
        let all = functions_named(name);
        let is_window = all.iter().any(|function| function.kind == FunctionKind::Window);
        if is_window && call.within_group.is_empty() {
            let message = format!("window function {name} requires an OVER clause");
            return Err(BindError::new("42809", message, span));
        }
        if all.iter().any(|function| function.is_aggregate()) {
            return self.aggregate(name, call, span);
        }
        if !all.is_empty() {
            refuse_aggregate_clauses(name, call, span)?;
        }
        let arguments = self.arguments(call)?;
        let called = self.choose_function(name, arguments, is_scalar, span)?;
        self.scalar_call(called, span)
    }

    /// Binds a call of a scalar function by name and values.
    pub(super) fn call_named(
        &mut self,
        name: &str,
        values: Vec<Scalar>,
        span: Span,
    ) -> Result<Scalar> {
        let called = self.choose_function(name, Arguments::plain(values), is_scalar, span)?;
        self.scalar_call(called, span)
    }

    fn scalar_call(&mut self, called: Called, span: Span) -> Result<Scalar> {
        let FunctionCalled { function, arguments, result } = match called {
            Called::Function(called) => called,
            Called::Value(value) => return Ok(value),
        };
        let kind = ScalarKind::Function { function, arguments };
        let call = Scalar::new(kind, result, span);
        if !function.returns_set {
            return Ok(call);
        }
        self.set_call(call, span)
    }

    /// Registers a call that returns a set, and returns its column.
    fn set_call(&mut self, call: Scalar, span: Span) -> Result<Scalar> {
        let clause = self.scope().clause;
        if clause == Clause::From {
            return Ok(call);
        }
        if !clause.allows_sets() {
            let message = format!("set-returning functions are not allowed in {}", clause.name());
            return Err(BindError::new("0A000", message, span));
        }
        // A set whose arguments have sets comes after these.
        let mut step = 0;
        let mut probe = call.clone();
        let sets = &self.scope().sets;
        probe.for_each(&mut |part| {
            let column = part.as_column();
            let known = sets.iter().find(|(_, set)| Some(set.id) == column);
            step = step.max(known.map_or(0, |(known, _)| known + 1));
        });
        let id = self.new_column();
        let data_type = call.data_type;
        self.scope().sets.push((step, SetCall { id, call }));
        Ok(Scalar::new(ScalarKind::Column(id), data_type, span))
    }

    /// Binds the arguments of a call.
    pub(super) fn arguments(&mut self, call: &FunctionCall) -> Result<Arguments> {
        let mut arguments = Arguments { values: Vec::new(), names: Vec::new(), is_variadic: false };
        for argument in &call.arguments {
            arguments.values.push(self.expr(&argument.value)?);
            arguments.names.push(argument.name.as_ref().map(|name| name.text.clone()));
            arguments.is_variadic |= argument.variadic;
        }
        Ok(arguments)
    }

    /// Binds an aggregate; its column is computed where its query is grouped.
    fn aggregate(&mut self, name: &str, call: &FunctionCall, span: Span) -> Result<Scalar> {
        if self.scope().aggregate_depth > 0 {
            return Err(BindError::new("42803", "aggregate function calls cannot be nested", span));
        }
        self.scope().aggregate_depth += 1;
        let bound = self.aggregate_call(name, call, Function::is_aggregate, span);
        self.scope().aggregate_depth -= 1;
        let call = bound?;
        let level = self.level_of(&call);
        let clause = self.scopes[level].clause;
        if !clause.allows_aggregates() {
            let message = format!("aggregate functions are not allowed in {}", clause.name());
            return Err(BindError::new("42803", message, span));
        }
        let data_type = call.data_type;
        let known = self.scopes[level].aggregates.iter().find(|(_, known)| *known == call);
        let known = known.map(|(id, _)| *id);
        let id = match known {
            Some(id) => id,
            None => {
                let id = self.new_column();
                self.scopes[level].aggregates.push((id, call));
                id
            }
        };
        Ok(Scalar::new(ScalarKind::Column(id), data_type, span))
    }

    /// Returns the query that an aggregate belongs to: the innermost one whose columns its arguments name.
    fn level_of(&self, call: &AggregateCall) -> usize {
        let mut columns = Vec::<ColumnId>::new();
        let mut call = call.clone();
        call.for_each_scalar(&mut |scalar| {
            scalar.for_each(&mut |part| columns.extend(part.as_column()));
        });
        let last = self.scopes.len().saturating_sub(1);
        let owns = |scope: &Scope| columns.iter().any(|column| scope.own.contains(column));
        self.scopes.iter().rposition(owns).unwrap_or(last)
    }

    /// Binds the parts of an aggregate's call.
    pub(super) fn aggregate_call(
        &mut self,
        name: &str,
        call: &FunctionCall,
        is_allowed: fn(&Function) -> bool,
        span: Span,
    ) -> Result<AggregateCall> {
        let mut arguments = self.arguments(call)?;
        let mut order_by = self.ordered(&call.order_by)?;
        let is_within_group = !call.within_group.is_empty();
        if is_within_group {
            order_by = self.ordered(&call.within_group)?;
            arguments.values.extend(order_by.iter().map(|key| key.value.clone()));
            arguments.names.resize(arguments.values.len(), None);
        }
        if call.star && !call.arguments.is_empty() {
            return Err(BindError::new("42601", "* has no other arguments", span));
        }
        let called = self.choose_function(name, arguments, is_allowed, span)?;
        let Called::Function(FunctionCalled { function, arguments, result }) = called else {
            return Err(BindError::unsupported("a cast in this place", span));
        };
        check_aggregate(function, call, span)?;
        let mut arguments = arguments;
        if is_within_group {
            let direct = arguments.len().saturating_sub(order_by.len());
            let sorted = arguments.split_off(direct);
            for (key, value) in order_by.iter_mut().zip(sorted) {
                key.value = value;
            }
        }
        if function.kind == FunctionKind::HypotheticalSet {
            self.unify_hypothetical(name, (&mut arguments, &mut order_by), span)?;
        }
        let is_argument = |key: &OrderedScalar| {
            arguments.iter().any(|argument| *without_implicit_cast(argument) == key.value)
        };
        if call.distinct && !is_within_group && !order_by.iter().all(is_argument) {
            let message =
                "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
            return Err(BindError::new("42P10", message, span));
        }
        let filter = match &call.filter {
            None => None,
            Some(filter) => {
                let clause = std::mem::replace(&mut self.scope().clause, Clause::Filter);
                let bound = self.condition(filter, "FILTER");
                self.scope().clause = clause;
                Some(bound?)
            }
        };
        Ok(AggregateCall {
            function,
            arguments,
            is_star: call.star,
            is_distinct: call.distinct,
            order_by,
            filter,
            data_type: result,
        })
    }

    /// Gives each value of a row that might be there, and the key that it is compared with, one type.
    fn unify_hypothetical(
        &mut self,
        name: &str,
        (arguments, order_by): (&mut [Scalar], &mut [OrderedScalar]),
        span: Span,
    ) -> Result<()> {
        if arguments.len() != order_by.len() {
            let keys = order_by.iter().map(|key| &key.value);
            let inputs = arguments.iter().chain(keys).map(|value| value.data_type.id);
            let hint = format!(
                "To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments (here {}) must match the number of ordering columns (here {}).",
                arguments.len(),
                order_by.len()
            );
            let error = self.missing_function(name, &inputs.collect::<Vec<_>>(), span);
            return Err(error.with_hint(hint));
        }
        for (argument, key) in arguments.iter_mut().zip(order_by) {
            let both = vec![key.value.clone(), argument.clone()];
            let mut both = self.coercion().unify(both, "WITHIN GROUP")?.into_iter();
            if let (Some(value), Some(direct)) = (both.next(), both.next()) {
                (key.value, *argument) = (value, direct);
            }
        }
        Ok(())
    }

    /// Binds the functions that the grammar knows and the catalog does not have; `None` for others.
    fn grammar_call(
        &mut self,
        name: &str,
        call: &FunctionCall,
        span: Span,
    ) -> Result<Option<Scalar>> {
        let values = || call.arguments.iter().map(|argument| &argument.value);
        let bound = match name {
            "coalesce" | "greatest" | "least" => {
                let construct = name.to_ascii_uppercase();
                let all = values().map(|value| self.expr(value)).collect::<Result<_>>()?;
                let all = self.coercion().unify(all, &construct)?;
                let data_type =
                    all.first().map_or(constants::TEXT.plain(), |first| first.data_type);
                let kind = match name {
                    "coalesce" => ScalarKind::Coalesce(all),
                    "greatest" => ScalarKind::Greatest(all),
                    _ => ScalarKind::Least(all),
                };
                Scalar::new(kind, SqlType::from(data_type.id), span)
            }
            "nullif" => {
                let mut all = values().map(|value| self.expr(value)).collect::<Result<Vec<_>>>()?;
                let (Some(right), Some(left)) = (all.pop(), all.pop()) else {
                    return Err(BindError::unsupported("NULLIF of one value", span));
                };
                let (operator, operands) = self.equality(left, right, span)?;
                let data_type = operands[0].data_type;
                let kind = ScalarKind::NullIf { operator, operands: Box::new(operands) };
                Scalar::new(kind, data_type, span)
            }
            "grouping" => self.grouping_call(call, span)?,
            _ => return Ok(None),
        };
        Ok(Some(bound))
    }
}

/// Returns true for functions that are called once for a row.
fn is_scalar(function: &Function) -> bool {
    function.kind == FunctionKind::Scalar
}

fn refuse_aggregate_clauses(name: &str, call: &FunctionCall, span: Span) -> Result<()> {
    let clause = if call.star {
        return Err(BindError::new(
            "42809",
            format!("{name}(*) specified, but {name} is not an aggregate function"),
            span,
        ));
    } else if call.distinct {
        "DISTINCT"
    } else if !call.within_group.is_empty() {
        "WITHIN GROUP"
    } else if !call.order_by.is_empty() {
        "ORDER BY"
    } else if call.filter.is_some() {
        "FILTER"
    } else {
        return Ok(());
    };
    let message = format!("{clause} specified, but {name} is not an aggregate function");
    Err(BindError::new("42809", message, span))
}

fn check_aggregate(function: &Function, call: &FunctionCall, span: Span) -> Result<()> {
    if function.kind == FunctionKind::Window {
        return Ok(());
    }
    let name = function.name;
    let is_within_group = !call.within_group.is_empty();
    let needs_group = function.kind.is_within_group();
    let message = match (needs_group, is_within_group) {
        (true, false) => format!("WITHIN GROUP is required for ordered-set aggregate {name}"),
        (false, true) => {
            format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP")
        }
        _ if call.star && !function.arguments.is_empty() => {
            format!("function {name}() does not exist")
        }
        _ if !call.star && function.arguments.is_empty() && !needs_group => {
            format!("{name}(*) must be used to call a parameterless aggregate function")
        }
        _ => return Ok(()),
    };
    Err(BindError::new("42809", message, span))
}

fn shown(call: &FunctionCall) -> String {
    let parts = call.name.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>();
    parts.join(".")
}

/// Returns the number that a constant is, if it is an integer.
pub(super) fn integer_constant(value: &Scalar) -> Option<i64> {
    match value.kind {
        ScalarKind::Constant(Constant::Integer(number)) => Some(number),
        _ => None,
    }
}

/// Returns an argument as it was written.
fn without_implicit_cast(value: &Scalar) -> &Scalar {
    match &value.kind {
        ScalarKind::Cast { operand, context: CastContext::Implicit, .. } => operand,
        _ => value,
    }
}
