//! Captures of a match: its text is divided as the plan says.

use super::matcher::MatcherResult;
use super::pattern::Captures;
use super::plan::{Kind, Part};
use super::syntax::Preference;
use crate::error::check_interrupt;
use std::ops::Range;

/// Text and captures of a match that is being divided.
#[derive(Debug)]
pub(super) struct Dissection<'a> {
    text: &'a str,
    captures: &'a mut Captures,
}

impl<'a> Dissection<'a> {
    pub(super) fn new(text: &'a str, captures: &'a mut Captures) -> Self {
        Self { text, captures }
    }

    /// Divides a range that a part matches, and sets its captures. Returns false if the part does not match.
    pub(super) fn divide(&mut self, part: &Part, range: Range<usize>) -> MatcherResult<bool> {
        check_interrupt()?;
        let is_match = match &part.kind {
            Kind::Leaf => true,
            Kind::Around(inner) => self.divide(inner, range.clone())?,
            Kind::Alternatives(parts) => self.alternatives(parts, &range)?,
            Kind::Sequence(parts) => {
                let [left, right] = &**parts;
                match left.traits.prefers {
                    Some(Preference::Shortest) => self.shortest_first(left, right, &range)?,
                    _ => self.longest_first(left, right, &range)?,
                }
            }
            Kind::Repeat { part, min, max } => match part.traits.prefers {
                Some(Preference::Shortest) => self.shortest_repeats(part, *min, *max, &range)?,
                _ => self.longest_repeats(part, *min, *max, &range)?,
            },
        };
        if is_match && let Some(number) = part.capture {
            self.captures.set(number, Some(range));
        }
        Ok(is_match)
    }

    fn alternatives(&mut self, parts: &[Part], range: &Range<usize>) -> MatcherResult<bool> {
        for part in parts {
            if self.spans(part, range)? && self.divide(part, range.clone())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a part matches a range as a whole.
    fn spans(&self, part: &Part, range: &Range<usize>) -> MatcherResult<bool> {
        let longest = part.matcher()?.longest(self.text, range.start, range.end)?;
        Ok(longest == Some(range.end))
    }

    fn both(
        &mut self,
        left: &Part,
        right: &Part,
        range: &Range<usize>,
        middle: usize,
    ) -> MatcherResult<bool> {
        let is_match = self.spans(right, &(middle..range.end))?
            && self.divide(left, range.start..middle)?
            && self.divide(right, middle..range.end)?;
        if !is_match {
            self.clear(left);
            self.clear(right);
        }
        Ok(is_match)
    }

    fn longest_first(
        &mut self,
        left: &Part,
        right: &Part,
        range: &Range<usize>,
    ) -> MatcherResult<bool> {
        let mut limit = Some(range.end);
        while let Some(end) = limit {
            let Some(middle) = left.matcher()?.longest(self.text, range.start, end)? else { break };
            if self.both(left, right, range, middle)? {
                return Ok(true);
            }
            limit = self.before(middle, range.start);
        }
        Ok(false)
    }

    fn shortest_first(
        &mut self,
        left: &Part,
        right: &Part,
        range: &Range<usize>,
    ) -> MatcherResult<bool> {
        let mut least = Some(range.start);
        while let Some(begin) = least {
            let middle = left.matcher()?.shortest(self.text, range.start, begin, range.end)?;
            let Some(middle) = middle else { break };
            if self.both(left, right, range, middle)? {
                return Ok(true);
            }
            least = self.after(middle, range.end);
        }
        Ok(false)
    }

    /// Divides a range among repetitions, each as long as possible.
    fn longest_repeats(
        &mut self,
        part: &Part,
        min: u32,
        max: Option<u32>,
        range: &Range<usize>,
    ) -> MatcherResult<bool> {
        let mut ends = vec![range.start];
        let mut limit = range.end;
        loop {
            check_interrupt()?;
            let start = ends[ends.len() - 1];
            let found = part.matcher()?.longest(self.text, start, limit)?;
            // Empty repetitions are of no use, but for an empty range.
            let found = found.filter(|end| *end > start || range.is_empty());
            if let Some(end) = found {
                ends.push(end);
                if end == range.end && self.last_repeat(part, &ends)? {
                    return Ok(true);
                }
                let is_full = max.is_some_and(|max| ends.len() > max as usize);
                if end < range.end && !is_full {
                    limit = range.end;
                    continue;
                }
            }
            // The last repetition becomes shorter, or the one before it.
            loop {
                if ends.len() < 2 {
                    return Ok(min == 0 && range.is_empty());
                }
                let end = ends.pop().unwrap_or(range.start);
                let start = ends[ends.len() - 1];
                if let Some(shorter) = self.before(end, start).filter(|shorter| *shorter > start) {
                    limit = shorter;
                    break;
                }
            }
        }
    }

    /// Divides a range among repetitions, each as short as possible.
    fn shortest_repeats(
        &mut self,
        part: &Part,
        min: u32,
        max: Option<u32>,
        range: &Range<usize>,
    ) -> MatcherResult<bool> {
        if min == 0 && range.is_empty() {
            return Ok(true);
        }
        let mut ends = vec![range.start];
        let mut least = self.after(range.start, range.end).unwrap_or(range.end);
        loop {
            check_interrupt()?;
            let start = ends[ends.len() - 1];
            let is_last = max.is_some_and(|max| ends.len() >= max as usize);
            let least_end = if is_last { range.end } else { least };
            let found = part.matcher()?.shortest(self.text, start, least_end, range.end)?;
            if let Some(end) = found {
                ends.push(end);
                if end < range.end {
                    least = self.after(end, range.end).unwrap_or(range.end);
                    continue;
                }
                if self.last_repeat(part, &ends)? {
                    return Ok(true);
                }
            }
            // The last repetition becomes longer, or the one before it.
            loop {
                if ends.len() < 2 {
                    return Ok(false);
                }
                let end = ends.pop().unwrap_or(range.end);
                if let Some(longer) = self.after(end, range.end) {
                    least = longer;
                    break;
                }
            }
        }
    }

    /// Divides the last repetition: captures are its own.
    fn last_repeat(&mut self, part: &Part, ends: &[usize]) -> MatcherResult<bool> {
        self.clear(part);
        let [.., start, end] = *ends else { return Ok(false) };
        self.divide(part, start..end)
    }

    /// Removes captures of a part that was divided in vain.
    fn clear(&mut self, part: &Part) {
        if let Some(number) = part.capture {
            self.captures.set(number, None);
        }
        match &part.kind {
            Kind::Leaf => {}
            Kind::Around(inner) | Kind::Repeat { part: inner, .. } => self.clear(inner),
            Kind::Alternatives(parts) => parts.iter().for_each(|part| self.clear(part)),
            Kind::Sequence(parts) => parts.iter().for_each(|part| self.clear(part)),
        }
    }

    /// Returns the position one character before another, unless that is before `least`.
    fn before(&self, position: usize, least: usize) -> Option<usize> {
        let last = self.text[least..position].chars().next_back()?;
        Some(position - last.len_utf8())
    }

    /// Returns the position one character after another, unless that is after `limit`.
    fn after(&self, position: usize, limit: usize) -> Option<usize> {
        let next = self.text[position..limit].chars().next()?;
        Some(position + next.len_utf8())
    }
}
