//! The questions of a pass, indexed by predicate.
//!
//! - Each question is looked up by one of its conjuncts: the one that fewest rows pass, by samples
//!   of some segments. Equality and IN are found by value, ranges and prefixes as ranges.
//! - Where many ask for values of the same two columns, they are looked up by both at once.
//! - Few columns are read: who can be looked up by a column that is read anyway, at little more cost,
//!   is looked up by that.
//! - Where that one still lets many rows pass, looking up costs more than evaluating: the question
//!   stays alone.

use super::Question;
use super::order::{Order, choose_pairs, merge_columns};
use super::pair_hits::{AskedPairs, PairPoint};
use super::selectivity::Samples;
use crate::error::Result;
use crate::scan::{Comparison, Test};
use crate::snapshot::Table;
use crate::types::Datum;
use std::collections::BTreeMap;

/// A question by its place in the pass.
pub(super) type QuestionIndex = u32;

/// The questions of a pass.
#[derive(Debug)]
pub(super) struct BatchIndex {
    pub(super) columns: Vec<ColumnIndex>,
    /// Questions that are looked up by nothing.
    pub(super) lone: Vec<QuestionIndex>,
    /// How many questions are looked up by each column, and by none.
    pub(super) looked_up: BTreeMap<Option<usize>, u64>,
    /// The predicates of each question that are left once it was looked up, the most selective first.
    pub(super) checks: Vec<Vec<usize>>,
}

/// The questions that are looked up by one column, or by one together with another.
#[derive(Debug)]
pub(super) struct ColumnIndex {
    pub(super) column: usize,
    /// Values that are asked for, sorted, each once.
    pub(super) points: Vec<(Datum, Vec<QuestionIndex>)>,
    /// Ranges and prefixes.
    pub(super) spans: Vec<(Test, QuestionIndex)>,
    /// With values of another column, where they are asked for together. What is found by the first
    /// alone is then more than need be.
    pub(super) pairs: Option<Pairs>,
}

/// Values of two columns that are asked for together.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The second column.
    pub(super) column: usize,
    pub(super) asked: AskedPairs,
    /// What they are made of.
    points: Vec<PairPoint>,
}

impl Pairs {
    /// Those with a second column, of nobody yet.
    fn of(column: usize) -> Self {
        Self { column, asked: AskedPairs::default(), points: Vec::new() }
    }
}

impl BatchIndex {
    pub(super) fn build(table: &Table, questions: &[Question]) -> Result<Self> {
        let samples = Samples::of_many(table, questions.len());
        let orders = questions.iter().map(|question| Order::of(&samples, &question.predicates));
        let mut orders = orders.collect::<Result<Vec<_>>>()?;
        choose_pairs(&mut orders);
        merge_columns(&mut orders);
        let (columns, lone, looked_up, checks) = Default::default();
        let mut index = Self { columns, lone, looked_up, checks };
        for ((place, question), order) in (0..).zip(questions).zip(orders) {
            let predicate = |place: usize| &question.predicates[place];
            let first = order.looked_up_by.map(predicate);
            *index.looked_up.entry(first.map(|first| first.column)).or_default() += 1;
            match (first, order.together_with.map(predicate)) {
                (Some(first), Some(second)) => {
                    let column = index.column(first.column, Some(second.column));
                    column.add_pair(&first.test, &second.test, place);
                }
                (Some(first), None) => index.column(first.column, None).add(&first.test, place),
                (None, _) => index.lone.push(place),
            }
            index.checks.push(order.checks());
        }
        index.columns.iter_mut().for_each(ColumnIndex::sort);
        Ok(index)
    }

    fn column(&mut self, column: usize, second: Option<usize>) -> &mut ColumnIndex {
        let is_it = |known: &ColumnIndex| {
            known.column == column && known.pairs.as_ref().map(|pairs| pairs.column) == second
        };
        let place = self.columns.iter().position(is_it).unwrap_or_else(|| {
            let pairs = second.map(Pairs::of);
            self.columns.push(ColumnIndex { column, points: Vec::new(), spans: Vec::new(), pairs });
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }
}

/// What is expected of a question before it is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// About so many rows pass.
    pub rows: f64,
    /// The column by which it is looked up; none where it is evaluated by itself.
    pub looked_up_by: Option<usize>,
}

impl Table {
    /// What samples of some segments let one expect of a question: as if its predicates had
    /// nothing to do with one another.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub fn estimate(&self, question: &Question) -> Result<Estimate> {
        let Question { predicates, .. } = question.clone().simplified();
        let order = Order::of(&Samples::of(self), &predicates)?;
        let looked_up_by = order.looked_up_by.map(|place| predicates[place].column);
        Ok(Estimate { rows: self.about_rows() as f64 * order.share_of_all(), looked_up_by })
    }
}

impl ColumnIndex {
    fn add(&mut self, test: &Test, question: QuestionIndex) {
        match test {
            Test::Compare(Comparison::Equal, value) => {
                self.points.push((value.clone(), vec![question]));
            }
            Test::In(values) => {
                let points = values.iter().map(|value| (value.clone(), vec![question]));
                self.points.extend(points);
            }
            range => self.spans.push((range.clone(), question)),
        }
    }

    /// Two equalities.
    fn add_pair(&mut self, first: &Test, second: &Test, question: QuestionIndex) {
        self.add(first, question);
        if let (Some(first), Some(second), Some(pairs)) =
            (first.only_value(), second.only_value(), &mut self.pairs)
        {
            pairs.points.push(([first.clone(), second.clone()], question));
        }
    }

    fn sort(&mut self) {
        if let Some(pairs) = &mut self.pairs {
            pairs.asked = AskedPairs::of(&std::mem::take(&mut pairs.points));
        }
        self.points.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.points.dedup_by(|(value, questions), (kept, all)| {
            let same = value == kept;
            if same {
                all.append(questions);
            }
            same
        });
    }

    /// The points from `min` to `max`.
    pub(super) fn points_within(&self, min: &Datum, max: &Datum) -> &[(Datum, Vec<QuestionIndex>)] {
        let first = self.points.partition_point(|(value, _)| value < min);
        let end = self.points.partition_point(|(value, _)| value <= max);
        self.points.get(first..end).unwrap_or_default()
    }

    /// All questions; one with several points comes as often.
    pub(super) fn questions(&self) -> impl Iterator<Item = QuestionIndex> {
        let points = self.points.iter().flat_map(|(_, questions)| questions.iter().copied());
        points.chain(self.spans.iter().map(|(_, question)| *question))
    }

    /// Hands every question that a value passes to `each`.
    pub(super) fn each_match(&self, value: &Datum, mut each: impl FnMut(QuestionIndex)) {
        if value.is_null() {
            return;
        }
        if let Ok(place) = self.points.binary_search_by(|(point, _)| point.cmp(value)) {
            self.points[place].1.iter().for_each(|question| each(*question));
        }
        let passing = self.spans.iter().filter(|(test, _)| test.passes(value));
        passing.for_each(|(_, question)| each(*question));
    }
}
