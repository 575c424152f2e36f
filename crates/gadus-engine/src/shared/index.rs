//! The questions of a pass, indexed by predicate.
//!
//! - Each question is looked up by one of its conjuncts: the one that fewest rows pass, by the sketches
//!   of some segments. Equality and IN are found by value, ranges and prefixes as ranges.
//! - Where that one still lets many rows pass, looking up costs more than evaluating: the question
//!   stays alone.

use super::Question;
use crate::error::Result;
use crate::scan::{Comparison, Predicate, Test};
use crate::segment::Footer;
use crate::snapshot::Table;
use crate::types::Datum;

/// A question by its place in the pass.
pub(super) type QuestionIndex = u32;

/// Segments whose sketches say how selective a conjunct is.
const SAMPLES_MAX: usize = 8;

/// A candidate row costs about as much as the evaluation of this many in a mask.
const LONE_SHARE_MIN: f64 = 1.0 / 32.0;

/// The questions of a pass.
#[derive(Debug)]
pub(super) struct BatchIndex {
    pub(super) columns: Vec<ColumnIndex>,
    /// Questions that are looked up by nothing.
    pub(super) lone: Vec<QuestionIndex>,
    /// The predicates of each question that are left once it was looked up, the most selective first.
    pub(super) checks: Vec<Vec<usize>>,
}

/// The questions that are looked up by one column.
#[derive(Debug)]
pub(super) struct ColumnIndex {
    pub(super) column: usize,
    /// Values that are asked for, sorted, each once.
    pub(super) points: Vec<(Datum, Vec<QuestionIndex>)>,
    /// Ranges and prefixes.
    pub(super) spans: Vec<(Test, QuestionIndex)>,
}

impl BatchIndex {
    pub(super) fn build(table: &Table, questions: &[Question]) -> Result<Self> {
        let samples = Samples::of(table)?;
        let mut index = Self { columns: Vec::new(), lone: Vec::new(), checks: Vec::new() };
        for (place, question) in (0..).zip(questions) {
            let predicates = &question.predicates;
            let shares = predicates.iter().map(|one| samples.share(one)).collect::<Vec<_>>();
            let (mut checks, first) = order_of(predicates, &shares);
            match first.map(|first| &predicates[first]) {
                Some(predicate) => index.column(predicate.column).add(&predicate.test, place),
                None => index.lone.push(place),
            }
            checks.retain(|check| Some(*check) != first);
            index.checks.push(checks);
        }
        index.columns.iter_mut().for_each(ColumnIndex::sort);
        Ok(index)
    }

    fn column(&mut self, column: usize) -> &mut ColumnIndex {
        let known = self.columns.iter().position(|known| known.column == column);
        let place = known.unwrap_or_else(|| {
            self.columns.push(ColumnIndex { column, points: Vec::new(), spans: Vec::new() });
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
    /// The place of the predicate by which it is looked up; none where it is evaluated by itself.
    pub looked_up_by: Option<usize>,
}

impl Table {
    /// What the sketches of some segments let one expect of a question: as if its predicates had
    /// nothing to do with one another.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub fn estimate(&self, question: &Question) -> Result<Estimate> {
        let samples = Samples::of(self)?;
        let shares = question.predicates.iter().map(|one| samples.share(one)).collect::<Vec<_>>();
        let rows = self.rows() as f64 * shares.iter().product::<f64>();
        let (_, looked_up_by) = order_of(&question.predicates, &shares);
        Ok(Estimate { rows, looked_up_by })
    }
}

/// The places of predicates, the most selective first, and that by which a question is looked up.
fn order_of(predicates: &[Predicate], shares: &[f64]) -> (Vec<usize>, Option<usize>) {
    let mut order = (0..predicates.len()).collect::<Vec<_>>();
    order.sort_by(|&one, &other| shares[one].total_cmp(&shares[other]));
    let first = order.iter().copied().find(|&place| can_be_looked_up(&predicates[place]));
    (order, first.filter(|&first| shares[first] < LONE_SHARE_MIN))
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

    fn sort(&mut self) {
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

fn can_be_looked_up(predicate: &Predicate) -> bool {
    match &predicate.test {
        Test::Compare(comparison, _) => *comparison != Comparison::NotEqual,
        Test::Between(..) | Test::In(_) | Test::StartsWith(_) => true,
        Test::IsNull | Test::IsNotNull => false,
    }
}

/// Footers of some segments, spread over the table.
struct Samples<'a>(Vec<(&'a Footer, u32)>);

impl<'a> Samples<'a> {
    fn of(table: &'a Table) -> Result<Self> {
        let segments = table.version().segments.values();
        let bases = segments.filter_map(|segment| segment.encoded.as_ref()).collect::<Vec<_>>();
        let step = bases.len().div_ceil(SAMPLES_MAX).max(1);
        let footers = bases
            .iter()
            .step_by(step)
            .map(|base| Ok((base.footer(table.schema(), table.blobs())?, base.rows())));
        Ok(Self(footers.collect::<Result<_>>()?))
    }

    /// About which share of the rows passes.
    fn share(&self, predicate: &Predicate) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let of_one = |(footer, rows): &(&Footer, u32)| {
            let sketch = &footer.columns[predicate.column].sketch;
            let Some((min, max)) = &sketch.range else {
                return if sketch.nulls == *rows { 0.0 } else { unknown_range(&predicate.test) };
            };
            let null_share = f64::from(sketch.nulls) / f64::from((*rows).max(1));
            if !predicate.test.may_pass(min, max) {
                return 0.0;
            }
            let one_value = 1.0 / f64::from(sketch.distinct.max(1));
            match &predicate.test {
                Test::Compare(Comparison::Equal, _) => one_value,
                Test::In(values) => {
                    let inside = values.iter().filter(|value| min <= value && *value <= max);
                    (one_value * inside.fold(0.0, |count, _| count + 1.0)).min(1.0)
                }
                Test::IsNull => null_share,
                Test::IsNotNull => 1.0 - null_share,
                Test::Compare(Comparison::NotEqual, _) => 1.0 - one_value,
                Test::StartsWith(_) => unknown_range(&predicate.test).max(one_value),
                range => share_of_range(range, min, max).max(one_value),
            }
        };
        self.0.iter().map(of_one).sum::<f64>() / self.0.iter().fold(0.0, |count, _| count + 1.0)
    }
}

/// A prefix of each further byte lets one value in ten pass; of other ranges nothing is known.
fn unknown_range(test: &Test) -> f64 {
    match test {
        Test::StartsWith(prefix) => 0.1_f64.powi(i32::try_from(prefix.len().min(6)).unwrap_or(6)),
        Test::Compare(Comparison::Equal, _) | Test::In(_) => 0.001,
        _ => 0.3,
    }
}

#[allow(clippy::cast_precision_loss)] // an estimate
fn share_of_range(test: &Test, min: &Datum, max: &Datum) -> f64 {
    let number = |datum: &Datum| match datum {
        Datum::Float(value) => Some(*value),
        integer => integer.as_wide().map(|value| value as f64),
    };
    let (Some(min), Some(max)) = (number(min), number(max)) else { return unknown_range(test) };
    let bounds = match test {
        Test::Between(low, high) => number(low).zip(number(high)),
        Test::Compare(Comparison::Less | Comparison::LessOrEqual, high) => {
            number(high).map(|high| (min, high))
        }
        Test::Compare(Comparison::Greater | Comparison::GreaterOrEqual, low) => {
            number(low).map(|low| (low, max))
        }
        _ => None,
    };
    let Some((low, high)) = bounds else { return unknown_range(test) };
    let width = (max - min).max(f64::MIN_POSITIVE);
    ((high.min(max) - low.max(min)) / width).clamp(0.0, 1.0)
}
