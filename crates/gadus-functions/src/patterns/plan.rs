//! Plan of a match: how the text that a pattern matches is divided among its parts.
//!
//! - A part without captures whose quantifiers all prefer the same is a leaf: its match is the longest or shortest one.
//!   Otherwise it is divided, and the part on the left takes its preferred match first.
//! - Parts and preferences are PostgreSQL's, so that captures are, too.

use super::expression::{of_alternatives, of_branch, of_node, repeated};
use super::matcher::{Matcher, MatcherResult};
use super::syntax::{Node, Preference, Repeat};
use super::syntax_error::SyntaxResult;
use regex_syntax::hir::Hir;
use std::cell::OnceCell;

/// Part of a pattern.
#[derive(Debug)]
pub(super) struct Part {
    /// All that the part matches.
    expression: Hir,
    pub(super) capture: Option<usize>,
    pub(super) traits: Traits,
    pub(super) kind: Kind,
    matcher: OnceCell<Matcher>,
}

/// How a part is divided.
#[derive(Debug)]
pub(super) enum Kind {
    Leaf,
    Sequence(Box<[Part; 2]>),
    Alternatives(Vec<Part>),
    Repeat {
        part: Box<Part>,
        min: u32,
        max: Option<u32>,
    },
    /// A capture around another one.
    Around(Box<Part>),
}

/// Traits of a part: they decide whether it has to be divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) prefers: Option<Preference>,
    /// Preferences within it differ.
    is_mixed: bool,
    pub(super) has_captures: bool,
}

impl Traits {
    const fn of(prefers: Option<Preference>) -> Self {
        Self { prefers, is_mixed: false, has_captures: false }
    }

    /// Combines, with the preference of the first that has one.
    fn with(self, other: Self) -> Self {
        let clash =
            matches!((self.prefers, other.prefers), (Some(one), Some(other)) if one != other);
        Self {
            prefers: self.prefers.or(other.prefers),
            is_mixed: self.is_mixed || other.is_mixed || clash,
            has_captures: self.has_captures || other.has_captures,
        }
    }

    fn is_divided(self) -> bool {
        self.is_mixed || self.has_captures
    }
}

impl Part {
    fn new(expression: Hir, traits: Traits, kind: Kind) -> Self {
        Self { expression, capture: None, traits, kind, matcher: OnceCell::new() }
    }

    /// Returns what finds the ends of its matches.
    pub(super) fn matcher(&self) -> MatcherResult<&Matcher> {
        if let Some(matcher) = self.matcher.get() {
            return Ok(matcher);
        }
        let matcher = Matcher::new(&self.expression)?;
        Ok(self.matcher.get_or_init(|| matcher))
    }

    /// Plans alternatives.
    pub(super) fn of_alternatives(alternatives: &[Vec<Node>]) -> SyntaxResult<Self> {
        if let [branch] = alternatives {
            return Self::of_branch(branch);
        }
        let parts = alternatives.iter().map(|branch| Self::of_branch(branch));
        let parts = parts.collect::<SyntaxResult<Vec<_>>>()?;
        let longest = Traits::of(Some(Preference::Longest));
        let traits = parts.iter().fold(longest, |traits, part| traits.with(part.traits));
        let kind = if traits.is_divided() { Kind::Alternatives(parts) } else { Kind::Leaf };
        Ok(Self::new(of_alternatives(alternatives), traits, kind))
    }

    /// Plans a sequence: what goes before the first part to be divided is a leaf.
    fn of_branch(branch: &[Node]) -> SyntaxResult<Self> {
        let mut traits = Traits::default();
        for (index, node) in branch.iter().enumerate() {
            let quantified = Quantified::of(node)?;
            let prefers = Traits::of(quantified.prefers);
            let joined = traits.with(prefers).with(quantified.atom.traits);
            if quantified.atom.capture.is_none() && !joined.is_divided() {
                traits = joined;
                continue;
            }
            let outer = prefers.with(quantified.atom.traits);
            let part = quantified.planned();
            let rest = &branch[index + 1..];
            let rest = if rest.is_empty() { None } else { Some(Self::of_branch(rest)?) };
            return Ok(Self::divided(branch, index, traits, (outer, part), rest));
        }
        Ok(Self::new(of_branch(branch), traits, Kind::Leaf))
    }

    /// Joins the leaf before a part, the part and the rest.
    fn divided(
        branch: &[Node],
        index: usize,
        before: Traits,
        (outer, part): (Traits, Self),
        rest: Option<Self>,
    ) -> Self {
        let leaf = || Self::new(of_branch(&branch[..index]), before, Kind::Leaf);
        let pair = |left, right| Kind::Sequence(Box::new([left, right]));
        let Some(rest) = rest else {
            if index == 0 {
                return part;
            }
            let traits = before.with(part.traits);
            return Self::new(of_branch(branch), traits, pair(leaf(), part));
        };
        let behind = outer.with(rest.traits);
        let traits = before.with(behind);
        if index == 0 {
            return Self::new(of_branch(branch), traits, pair(part, rest));
        }
        let is_leaf = |part: &Self| matches!(part.kind, Kind::Leaf) && part.capture.is_none();
        let merged = part.traits.with(rest.traits);
        let expression = of_branch(&branch[index..]);
        let behind = match is_leaf(&part) && is_leaf(&rest) && !merged.is_divided() {
            true => Self::new(expression, merged, Kind::Leaf),
            false => Self::new(expression, behind, pair(part, rest)),
        };
        Self::new(of_branch(branch), traits, pair(leaf(), behind))
    }

    fn of_atom(node: &Node) -> SyntaxResult<Self> {
        Ok(match node {
            Node::Set(_) | Node::Look(_) => Self::new(of_node(node), Traits::default(), Kind::Leaf),
            Node::Group(alternatives) => Self::of_alternatives(alternatives)?,
            Node::Capture(number, alternatives) => {
                let mut part = Self::of_alternatives(alternatives)?;
                if part.capture.is_some() {
                    let (expression, traits) = (part.expression.clone(), part.traits);
                    part = Self::new(expression, traits, Kind::Around(Box::new(part)));
                }
                part.capture = Some(*number);
                part.traits.has_captures = true;
                part
            }
            Node::Repeat(_) => {
                let quantified = Quantified::of(node)?;
                quantified.planned()
            }
        })
    }
}

/// Atom with how often it matches.
#[derive(Debug)]
struct Quantified {
    atom: Part,
    min: u32,
    max: Option<u32>,
    prefers: Option<Preference>,
}

impl Quantified {
    fn of(node: &Node) -> SyntaxResult<Self> {
        Ok(match node {
            Node::Repeat(Repeat { node, min, max, prefers }) => {
                Self { atom: Part::of_atom(node)?, min: *min, max: *max, prefers: *prefers }
            }
            node => Self { atom: Part::of_atom(node)?, min: 1, max: Some(1), prefers: None },
        })
    }

    fn planned(self) -> Part {
        let Self { atom, min, max, prefers } = self;
        let inner = atom.traits;
        let has_preference = inner.prefers.is_some() || inner.is_mixed;
        let is_same = inner.prefers == prefers && !inner.is_mixed;
        if (min, max) == (1, Some(1)) && (prefers.is_none() || !has_preference || is_same) {
            return atom;
        }
        let traits = Traits::of(prefers).with(inner);
        let all = repeated(atom.expression.clone(), min, max);
        if !inner.has_captures {
            return Part::new(all, traits, Kind::Leaf);
        }
        if min > 0 {
            // Captures are those of the last match: all before it are one leaf.
            let fewer = max.map(|max| max - 1);
            let before = repeated(atom.expression.clone(), min - 1, fewer);
            let before = Part::new(before, Traits::of(traits.prefers), Kind::Leaf);
            return Part::new(all, traits, Kind::Sequence(Box::new([before, atom])));
        }
        Part::new(all, traits, Kind::Repeat { part: Box::new(atom), min, max })
    }
}
