//! One client, shape by shape: whether any query is slower than a peer's.
//!
//! - Each shape is asked with the values of several bookings, the same of everybody, one after the other.
//! - Beside the median of a shape stands its worst query: the one that is slowest as the peer's time goes,
//!   by medians over the rounds.

use std::cell::RefCell;
use std::collections::BTreeMap;

use gadus_base::clock;

use super::super::figures::{Metric, median};
use super::super::machine::Machine;
use super::super::rounds::{Entry, GADUS, Measured, Series, measure};
use super::Stage;
use super::rivals::Rival;
use super::turn::finish;
use crate::failure::Failure;
use crate::generate::statements::{QUERY_SHAPES, Sample, Statements};

const TIME: Metric = Metric::lower("query_ms", "ms");
/// How many times faster than the peer's the worst query is.
const WORST: Metric = Metric::higher("worst_query", "");

/// Queries of each shape.
const EACH: usize = 40;

/// The times of each query, by who was asked and its place; in milliseconds, a value for each round.
type Times = RefCell<BTreeMap<(&'static str, usize), Vec<f64>>>;

impl Stage<'_> {
    /// What one client waits for each shape of queries, beside the peers that take as long.
    pub(super) fn shapes(
        &self,
        sample: &Sample,
        machine: &mut Machine,
    ) -> Result<Vec<Series>, Failure> {
        let mut rivals = self.command.against.peers();
        rivals.retain(|rival| rival.is_timed_alone());
        if rivals.is_empty() {
            return Ok(Vec::new());
        }
        let statements = Statements::drawn_from(sample, 0, QUERY_SHAPES * EACH);
        let times = Times::default();
        let mut entries = Vec::new();
        for shape in 0..QUERY_SHAPES {
            let (case, statements, times) = (case(shape), &statements, &times);
            let own = move || noted(times, GADUS, shape, self.time_own(shape, statements)?);
            entries.push(Entry::new(&case, GADUS, own));
            entries.extend(rivals.iter().map(|&rival| {
                let turn = move || {
                    let taken = self.peers.times(rival, &texts(shape, statements))?;
                    noted(times, rival.name(), shape, taken)
                };
                Entry::new(&case, rival.name(), turn)
            }));
        }
        let mut series = measure(&mut entries, self.command.repeat.rounds, machine)?;
        drop(entries);
        let times = times.into_inner();
        series.extend((0..QUERY_SHAPES).map(|shape| Series {
            case: case(shape),
            who: GADUS,
            metric: WORST,
            values: vec![worst(&times, &rivals, shape)],
        }));
        Ok(series)
    }

    /// What each query of a shape takes, in milliseconds, until all its rows are read.
    fn time_own(&self, shape: usize, statements: &Statements<'_>) -> Result<Vec<f64>, Failure> {
        let time = |text: &str| {
            let began = clock().now();
            finish(self.connection.submit(text, &[]).wait()?)?;
            Ok(began.elapsed().as_secs_f64() * 1e3)
        };
        texts(shape, statements).into_iter().map(time).collect()
    }
}

fn case(shape: usize) -> String {
    format!("one client, {}", Statements::condition(shape))
}

/// The places of a shape's queries: shapes go round and round.
fn places(shape: usize) -> impl Iterator<Item = usize> {
    (shape..QUERY_SHAPES * EACH).step_by(QUERY_SHAPES)
}

fn texts<'a>(shape: usize, statements: &'a Statements<'_>) -> Vec<&'a str> {
    places(shape).map(|place| statements.texts[place].as_str()).collect()
}

/// Keeps the times of a turn, and tells their median.
fn noted(
    times: &Times,
    who: &'static str,
    shape: usize,
    taken: Vec<f64>,
) -> Result<Measured, Failure> {
    let middle = median(&taken);
    let mut times = times.borrow_mut();
    for (place, taken) in places(shape).zip(taken) {
        times.entry((who, place)).or_default().push(taken);
    }
    Ok(vec![(TIME, middle)])
}

/// The lowest ratio of a peer's time to ours among a shape's queries.
fn worst(times: &BTreeMap<(&'static str, usize), Vec<f64>>, rivals: &[Rival], shape: usize) -> f64 {
    // The first round does not count.
    let typical = |who, place| times.get(&(who, place)).map(|times| median(&times[1..]));
    let ratio = |(rival, place): (&Rival, usize)| {
        Some(typical(rival.name(), place)? / typical(GADUS, place)?)
    };
    let pairs = rivals.iter().flat_map(|rival| places(shape).map(move |place| (rival, place)));
    pairs.filter_map(ratio).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests;
