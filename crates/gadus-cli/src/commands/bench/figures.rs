//! Figures: medians, ratios with their spread, and how they are printed.
//!
//! - A ratio above 1 says that Gadus is better, whatever the unit: times and sizes are inverted.
//! - Bounds are the middle 95 % of the ratio's bootstrap: rounds drawn again, with replacement.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use gadus_base::Random;
use serde_json::{Value, json};

use super::rounds::Series;
use crate::failure::Failure;
use crate::terminal;

/// Draws of a bootstrap: enough for two digits of its bounds.
const DRAWS: usize = 2000;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
}

/// Which values are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// One line of a result.
#[derive(Debug)]
pub(super) struct Figure {
    case: String,
    metric: Metric,
    value: f64,
    peer: Option<PeerFigure>,
    rounds: usize,
}

#[derive(Debug)]
struct PeerFigure {
    name: &'static str,
    value: f64,
    ratio: f64,
    /// The bounds of the ratio's 95 % interval.
    low: f64,
    high: f64,
}

impl Metric {
    pub(super) const fn higher(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Higher }
    }

    pub(super) const fn lower(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Lower }
    }
}

impl Figure {
    /// A figure that nobody else has.
    pub(super) fn alone(case: &str, metric: Metric, value: f64, rounds: usize) -> Self {
        Self { case: case.to_owned(), metric, value, peer: None, rounds }
    }

    fn json(&self, bench: &str, quiet: bool) -> Value {
        let peer = self.peer.as_ref();
        json!({
            "bench": bench,
            "case": self.case,
            "metric": self.metric.name,
            "value": self.value,
            "unit": self.metric.unit,
            "peer": peer.map(|peer| peer.name),
            "peer_value": peer.map(|peer| peer.value),
            "ratio": peer.map(|peer| peer.ratio),
            "ratio_low": peer.map(|peer| peer.low),
            "ratio_high": peer.map(|peer| peer.high),
            "rounds": self.rounds,
            "quiet": quiet,
        })
    }
}

/// What was measured of Gadus, against each peer that has the same case and metric.
pub(super) fn figures(series: &[Series], gadus: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    for own in series.iter().filter(|series| series.who == gadus) {
        let peers = series.iter().filter(|other| {
            other.who != gadus && other.case == own.case && other.metric == own.metric
        });
        let before = figures.len();
        figures.extend(peers.map(|peer| compared(own, peer)));
        if figures.len() == before {
            let value = median(&own.values);
            figures.push(Figure::alone(&own.case, own.metric, value, own.values.len()));
        }
    }
    figures
}

fn compared(own: &Series, peer: &Series) -> Figure {
    let better = own.metric.better;
    let (low, high) = interval(&own.values, &peer.values, better);
    Figure {
        case: own.case.clone(),
        metric: own.metric,
        value: median(&own.values),
        peer: Some(PeerFigure {
            name: peer.who,
            value: median(&peer.values),
            ratio: ratio(median(&own.values), median(&peer.values), better),
            low,
            high,
        }),
        rounds: own.values.len(),
    }
}

fn ratio(own: f64, peer: f64, better: Better) -> f64 {
    match better {
        Better::Higher => own / peer,
        Better::Lower => peer / own,
    }
}

/// The middle value; the mean of the two middle ones of an even count.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// The bootstrap's middle 95 %: rounds are drawn whole, because what disturbs one disturbs both.
fn interval(own: &[f64], peer: &[f64], better: Better) -> (f64, f64) {
    let rounds = own.len().min(peer.len());
    let mut random = Random::seeded(1);
    let mut draw = || {
        let picks: Vec<usize> = (0..rounds)
            .map(|_| usize::try_from(random.below(rounds as u64)).expect("rounds fit memory"))
            .collect();
        let of = |values: &[f64]| median(&picks.iter().map(|&at| values[at]).collect::<Vec<_>>());
        ratio(of(own), of(peer), better)
    };
    let mut ratios: Vec<f64> = (0..DRAWS).map(|_| draw()).collect();
    ratios.sort_by(f64::total_cmp);
    (ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40])
}

/// Prints figures as a table, or as one JSON object a line.
pub(super) fn print(
    bench: &str,
    figures: &[Figure],
    quiet: bool,
    json: bool,
) -> Result<(), Failure> {
    if !json {
        return print_table(figures);
    }
    let mut output = io::stdout().lock();
    for figure in figures {
        writeln!(output, "{}", figure.json(bench, quiet))?;
    }
    Ok(())
}

fn print_table(figures: &[Figure]) -> Result<(), Failure> {
    let column = |cell: &dyn Fn(&Figure) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(figures.iter().map(cell)))
    };
    let peer = |cell: &dyn Fn(&Figure, &PeerFigure) -> String| {
        column(&|figure| figure.peer.as_ref().map_or(String::new(), |peer| cell(figure, peer)))
    };
    let columns = [
        ("case", column(&|figure| figure.case.clone())),
        ("metric", column(&|figure| figure.metric.name.replace('_', " "))),
        ("gadus", column(&|figure| shown(figure.value, figure.metric.unit))),
        ("peer", peer(&|_, peer| peer.name.to_owned())),
        ("its figure", peer(&|figure, peer| shown(peer.value, figure.metric.unit))),
        ("gadus is better by", peer(&|_, peer| format!("{:.2} ×", peer.ratio))),
        ("95 % of draws", peer(&|_, peer| format!("{:.2} – {:.2}", peer.low, peer.high))),
        ("rounds", column(&|figure| figure.rounds.to_string())),
    ];
    terminal::print_table(&[RecordBatch::try_from_iter(columns)?])
}

/// A value for people: three digits that matter, and a unit near it.
fn shown(value: f64, unit: &str) -> String {
    match unit {
        "s" if value < 1e-3 => format!("{:.0} µs", value * 1e6),
        "s" if value < 1.0 => format!("{:.1} ms", value * 1e3),
        "s" => format!("{value:.2} s"),
        "ms" if value < 10.0 => format!("{value:.2} ms"),
        "bytes" if value < 1e9 => format!("{:.1} MB", value / 1e6),
        "bytes" => format!("{:.2} GB", value / 1e9),
        "count" => format!("{value:.0}"),
        "" => format!("{value:.2}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests;
