//! Ends of matches that begin at a position, by a lazily built automaton.
//!
//! - The automaton follows all alternatives at once, so that it sees every end: the longest and the shortest.
//! - Word boundaries beyond ASCII are left to a slower simulation.

use super::syntax_error::SyntaxError;
use crate::error::{FunctionError, check_interrupt};
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;
use std::cell::RefCell;

/// Bytes that the automaton of a pattern may take before its bounds are unrolled too far.
pub(super) const AUTOMATON_BYTES_MAX: usize = 10 << 20;

/// Bytes between looks at cancellation.
const BYTES_BETWEEN_LOOKS: usize = 1 << 16;

pub(super) type MatcherResult<T> = Result<T, FunctionError>;

/// Automaton of one expression.
#[derive(Debug)]
pub(super) struct Matcher {
    lazy: DFA,
    cache: RefCell<Cache>,
    simulation: PikeVM,
}

impl Matcher {
    pub(super) fn new(expression: &Hir) -> MatcherResult<Self> {
        let complex = || FunctionError::from(SyntaxError::TooComplex);
        let config = NFA::config()
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(AUTOMATON_BYTES_MAX));
        let nfa = NFA::compiler().configure(config).build_from_hir(expression);
        let nfa = nfa.map_err(|_| complex())?;
        let config = DFA::config()
            .match_kind(MatchKind::All)
            .unicode_word_boundary(true)
            .skip_cache_capacity_check(true);
        let lazy = DFA::builder().configure(config).build_from_nfa(nfa.clone());
        let lazy = lazy.map_err(|_| complex())?;
        let config = PikeVM::config().match_kind(MatchKind::All);
        let simulation = PikeVM::builder().configure(config).build_from_nfa(nfa);
        let simulation = simulation.map_err(|_| complex())?;
        let cache = RefCell::new(lazy.create_cache());
        Ok(Self { lazy, cache, simulation })
    }

    /// Returns the last end, at most `limit`, of a match that begins at a position.
    pub(super) fn longest(
        &self,
        text: &str,
        begin: usize,
        limit: usize,
    ) -> MatcherResult<Option<usize>> {
        let mut last = None;
        let is_complete = self.ends(text, begin, limit, |end| {
            last = Some(end);
            true
        })?;
        Ok(if is_complete { last } else { self.simulated(text, begin, limit) })
    }

    /// Returns the first end, from `least` to `limit`, of a match that begins at a position.
    pub(super) fn shortest(
        &self,
        text: &str,
        begin: usize,
        least: usize,
        limit: usize,
    ) -> MatcherResult<Option<usize>> {
        let mut first = None;
        let is_complete = self.ends(text, begin, limit, |end| {
            first = Some(end).filter(|end| *end >= least);
            first.is_none()
        })?;
        if is_complete {
            return Ok(first);
        }
        for end in (least..=limit).filter(|end| text.is_char_boundary(*end)) {
            check_interrupt()?;
            if self.simulated(text, begin, end) == Some(end) {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn simulated(&self, text: &str, begin: usize, limit: usize) -> Option<usize> {
        let input = Input::new(text).range(begin..limit).anchored(Anchored::Yes);
        let found = self.simulation.find(&mut self.simulation.create_cache(), input);
        found.map(|found| found.end())
    }

    /// Calls `visit` with the end of each match that begins at a position, in ascending order, until it returns false.
    /// Returns false if the automaton gives up.
    fn ends(
        &self,
        text: &str,
        begin: usize,
        limit: usize,
        mut visit: impl FnMut(usize) -> bool,
    ) -> MatcherResult<bool> {
        let mut cache = self.cache.borrow_mut();
        let bytes = text.as_bytes();
        let input = Input::new(text).range(begin..limit).anchored(Anchored::Yes);
        let Ok(mut state) = self.lazy.start_state_forward(&mut cache, &input) else {
            return Ok(false);
        };
        // A state tells of the match that ended one byte before.
        for (at, byte) in bytes.iter().enumerate().take(limit).skip(begin) {
            let Ok(next) = self.lazy.next_state(&mut cache, state, *byte) else { return Ok(false) };
            state = next;
            if state.is_tagged() {
                if state.is_match() && !visit(at) {
                    return Ok(true);
                }
                if state.is_dead() {
                    return Ok(true);
                }
                if state.is_quit() {
                    return Ok(false);
                }
            }
            if at % BYTES_BETWEEN_LOOKS == 0 {
                check_interrupt()?;
            }
        }
        let last: Result<LazyStateID, _> = match bytes.get(limit) {
            Some(byte) => self.lazy.next_state(&mut cache, state, *byte),
            None => self.lazy.next_eoi_state(&mut cache, state),
        };
        let Ok(last) = last else { return Ok(false) };
        if last.is_match() {
            visit(limit);
        }
        Ok(!last.is_quit())
    }
}
