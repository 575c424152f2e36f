//! Operators by name, in the order of `pg_operator`.

mod arithmetic;
mod comparison;
mod functions;
mod others;

pub use functions::operators_of_function;

use crate::types::TypeId;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Operator of one or two operands.
#[derive(Debug, PartialEq, Eq)]
pub struct Operator {
    /// Characters
    pub name: &'static str,
    /// Type of the left operand; `None` for a prefix operator.
    pub left: Option<TypeId>,
    /// Type of the right operand.
    pub right: TypeId,
    /// Type of the result.
    pub result: TypeId,
}

const fn infix(name: &'static str, left: TypeId, right: TypeId, result: TypeId) -> Operator {
    Operator { name, left: Some(left), right, result }
}

const fn prefix(name: &'static str, right: TypeId, result: TypeId) -> Operator {
    Operator { name, left: None, right, result }
}

/// Returns the operators of a name with one or two operands.
#[must_use]
pub fn operators_named(name: &str, is_prefix: bool) -> &'static [&'static Operator] {
    let name = if name == "!=" { "<>" } else { name };
    let table = if is_prefix { &OPERATORS.prefix } else { &OPERATORS.infix };
    table.get(name).map_or(&[], Vec::as_slice)
}

/// Operators by name and number of operands.
#[derive(Default)]
struct ByName {
    infix: HashMap<&'static str, Vec<&'static Operator>>,
    prefix: HashMap<&'static str, Vec<&'static Operator>>,
}

static OPERATORS: LazyLock<ByName> = LazyLock::new(|| {
    let mut all = ByName::default();
    let tables = [comparison::OPERATORS, arithmetic::OPERATORS, others::OPERATORS];
    for operator in tables.into_iter().flatten() {
        let table = if operator.left.is_none() { &mut all.prefix } else { &mut all.infix };
        table.entry(operator.name).or_default().push(operator);
    }
    all
});
