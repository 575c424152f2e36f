//! Arguments of a call, and what stands for them in the function's body.

use super::definition::{Function, Parameter};
use crate::error::limit;
use crate::session::folded;
use datafusion::sql::sqlparser::ast::{
    CastKind, Expr, Ident, Value, ValueWithSpan, VisitorMut, visit_expressions,
};
use gadus_engine::Error;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Most bytes of text by which bodies make one statement longer.
const BYTES_MAX: usize = 1 << 20;

/// Arguments that depend on the row around the call, of a function that reads tables: within its body their columns would
/// be taken for those of what it reads. They are columns of a relation of their own then.
pub(super) struct Bound {
    pub(super) relation: String,
    /// What stands for each of them in the body.
    pub(super) names: Vec<Expr>,
}

impl Bound {
    /// None where arguments can stand in the body as they are.
    pub(super) fn of(function: &Function, arguments: &[Expr], number: usize) -> Option<Self> {
        if !function.reads() || arguments.iter().all(is_constant) {
            return None;
        }
        let alias = Ident::with_quote('"', format!("gadus.call{number}"));
        let column = |place: usize| Ident::with_quote('"', format!("gadus.{place}"));
        let item = |(place, value): (usize, &Expr)| format!("{value} AS {}", column(place));
        let items = arguments.iter().enumerate().map(item).collect::<Vec<_>>().join(", ");
        let name = |place| Expr::CompoundIdentifier(vec![alias.clone(), column(place)]);
        let names = (0..arguments.len()).map(name).collect();
        Some(Self { relation: format!("(SELECT {items}) AS {alias}"), names })
    }
}

/// Puts the arguments of one call in the place of the parameters.
pub(super) struct Put<'a> {
    function: &'a Function,
    arguments: &'a [Expr],
    /// Bytes of arguments, as they are asked for.
    sizes: HashMap<usize, usize>,
    bytes: &'a mut usize,
}

impl<'a> Put<'a> {
    /// For one call; `bytes` counts what all calls of a statement make it longer by.
    pub(super) fn new(function: &'a Function, arguments: &'a [Expr], bytes: &'a mut usize) -> Self {
        Self { function, arguments, sizes: HashMap::new(), bytes }
    }

    /// The parameter that an expression is.
    fn parameter(&self, expr: &Expr) -> Option<usize> {
        let named = |name: &Ident| {
            let is_it =
                |one: &Parameter| one.name.as_ref().is_some_and(|own| folded(own) == folded(name));
            self.function.parameters.iter().position(is_it)
        };
        match expr {
            Expr::Identifier(name) => named(name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [of, name] if folded(of) == self.function.name => named(name),
                _ => None,
            },
            Expr::Value(ValueWithSpan { value: Value::Placeholder(number), .. }) => {
                let number = number.strip_prefix('$')?.parse::<usize>().ok()?;
                number.checked_sub(1).filter(|place| *place < self.function.parameters.len())
            }
            _ => None,
        }
    }
}

impl VisitorMut for Put<'_> {
    type Break = Error;

    /// Behind what is within: what is put there is not looked at.
    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Some(place) = self.parameter(expr) else {
            // Each node counts, however small.
            *self.bytes += 8;
            return refused(*self.bytes);
        };
        let argument = &self.arguments[place];
        *self.bytes += *self.sizes.entry(place).or_insert_with(|| argument.to_string().len());
        *expr = argument.clone();
        refused(*self.bytes)
    }
}

fn refused(bytes: usize) -> ControlFlow<Error> {
    match bytes > BYTES_MAX {
        true => ControlFlow::Break(limit("a statement that functions of SQL make longer by 1 MiB")),
        false => ControlFlow::Continue(()),
    }
}

/// The same in parentheses, where it might be taken apart by what stands beside it.
pub(super) fn nested(value: Expr) -> Expr {
    match value {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::Function(_)
        | Expr::Nested(_)
        | Expr::Subquery(_)
        | Expr::Case { .. }
        | Expr::Cast { kind: CastKind::Cast, .. } => value,
        other => Expr::Nested(Box::new(other)),
    }
}

/// Whether an argument needs no row.
fn is_constant(argument: &Expr) -> bool {
    let mut reads = false;
    let found = visit_expressions(argument, |expr| {
        reads |= matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        ControlFlow::<()>::Continue(())
    });
    found.is_continue() && !reads
}
