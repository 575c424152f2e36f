//! By which of its conjuncts each question of a pass is looked up.

use super::selectivity::Samples;
use crate::error::Result;
use crate::scan::{Comparison, Predicate, Test};
use std::collections::BTreeMap;

/// A candidate row costs about as much as the evaluation of this many in masks.
const LONE_SHARE_MIN: f64 = 1.0 / 25.0;

/// A candidate row costs about as much as looking so many values up that nobody asks for.
const CANDIDATE_COST: f64 = 5.0;

/// What looking up two columns at once costs in the same unit, less what it saves where one of them is
/// then not read for others: columns are unpacked in no time.
const PAIR_COST: f64 = 0.2;

/// A column is given up where that costs at most half of what it saves: estimates are rough.
const MERGE_COST_MAX: f64 = 0.5;

/// The predicates of a question, the most selective first.
pub(super) struct Order {
    predicates: Vec<Ranked>,
    /// The place of the one by which the question is looked up,
    pub(super) looked_up_by: Option<usize>,
    /// together with this one.
    pub(super) together_with: Option<usize>,
}

/// A predicate of a question.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    place: usize,
    column: usize,
    share: f64,
    can_be_looked_up: bool,
    is_equality: bool,
}

impl Order {
    pub(super) fn of(samples: &Samples<'_>, predicates: &[Predicate]) -> Result<Self> {
        let ranked = predicates.iter().enumerate().map(|(place, predicate)| {
            let share = samples.share(predicate)?;
            let can_be_looked_up = share < LONE_SHARE_MIN && can_be_looked_up(predicate);
            let is_equality = predicate.test.only_value().is_some();
            let column = predicate.column;
            Ok(Ranked { place, column, share, can_be_looked_up, is_equality })
        });
        let mut predicates = ranked.collect::<Result<Vec<_>>>()?;
        predicates.sort_by(|one, other| one.share.total_cmp(&other.share));
        let mut order = Self { predicates, looked_up_by: None, together_with: None };
        order.looked_up_by = order.best(|_| true).map(|best| best.place);
        Ok(order)
    }

    /// The most selective predicate of some columns by which the question can be looked up.
    fn best(&self, of_column: impl Fn(usize) -> bool) -> Option<Ranked> {
        let mut fitting = self.predicates.iter().filter(|one| one.can_be_looked_up);
        fitting.find(|one| of_column(one.column)).copied()
    }

    fn chosen(&self) -> Option<Ranked> {
        let chosen = |one: &&Ranked| Some(one.place) == self.looked_up_by;
        self.predicates.iter().find(chosen).copied()
    }

    /// The share of the rows that looking up lets pass.
    fn share(&self) -> f64 {
        self.chosen().map_or(LONE_SHARE_MIN, |chosen| chosen.share)
    }

    /// The share of the rows that pass all predicates, as if they had nothing to do with one another.
    pub(super) fn share_of_all(&self) -> f64 {
        self.predicates.iter().map(|one| one.share).product()
    }

    /// The equalities by pairs, the lower column first, and what remains of the rows.
    fn pairs(&self) -> impl Iterator<Item = ([Ranked; 2], f64)> {
        let equalities = || self.predicates.iter().filter(|one| one.is_equality);
        equalities().flat_map(move |one| {
            let others = equalities().filter(|other| one.column < other.column);
            others.map(|other| ([*one, *other], one.share * other.share))
        })
    }

    /// The places of those that are left once it was looked up, the most selective first. That which
    /// was looked up together with another is not left out: it is not everywhere.
    pub(super) fn checks(&self) -> Vec<usize> {
        let places = self.predicates.iter().map(|one| one.place);
        let left = |place: &usize| ![self.looked_up_by, self.together_with].contains(&Some(*place));
        places.filter(left).chain(self.together_with).collect()
    }
}

/// Has questions looked up by two columns at once, where that saves more than it costs.
pub(super) fn choose_pairs(orders: &mut [Order]) {
    loop {
        let mut saved: BTreeMap<[usize; 2], f64> = BTreeMap::new();
        for order in orders.iter().filter(|order| order.together_with.is_none()) {
            for (pair, share) in order.pairs() {
                *saved.entry(pair.map(|one| one.column)).or_default() += order.share() - share;
            }
        }
        let best = saved.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((columns, share)) = best else { return };
        if share * CANDIDATE_COST < PAIR_COST {
            return;
        }
        for order in orders.iter_mut().filter(|order| order.together_with.is_none()) {
            let pair = order.pairs().find(|(pair, _)| pair.map(|one| one.column) == columns);
            if let Some(([first, second], share)) = pair
                && share < order.share() / 2.0
            {
                (order.looked_up_by, order.together_with) = (Some(first.place), Some(second.place));
            }
        }
    }
}

/// Has questions looked up by columns that others are looked up by, too, where that costs less than
/// reading a column for them.
pub(super) fn merge_columns(orders: &mut [Order]) {
    let mut columns: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (question, order) in orders.iter().enumerate() {
        if let Some(chosen) = order.chosen().filter(|_| order.together_with.is_none()) {
            columns.entry(chosen.column).or_default().push(question);
        }
    }
    let mut by_questions =
        columns.iter().map(|(column, all)| (all.len(), *column)).collect::<Vec<_>>();
    by_questions.sort_unstable();
    for (_, column) in by_questions {
        let others = |other: usize| other != column && columns.contains_key(&other);
        let moved = columns[&column].iter().map(|&question| {
            let (order, other) = (&orders[question], orders[question].best(others)?);
            Some((question, other, other.share - order.chosen().map_or(0.0, |one| one.share)))
        });
        let Some(moved) = moved.collect::<Option<Vec<_>>>() else { continue };
        let more_rows = moved.iter().map(|(_, _, more)| more).sum::<f64>();
        if more_rows * CANDIDATE_COST < MERGE_COST_MAX {
            columns.remove(&column);
            for (question, other, _) in moved {
                orders[question].looked_up_by = Some(other.place);
                columns.entry(other.column).or_default().push(question);
            }
        }
    }
}

fn can_be_looked_up(predicate: &Predicate) -> bool {
    match &predicate.test {
        Test::Compare(comparison, _) => *comparison != Comparison::NotEqual,
        Test::Between(..) | Test::In(_) | Test::StartsWith(_) => true,
        Test::IsNull | Test::IsNotNull => false,
    }
}
