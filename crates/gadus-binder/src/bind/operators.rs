//! Operators: choice by the types of their operands.

use super::Binder;
use crate::bound::{Scalar, ScalarKind};
use crate::catalog::Operator;
use crate::catalog::operators::operators_named;
use crate::error::{BindError, Result};
use crate::resolve::candidates::{Candidate, Choice, choose};
use crate::resolve::polymorphic::instantiate;
use crate::types::TypeId;
use gadus_syntax::Span;
use gadus_syntax::ast::OperatorName;

/// Operator with the types of its operands and its result in the place of those left open.
pub(crate) struct Chosen {
    pub(crate) operator: &'static Operator,
    pub(crate) operands: Vec<TypeId>,
    pub(crate) result: TypeId,
}

impl Binder<'_> {
    /// Binds an operator of two operands.
    pub(super) fn infix(
        &mut self,
        name: &OperatorName,
        left: Scalar,
        right: Scalar,
    ) -> Result<Scalar> {
        self.infix_named(name.operator.text(), left, right, name.span)
    }

    /// Binds an operator of two operands by its characters.
    pub(super) fn infix_named(
        &mut self,
        name: &str,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> Result<Scalar> {
        let chosen = choose_infix(name, left.data_type.id, right.data_type.id, span)?;
        let whole = left.span.to(right.span);
        let operands = self.operands(left, right, &chosen)?.into();
        let kind = ScalarKind::Operator { operator: chosen.operator, operands };
        Ok(Scalar::new(kind, chosen.result, whole))
    }

    /// Binds an operator of one operand.
    pub(super) fn prefix(&mut self, name: &OperatorName, operand: Scalar) -> Result<Scalar> {
        let chosen = choose_prefix(name.operator.text(), operand.data_type.id, name.span)?;
        let whole = name.span.to(operand.span);
        let operand = self.coercion().argument(operand, chosen.operands[0])?;
        let kind = ScalarKind::Operator { operator: chosen.operator, operands: vec![operand] };
        Ok(Scalar::new(kind, chosen.result, whole))
    }

    /// Converts both operands to the types of an operator.
    pub(super) fn operands(
        &mut self,
        left: Scalar,
        right: Scalar,
        chosen: &Chosen,
    ) -> Result<[Scalar; 2]> {
        let [left_type, right_type] = chosen.operands[..] else {
            return Err(BindError::unsupported("an operator of one operand here", left.span));
        };
        let left = self.coercion().argument(left, left_type)?;
        Ok([left, self.coercion().argument(right, right_type)?])
    }

    /// Binds an equality of two values, for IN, NULLIF, CASE and joins by name.
    pub(super) fn equality(
        &mut self,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> Result<(&'static Operator, [Scalar; 2])> {
        let chosen = choose_infix("=", left.data_type.id, right.data_type.id, span)?;
        let operands = self.operands(left, right, &chosen)?;
        Ok((chosen.operator, operands))
    }
}

/// Chooses an operator of two operands.
pub(crate) fn choose_infix(name: &str, left: TypeId, right: TypeId, span: Span) -> Result<Chosen> {
    let all = operators_named(name, false);
    // An unknown operand is taken for the type of the other one first.
    let same = match (left.is_unknown(), right.is_unknown()) {
        (true, false) => [right, right],
        (false, true) => [left, left],
        _ => [left, right],
    };
    let pair = |operator: &&'static Operator| {
        let left = operator.left?;
        Some(Candidate { entry: *operator, arguments: vec![left, operator.right] })
    };
    let exact =
        all.iter().find(|operator| operator.left == Some(same[0]) && operator.right == same[1]);
    let choice = match exact.and_then(pair) {
        Some(exact) => Choice::One(exact),
        None => choose(all.iter().filter_map(pair).collect(), &[left, right]),
    };
    finish(choice, &[left, right], || format!("{left} {name} {right}"), span)
}

fn choose_prefix(name: &str, operand: TypeId, span: Span) -> Result<Chosen> {
    let all = operators_named(name, true);
    let one = |operator: &&'static Operator| Candidate {
        entry: *operator,
        arguments: vec![operator.right],
    };
    let choice = choose(all.iter().map(one).collect(), &[operand]);
    finish(choice, &[operand], || format!("{name} {operand}"), span)
}

fn finish(
    choice: Choice<&'static Operator>,
    inputs: &[TypeId],
    shown: impl Fn() -> String,
    span: Span,
) -> Result<Chosen> {
    let chosen = match choice {
        Choice::One(chosen) => chosen,
        Choice::None => {
            let hint = "No operator matches the given name and argument types. You might need to add explicit type casts.";
            let hint =
                if inputs.len() == 1 { hint.replace("types.", "type.") } else { hint.to_owned() };
            let message = format!("operator does not exist: {}", shown());
            return Err(BindError::new("42883", message, span).with_hint(hint));
        }
        Choice::Ambiguous => {
            let message = format!("operator is not unique: {}", shown());
            let hint = "Could not choose a best candidate operator. You might need to add explicit type casts.";
            return Err(BindError::new("42725", message, span).with_hint(hint));
        }
    };
    let (operands, result) = instantiate(inputs, &chosen.arguments, chosen.entry.result)
        .map_err(|message| BindError::new("42804", message, span))?;
    Ok(Chosen { operator: chosen.entry, operands, result })
}

/// Returns true for operators that compare rows.
pub(super) fn is_comparison(name: &str) -> bool {
    ["=", "<>", "!=", "<", "<=", ">", ">="].contains(&name)
}
