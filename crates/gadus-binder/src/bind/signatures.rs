//! Signatures: which function a call means, and how its arguments fit.

use super::Binder;
use crate::bound::{Scalar, ScalarKind};
use crate::catalog::functions::{functions_named, taking_array};
use crate::catalog::operators::operators_of_function;
use crate::catalog::{CastContext, CastMethod, CastPath, Function, Operator, find_cast};
use crate::error::{BindError, Result};
use crate::resolve::candidates::{Candidate, Choice, choose};
use crate::resolve::polymorphic::instantiate;
use crate::types::{Category, SqlType, TypeId, constants, type_of_plain_name};
use gadus_syntax::Span;

/// Meaning of a call.
pub(super) enum Called {
    /// Function of the catalog.
    Function(FunctionCalled),
    /// Cast or operator in the form of a call, `text(a)` or `int4pl(a, b)`.
    Value(Scalar),
}

/// Function with its arguments converted, and the type of its result.
pub(super) struct FunctionCalled {
    pub(super) function: &'static Function,
    pub(super) arguments: Vec<Scalar>,
    pub(super) result: SqlType,
}

/// Arguments of a call before a signature is chosen.
pub(super) struct Arguments {
    pub(super) values: Vec<Scalar>,
    /// Names of the arguments at the end.
    pub(super) names: Vec<Option<String>>,
    /// True if the last argument is an array of the repeated ones.
    pub(super) is_variadic: bool,
}

impl Arguments {
    pub(super) fn plain(values: Vec<Scalar>) -> Self {
        let names = vec![None; values.len()];
        Self { values, names, is_variadic: false }
    }
}

impl Binder<'_> {
    /// Chooses a function and converts its arguments; of a name that is a type's, a cast may be meant.
    pub(super) fn choose_function(
        &mut self,
        name: &str,
        arguments: Arguments,
        is_allowed: fn(&Function) -> bool,
        span: Span,
    ) -> Result<Called> {
        let inputs = arguments.values.iter().map(|value| value.data_type.id).collect::<Vec<_>>();
        let candidates = functions_named(name)
            .iter()
            .filter(|function| is_allowed(function))
            .filter_map(|function| candidate(function, &arguments))
            .collect::<Vec<_>>();
        let is_exact = candidates.iter().any(|candidate| candidate.arguments == inputs);
        if let ([value], false) = (arguments.values.as_slice(), is_exact)
            && let Some(target) = type_of_plain_name(name)
            && is_cast_by_call(value.data_type.id, target)
        {
            let value = self.cast_to(value.clone(), target.plain())?;
            return Ok(Called::Value(value));
        }
        if functions_named(name).is_empty()
            && let Some(value) = self.operator_call(name, &arguments, span)?
        {
            return Ok(Called::Value(value));
        }
        match choose(candidates, &inputs) {
            Choice::One(chosen) => self.finish_call(chosen, arguments, span).map(Called::Function),
            Choice::None => Err(self.missing_function(name, &inputs, span)),
            Choice::Ambiguous => {
                let message = format!("function {} is not unique", signature(name, &inputs));
                let hint = "Could not choose a best candidate function. You might need to add explicit type casts.";
                Err(BindError::new("42725", message, span).with_hint(hint))
            }
        }
    }

    /// Binds a call of the function behind an operator; `None` if there is none that takes the arguments.
    fn operator_call(
        &mut self,
        name: &str,
        arguments: &Arguments,
        span: Span,
    ) -> Result<Option<Scalar>> {
        let is_plain = !arguments.is_variadic && arguments.names.iter().all(Option::is_none);
        let inputs = arguments.values.iter().map(|value| value.data_type.id).collect::<Vec<_>>();
        let taking = |operator: &&'static Operator| {
            let arguments = operator.left.into_iter().chain([operator.right]).collect::<Vec<_>>();
            (is_plain && arguments.len() == inputs.len())
                .then_some(Candidate { entry: *operator, arguments })
        };
        let candidates = operators_of_function(name).iter().filter_map(taking).collect();
        let Choice::One(chosen) = choose(candidates, &inputs) else { return Ok(None) };
        let operator = chosen.entry;
        let (targets, result) = instantiate(&inputs, &chosen.arguments, operator.result)
            .map_err(|message| BindError::new("42804", message, span))?;
        let values = arguments.values.iter().cloned().zip(targets);
        let operands = values.map(|(value, target)| self.coercion().argument(value, target));
        let operands = operands.collect::<Result<_>>()?;
        let kind = ScalarKind::Operator { operator, operands };
        Ok(Some(Scalar::new(kind, result, span)))
    }

    fn finish_call(
        &mut self,
        chosen: Candidate<Fitted>,
        arguments: Arguments,
        span: Span,
    ) -> Result<FunctionCalled> {
        let Fitted { function, order, repeated_from } = chosen.entry;
        let inputs = arguments.values.iter().map(|value| value.data_type.id).collect::<Vec<_>>();
        let is_array_of_any =
            arguments.is_variadic && function.variadic_element() == Some(constants::ANY);
        let function = if is_array_of_any { taking_array(function) } else { function };
        if is_array_of_any && !inputs.last().is_some_and(|last| last.is_array) {
            let last = arguments.values.last().map_or(span, |last| last.span);
            return Err(BindError::new("42804", "VARIADIC argument must be an array", last));
        }
        let (targets, result) = instantiate(&inputs, &chosen.arguments, function.result)
            .map_err(|message| BindError::new("42804", message, span))?;
        let values = arguments.values.into_iter().zip(targets);
        let values = values.map(|(value, target)| self.coercion().argument(value, target));
        let mut values = values.collect::<Result<Vec<_>>>()?;
        if order.iter().enumerate().any(|(place, at)| place != *at) {
            values = in_order(values, &order, span);
        }
        if let Some(from) = repeated_from
            && function.variadic_element() != Some(constants::ANY)
        {
            let repeated = values.split_off(from.min(values.len()));
            let element = repeated.first().map(|value| value.data_type.id);
            let array = element.and_then(TypeId::array_of).unwrap_or(constants::TEXT_ARRAY);
            values.push(Scalar::new(ScalarKind::Array(repeated), array, span));
        }
        Ok(FunctionCalled { function, arguments: values, result: result.plain() })
    }

    pub(super) fn missing_function(&self, name: &str, inputs: &[TypeId], span: Span) -> BindError {
        let message = format!("function {} does not exist", signature(name, inputs));
        let hint = "No function matches the given name and argument types. You might need to add explicit type casts.";
        BindError::new("42883", message, span).with_hint(hint).with_function(name)
    }
}

/// Signature and the places of a call's arguments in it.
#[derive(Debug, Clone)]
struct Fitted {
    function: &'static Function,
    /// Place of each argument.
    order: Vec<usize>,
    /// Place from which arguments are repeated ones.
    repeated_from: Option<usize>,
}

/// Fits a call's arguments to a signature, if their number and names allow that.
fn candidate(function: &'static Function, arguments: &Arguments) -> Option<Candidate<Fitted>> {
    let count = arguments.values.len();
    let declared = function.arguments.len();
    let is_repeated = function.is_variadic && !arguments.is_variadic;
    if is_repeated && count + 1 >= declared {
        let element = function.variadic_element()?;
        let fixed = declared.saturating_sub(1);
        if count < declared {
            return None;
        }
        let types = function.arguments[..fixed].iter().copied();
        let types = types.chain(std::iter::repeat_n(element, count - fixed)).collect();
        let entry = Fitted { function, order: (0..count).collect(), repeated_from: Some(fixed) };
        return Some(Candidate { entry, arguments: types });
    }
    if count > declared || count + function.optional < declared || is_repeated {
        return None;
    }
    let mut order = Vec::with_capacity(count);
    for (place, name) in arguments.names.iter().enumerate() {
        let at = match name {
            None => place,
            Some(name) => function.argument_names.iter().position(|known| known == name)?,
        };
        if order.contains(&at) {
            return None;
        }
        order.push(at);
    }
    let types = order.iter().map(|at| function.arguments[*at]).collect();
    Some(Candidate { entry: Fitted { function, order, repeated_from: None }, arguments: types })
}

/// Puts named arguments in the order of the signature.
fn in_order(values: Vec<Scalar>, order: &[usize], span: Span) -> Vec<Scalar> {
    let mut placed = order.iter().copied().zip(values).collect::<Vec<_>>();
    placed.sort_by_key(|(at, _)| *at);
    let mut values = Vec::with_capacity(placed.len());
    for (at, value) in placed {
        // The function has a default for what is left out.
        let left_out = || Scalar::new(ScalarKind::Default, value.data_type, span);
        values.resize_with(at, left_out);
        values.push(value);
    }
    values
}

/// Returns true if a call of a type's name is a cast: without work, or by way of text.
fn is_cast_by_call(source: TypeId, target: TypeId) -> bool {
    if source.is_unknown() {
        return true;
    }
    match find_cast(source, target, CastContext::Explicit) {
        Some(CastPath::Value(CastMethod::Relabel)) => true,
        Some(CastPath::Value(CastMethod::Text)) => {
            !(source.category() == Category::Composite && target.category() == Category::String)
        }
        _ => false,
    }
}

fn signature(name: &str, inputs: &[TypeId]) -> String {
    let types = inputs.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("{name}({})", types.join(", "))
}
