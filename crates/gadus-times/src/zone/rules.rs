//! Rules of a zone: known transitions, and the yearly rule that continues them.
//!
//! - Transitions are in ascending order; each names the type of local time that begins with it.
//! - The yearly rule of a zone of the database begins after the last transition. Transitions are extended by it to
//!   [`EXTENDED_TO_YEAR`], so that a binary search suffices for nearly all times.
//! - A zone of a POSIX text has no transitions: its rule holds for all years, also before 1970.

use super::posix::YearlyRule;
use crate::calendar::{DAY_SECONDS, JULIAN_1970, date_of_julian};
use crate::integers::low_bits;

/// Last year of the transitions in the table.
const EXTENDED_TO_YEAR: i32 = 2100;

/// Type of local time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalType {
    /// Seconds east of UTC.
    pub(crate) offset: i32,
    pub(crate) is_daylight: bool,
    pub(crate) abbreviation: String,
}

/// Rules of a zone. There is at least one type.
#[derive(Debug)]
pub(super) struct Rules {
    types: Vec<LocalType>,
    transitions: Vec<Transition>,
    rule: Option<YearlyRule>,
}

/// Point in time at which a type of local time begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) unix_seconds: i64,
    pub(super) type_index: usize,
}

/// Type of local time at a point in time, and the transition that ends it.
pub(super) struct Boundary<'a> {
    pub(super) before: &'a LocalType,
    pub(super) after: Option<(i64, &'a LocalType)>,
}

impl Rules {
    pub(super) fn fixed(fixed: LocalType) -> Self {
        Self { types: vec![fixed], transitions: Vec::new(), rule: None }
    }

    /// Returns rules; `None` if a transition names a type that does not exist.
    pub(super) fn new(
        types: Vec<LocalType>,
        mut transitions: Vec<Transition>,
        rule: Option<YearlyRule>,
    ) -> Option<Self> {
        let is_known = |index: usize| index < types.len();
        let rule_is_known =
            rule.as_ref().is_none_or(|rule| is_known(rule.standard.max(rule.daylight)));
        let is_ordered = transitions.is_sorted_by(|a, b| a.unix_seconds < b.unix_seconds);
        let all_known = transitions.iter().all(|transition| is_known(transition.type_index));
        if types.is_empty() || !rule_is_known || !is_ordered || !all_known {
            return None;
        }
        if let (Some(rule), Some(last)) = (&rule, transitions.last().copied()) {
            let first_year = year_of(last.unix_seconds) - 1;
            let yearly = (first_year..=EXTENDED_TO_YEAR).flat_map(|year| rule.transitions(year));
            transitions.extend(yearly.flatten().filter(|new| new.unix_seconds > last.unix_seconds));
        }
        Some(Self { types, transitions, rule })
    }

    /// Returns the type of local time at a point in time.
    pub(super) fn at(&self, unix_seconds: i64) -> &LocalType {
        let known = self.transitions.partition_point(|known| known.unix_seconds <= unix_seconds);
        if known < self.transitions.len() || self.rule.is_none() {
            let index = known.checked_sub(1).and_then(|index| self.transitions.get(index));
            return self.local_type(index.map_or(0, |known| known.type_index));
        }
        self.yearly(unix_seconds).before
    }

    /// Returns the type at a point in time and the first transition after it, as PostgreSQL looks for it.
    pub(super) fn boundary(&self, unix_seconds: i64) -> Boundary<'_> {
        let known = self.transitions.partition_point(|known| known.unix_seconds <= unix_seconds);
        match self.transitions.get(known) {
            None if self.rule.is_some() => self.yearly(unix_seconds),
            None => {
                let last = self.transitions.last();
                let before = match last {
                    Some(last) => self.local_type(last.type_index),
                    None => self.first_standard(),
                };
                Boundary { before, after: None }
            }
            Some(next) => {
                let before = known.checked_sub(1).and_then(|index| self.transitions.get(index));
                let before = match before {
                    Some(before) => self.local_type(before.type_index),
                    None => self.first_standard(),
                };
                Boundary {
                    before,
                    after: Some((next.unix_seconds, self.local_type(next.type_index))),
                }
            }
        }
    }

    /// Returns the meaning of an abbreviation in upper case: the latest one before a point in time, else the next.
    pub(super) fn meaning(&self, abbreviation: &str, unix_seconds: i64) -> Option<&LocalType> {
        let named = |transition: &Transition| {
            Some(self.local_type(transition.type_index))
                .filter(|at| at.abbreviation == abbreviation)
        };
        let cutoff = self.transitions.partition_point(|known| known.unix_seconds <= unix_seconds);
        let (before, after) = self.transitions.split_at(cutoff);
        before.iter().rev().find_map(named).or_else(|| after.iter().find_map(named))
    }

    pub(super) fn constant_offset(&self) -> Option<i32> {
        let first = self.local_type(0).offset;
        self.types.iter().all(|other| other.offset == first).then_some(first)
    }

    fn local_type(&self, index: usize) -> &LocalType {
        &self.types[index]
    }

    fn first_standard(&self) -> &LocalType {
        self.types.iter().find(|local| !local.is_daylight).unwrap_or_else(|| self.local_type(0))
    }

    /// Applies the yearly rule to the years around a point in time.
    fn yearly(&self, unix_seconds: i64) -> Boundary<'_> {
        let begin = self.transitions.last().copied();
        let mut before = begin.map(|begin| begin.type_index);
        let mut after = None;
        let year = year_of(unix_seconds);
        let rule = self.rule.as_ref();
        let years = rule
            .into_iter()
            .flat_map(|rule| (year - 1..=year + 1).flat_map(|year| rule.transitions(year)));
        for transition in years.flatten() {
            if begin.is_some_and(|begin| transition.unix_seconds <= begin.unix_seconds) {
                continue;
            }
            if transition.unix_seconds <= unix_seconds {
                before = Some(transition.type_index);
            } else {
                after = after.or(Some(transition));
            }
        }
        Boundary {
            before: self.local_type(before.unwrap_or(0)),
            after: after.map(|after| (after.unix_seconds, self.local_type(after.type_index))),
        }
    }
}

/// Returns the year of seconds since 1970, within the years of timestamps.
fn year_of(unix_seconds: i64) -> i32 {
    let day = unix_seconds.div_euclid(DAY_SECONDS) + i64::from(JULIAN_1970);
    // Days before Julian day 0 are those just before the first timestamp.
    date_of_julian(low_bits(day.clamp(0, i64::from(i32::MAX)))).year
}
