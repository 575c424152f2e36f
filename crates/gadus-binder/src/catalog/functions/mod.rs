//! Functions, aggregates and window functions by name, in the order of `pg_proc`.

mod aggregates;
mod arrays;
mod dates;
mod grammar;
mod json;
mod numbers;
mod sessions;
mod strings;
mod windows;

use crate::types::{TypeId, constants};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Function with one signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function {
    /// Name
    pub name: &'static str,
    /// Types of the arguments; of a variadic function the last one is an array or `"any"`.
    pub arguments: &'static [TypeId],
    /// Names of the arguments, if calls may use them.
    pub argument_names: &'static [&'static str],
    /// Type of the result, or of each row of a set.
    pub result: TypeId,
    /// Columns of the result if there are several.
    pub outputs: &'static [(&'static str, TypeId)],
    /// Way in which it is called.
    pub kind: FunctionKind,
    /// True if NULL as an argument makes the result NULL.
    pub is_strict: bool,
    /// How long a result holds.
    pub volatility: Volatility,
    /// True if it gives any number of rows.
    pub returns_set: bool,
    /// True if the last argument may be repeated.
    pub is_variadic: bool,
    /// Arguments at the end that may be left out.
    pub optional: usize,
}

/// Way in which a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionKind {
    /// Once for a row.
    Scalar,
    /// Once for a group of rows.
    Aggregate,
    /// WITHIN GROUP, after so many direct arguments.
    OrderedSet {
        /// Arguments that are evaluated once for a group.
        direct: usize,
    },
    /// WITHIN GROUP, for a row that might be there.
    HypotheticalSet,
    /// OVER
    Window,
}

impl FunctionKind {
    /// Returns true for aggregates with WITHIN GROUP.
    #[must_use]
    pub fn is_within_group(self) -> bool {
        matches!(self, Self::OrderedSet { .. } | Self::HypotheticalSet)
    }
}

/// How long a result holds for the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Volatility {
    /// Forever.
    Immutable,
    /// For one statement.
    Stable,
    /// For one call.
    Volatile,
}

impl Function {
    const fn new(
        name: &'static str,
        arguments: &'static [TypeId],
        result: TypeId,
        kind: FunctionKind,
    ) -> Self {
        Self {
            name,
            arguments,
            argument_names: &[],
            result,
            outputs: &[],
            kind,
            is_strict: matches!(kind, FunctionKind::Scalar),
            volatility: Volatility::Immutable,
            returns_set: false,
            is_variadic: false,
            optional: 0,
        }
    }

    const fn accepts_null(mut self) -> Self {
        self.is_strict = false;
        self
    }

    const fn stable(mut self) -> Self {
        self.volatility = Volatility::Stable;
        self
    }

    const fn volatile(mut self) -> Self {
        self.volatility = Volatility::Volatile;
        self
    }

    const fn set(mut self) -> Self {
        self.returns_set = true;
        self
    }

    const fn variadic(mut self) -> Self {
        self.is_variadic = true;
        self
    }

    const fn optional(mut self, count: usize) -> Self {
        self.optional = count;
        self
    }

    const fn ordered_set(mut self, direct: usize) -> Self {
        self.kind = FunctionKind::OrderedSet { direct };
        self
    }

    const fn hypothetical_set(mut self) -> Self {
        self.kind = FunctionKind::HypotheticalSet;
        self
    }

    const fn named(mut self, names: &'static [&'static str]) -> Self {
        self.argument_names = names;
        self
    }

    const fn outputs(mut self, outputs: &'static [(&'static str, TypeId)]) -> Self {
        self.outputs = outputs;
        self
    }

    /// Returns true for aggregates of any kind.
    #[must_use]
    pub fn is_aggregate(&self) -> bool {
        !matches!(self.kind, FunctionKind::Scalar | FunctionKind::Window)
    }

    /// Returns the type of repeated arguments: `"any"`, or the element of the array at the end.
    #[must_use]
    pub fn variadic_element(&self) -> Option<TypeId> {
        let last = self.arguments.last().filter(|_| self.is_variadic)?;
        match *last {
            constants::ANY => Some(constants::ANY),
            constants::ANYARRAY => Some(constants::ANYELEMENT),
            constants::ANYCOMPATIBLEARRAY => Some(constants::ANYCOMPATIBLE),
            array => array.element(),
        }
    }
}

const fn scalar(name: &'static str, arguments: &'static [TypeId], result: TypeId) -> Function {
    Function::new(name, arguments, result, FunctionKind::Scalar)
}

const fn aggregate(name: &'static str, arguments: &'static [TypeId], result: TypeId) -> Function {
    Function::new(name, arguments, result, FunctionKind::Aggregate)
}

const fn window(name: &'static str, arguments: &'static [TypeId], result: TypeId) -> Function {
    Function::new(name, arguments, result, FunctionKind::Window)
}

/// Returns the functions of a name.
#[must_use]
pub fn functions_named(name: &str) -> &'static [&'static Function] {
    FUNCTIONS.get(name).map_or(&[], Vec::as_slice)
}

/// Returns a function whose repeated arguments are of any type, as it takes an array of them: `concat(VARIADIC a)`.
#[must_use]
pub fn taking_array(function: &'static Function) -> &'static Function {
    let is_same = |(of, _): &&(&Function, Function)| **of == *function;
    TAKING_ARRAYS.iter().find(is_same).map_or(function, |(_, taking)| taking)
}

static TAKING_ARRAYS: LazyLock<Vec<(&'static Function, Function)>> = LazyLock::new(|| {
    let all = FUNCTIONS.values().flatten().copied();
    let all = all.filter(|function| function.variadic_element() == Some(constants::ANY));
    let taking = all.map(|function| {
        let arguments: &[TypeId] = match function.arguments {
            [constants::TEXT, _] => &[constants::TEXT, constants::ANYARRAY],
            _ => &[constants::ANYARRAY],
        };
        (function, Function { arguments, is_variadic: false, ..*function })
    });
    taking.collect()
});

type ByName = HashMap<&'static str, Vec<&'static Function>>;

static FUNCTIONS: LazyLock<ByName> = LazyLock::new(|| {
    let mut all = ByName::new();
    let tables = [
        aggregates::FUNCTIONS,
        arrays::FUNCTIONS,
        dates::FUNCTIONS,
        grammar::FUNCTIONS,
        json::FUNCTIONS,
        numbers::FUNCTIONS,
        sessions::FUNCTIONS,
        strings::FUNCTIONS,
        windows::FUNCTIONS,
    ];
    for function in tables.into_iter().flatten() {
        all.entry(function.name).or_default().push(function);
    }
    all
});
