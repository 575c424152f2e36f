//! Trees of patterns as expressions of the automaton's crate.

use super::syntax::{Node, Repeat};
use regex_syntax::hir::{Class, Hir, Repetition};

/// Converts alternatives.
pub(super) fn of_alternatives(alternatives: &[Vec<Node>]) -> Hir {
    Hir::alternation(alternatives.iter().map(|branch| of_branch(branch)).collect())
}

/// Converts a sequence.
pub(super) fn of_branch(branch: &[Node]) -> Hir {
    Hir::concat(branch.iter().map(of_node).collect())
}

/// Repeats an expression.
pub(super) fn repeated(sub: Hir, min: u32, max: Option<u32>) -> Hir {
    Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(sub) })
}

/// Converts an expression. Captures and preferences are none of it: they are the plan's.
pub(super) fn of_node(node: &Node) -> Hir {
    match node {
        Node::Set(set) => Hir::class(Class::Unicode(set.clone())),
        Node::Look(look) => Hir::look(*look),
        Node::Group(alternatives) | Node::Capture(_, alternatives) => of_alternatives(alternatives),
        Node::Repeat(Repeat { node, min, max, .. }) => repeated(of_node(node), *min, *max),
    }
}
