//! Compiled patterns and their matches.

use super::dissect::Dissection;
use super::expression::of_alternatives;
use super::matcher::{AUTOMATON_BYTES_MAX, MatcherResult};
use super::options::Options;
use super::plan::Part;
use super::syntax::{Preference, parse};
use super::syntax_error::SyntaxError;
use crate::error::{FunctionError, check_interrupt};
use regex_automata::Input;
use regex_automata::meta::Regex;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Patterns that a thread holds compiled, as a session of PostgreSQL does.
const PATTERNS_MAX: usize = 32;

/// Longest pattern that is held.
const HELD_BYTES_MAX: usize = 10_000;

type Key = (String, Options);

thread_local! {
    static COMPILED: RefCell<Vec<(Key, Rc<Pattern>)>> = const { RefCell::new(Vec::new()) };
}

/// Regular expression that is ready to search.
#[derive(Debug)]
pub(super) struct Pattern {
    start: Regex,
    plan: Part,
    captures: usize,
}

/// Ranges of a match: all of it, then its captures.
#[derive(Debug, Clone)]
pub(super) struct Captures(Vec<Option<Range<usize>>>);

impl Captures {
    pub(super) fn set(&mut self, number: usize, range: Option<Range<usize>>) {
        self.0[number] = range;
    }

    /// Returns the range of a capture; 0 is the whole match.
    pub(super) fn get(&self, number: usize) -> Option<Range<usize>> {
        self.0.get(number).cloned().flatten()
    }

    /// Returns the range of the match.
    pub(super) fn whole(&self) -> Range<usize> {
        self.get(0).unwrap_or_default()
    }
}

impl Pattern {
    /// Compiles a pattern, or takes it from those that the thread holds.
    pub(super) fn compiled(pattern: &str, options: Options) -> MatcherResult<Rc<Self>> {
        let is_same = |((text, of), _): &&(Key, Rc<Self>)| text == pattern && *of == options;
        let held = COMPILED.with_borrow_mut(|held| {
            let place = held.iter().position(|entry| is_same(&entry))?;
            held[..=place].rotate_right(1);
            Some(held[0].1.clone())
        });
        if let Some(held) = held {
            return Ok(held);
        }
        let compiled = Rc::new(Self::new(pattern, options)?);
        if pattern.len() <= HELD_BYTES_MAX {
            COMPILED.with_borrow_mut(|held| {
                held.truncate(PATTERNS_MAX - 1);
                held.insert(0, ((pattern.to_owned(), options), compiled.clone()));
            });
        }
        Ok(compiled)
    }

    fn new(pattern: &str, options: Options) -> MatcherResult<Self> {
        let parsed = parse(pattern, options)?;
        let config = Regex::config().nfa_size_limit(Some(AUTOMATON_BYTES_MAX)).utf8_empty(true);
        let start = Regex::builder()
            .configure(config)
            .build_from_hir(&of_alternatives(&parsed.alternatives));
        let start = start.map_err(|_| FunctionError::from(SyntaxError::TooComplex))?;
        let plan = Part::of_alternatives(&parsed.alternatives)?;
        Ok(Self { start, plan, captures: parsed.captures })
    }

    /// Returns the number of capturing parentheses.
    pub(super) fn captures(&self) -> usize {
        self.captures
    }

    /// True if there is a match anywhere.
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.start.is_match(text)
    }

    /// Finds the first match from a position on, with its captures if they are asked for.
    pub(super) fn find(
        &self,
        text: &str,
        from: usize,
        with_captures: bool,
    ) -> MatcherResult<Option<Captures>> {
        check_interrupt()?;
        let found = self.start.find(Input::new(text).range(from..));
        let Some(start) = found.map(|found| found.start()) else { return Ok(None) };
        let matcher = self.plan.matcher()?;
        let end = match self.plan.traits.prefers {
            Some(Preference::Shortest) => matcher.shortest(text, start, start, text.len())?,
            _ => matcher.longest(text, start, text.len())?,
        };
        let Some(end) = end else { return Ok(None) };
        let mut captures = Captures(vec![None; self.captures + 1]);
        if with_captures && self.captures > 0 {
            Dissection::new(text, &mut captures).divide(&self.plan, start..end)?;
        }
        captures.set(0, Some(start..end));
        Ok(Some(captures))
    }
}
