//! Rounds: contestants take turns, in an order drawn anew each round.

use gadus_base::Random;

use super::figures::Metric;
use super::machine::Machine;
use crate::failure::Failure;
use crate::progress::Progress;

/// The name that Gadus has among the contestants.
pub(super) const GADUS: &str = "gadus";

/// The case of all cases together.
pub(super) const TOTAL: &str = "total";

/// One contestant in one case.
pub(super) struct Entry<'a> {
    case: String,
    who: &'static str,
    turn: Box<dyn FnMut() -> Result<Measured, Failure> + 'a>,
}

/// What one turn gave.
pub(super) type Measured = Vec<(Metric, f64)>;

/// The values of one metric in the rounds, in their order.
#[derive(Debug)]
pub(super) struct Series {
    pub(super) case: String,
    pub(super) who: &'static str,
    pub(super) metric: Metric,
    pub(super) values: Vec<f64>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(
        case: impl Into<String>,
        who: &'static str,
        turn: impl FnMut() -> Result<Measured, Failure> + 'a,
    ) -> Self {
        Self { case: case.into(), who, turn: Box::new(turn) }
    }
}

/// Lets every entry have its turn in each round; the first round does not count.
pub(super) fn measure(
    entries: &mut [Entry<'_>],
    rounds: u32,
    machine: &mut Machine,
) -> Result<Vec<Series>, Failure> {
    let mut random = Random::from_system();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    let mut series = Vec::new();
    let turns = u64::from(rounds + 1) * entries.len() as u64;
    let mut progress = Progress::new("measuring", turns);
    for round in 0..=rounds {
        shuffle(&mut order, &mut random);
        machine.look_around()?;
        for &at in &order {
            let entry = &mut entries[at];
            let measured = (entry.turn)().map_err(|failure| named(entry, failure))?;
            if round > 0 {
                note(&mut series, entry, measured);
            }
            progress.advance(1);
        }
    }
    // In the order of the entries, whatever the first round's was.
    let place = |one: &Series| {
        entries.iter().position(|entry| entry.case == one.case && entry.who == one.who)
    };
    series.sort_by_key(place);
    Ok(series)
}

/// The values of all cases of a contestant, round by round.
pub(super) fn total(series: &[Series], who: &'static str, metric: Metric) -> Series {
    let own = series.iter().filter(|one| one.who == who && one.metric == metric);
    let own = own.collect::<Vec<_>>();
    let rounds = own.iter().map(|one| one.values.len()).min().unwrap_or(0);
    let of_round = |round: usize| own.iter().map(|one| one.values[round]).sum();
    let values = (0..rounds).map(of_round).collect();
    Series { case: TOTAL.to_owned(), who, metric, values }
}

fn note(series: &mut Vec<Series>, entry: &Entry<'_>, measured: Measured) {
    for (metric, value) in measured {
        let known = series.iter_mut().find(|series| {
            series.case == entry.case && series.who == entry.who && series.metric == metric
        });
        match known {
            Some(known) => known.values.push(value),
            None => series.push(Series {
                case: entry.case.clone(),
                who: entry.who,
                metric,
                values: vec![value],
            }),
        }
    }
}

fn named(entry: &Entry<'_>, failure: Failure) -> Failure {
    match failure {
        Failure::Message(message) => {
            Failure::Message(format!("{}, {}: {message}", entry.case, entry.who))
        }
        other => other,
    }
}

/// Draws a new order.
pub(super) fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let pick = usize::try_from(random.below(last as u64 + 1)).expect("a place in memory");
        order.swap(last, pick);
    }
}
