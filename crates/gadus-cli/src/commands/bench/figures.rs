//! Figures: medians, ratios with their spread, and how they are printed.
//!
//! - A ratio above 1 says that Gadus is better, whatever the unit: times and sizes are inverted.
//! - Bounds are the middle 95 % of the ratio's bootstrap: rounds drawn again, with replacement. Between
//!   builds of Gadus they are the lowest and the highest ratio of a round: each is a median already.

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

/// Name of a figure: its case and metric, and how values are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) case: String,
    pub(super) metric: String,
    pub(super) unit: String,
    pub(super) better: Better,
}

/// One line of a result.
#[derive(Debug)]
pub(super) struct Figure {
    label: Label,
    value: f64,
    peer: Option<PeerFigure>,
    rounds: usize,
}

#[derive(Debug)]
struct PeerFigure {
    name: String,
    value: f64,
    ratio: f64,
    low: f64,
    high: f64,
    bounds: Bounds,
}

/// Meaning of a ratio's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// The 95 % interval of the bootstrap.
    Bootstrap,
    /// The lowest and the highest ratio of a round.
    Rounds,
}

impl Better {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
        }
    }

    /// Parses what [`Better::name`] returns.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        [Self::Higher, Self::Lower].into_iter().find(|better| better.name() == name)
    }
}

impl Metric {
    pub(super) const fn higher(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Higher }
    }

    pub(super) const fn lower(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, better: Better::Lower }
    }

    fn label(self, case: &str) -> Label {
        let (metric, unit) = (self.name.to_owned(), self.unit.to_owned());
        Label { case: case.to_owned(), metric, unit, better: self.better }
    }
}

impl Figure {
    /// A figure that nobody else has.
    pub(super) fn alone(case: &str, metric: Metric, value: f64, rounds: usize) -> Self {
        Self { label: metric.label(case), value, peer: None, rounds }
    }

    /// A figure of this build that no other build has.
    pub(super) fn unmatched(label: Label, values: &[f64]) -> Self {
        Self { label, value: median(values), peer: None, rounds: values.len() }
    }

    /// A figure of this build and another; each pair is one round's.
    pub(super) fn between_builds(label: Label, build: &str, pairs: &[(f64, f64)]) -> Self {
        let better = label.better;
        let ratios = || pairs.iter().map(|&(own, peer)| ratio(own, peer, better));
        let (own, peer): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (value, peer_value) = (median(&own), median(&peer));
        let peer = PeerFigure {
            name: build.to_owned(),
            value: peer_value,
            ratio: ratio(value, peer_value, better),
            low: ratios().fold(f64::INFINITY, f64::min),
            high: ratios().fold(f64::NEG_INFINITY, f64::max),
            bounds: Bounds::Rounds,
        };
        Self { label, value, peer: Some(peer), rounds: pairs.len() }
    }

    pub(super) fn json(&self, bench: &str, quiet: bool) -> Value {
        let peer = self.peer.as_ref();
        json!({
            "bench": bench,
            "case": self.label.case,
            "metric": self.label.metric,
            "value": self.value,
            "unit": self.label.unit,
            "better": self.label.better.name(),
            "peer": peer.map(|peer| peer.name.as_str()),
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
        label: own.metric.label(&own.case),
        value: median(&own.values),
        peer: Some(PeerFigure {
            name: peer.who.to_owned(),
            value: median(&peer.values),
            ratio: ratio(median(&own.values), median(&peer.values), better),
            low,
            high,
            bounds: Bounds::Bootstrap,
        }),
        rounds: own.values.len(),
    }
}

fn ratio(own: f64, peer: f64, better: Better) -> f64 {
    match better {
        // Also of two zeros.
        _ if own == peer => 1.0,
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
    let is_between_builds = figures
        .iter()
        .any(|figure| figure.peer.as_ref().is_some_and(|peer| peer.bounds == Bounds::Rounds));
    let bounds = if is_between_builds { "lowest – highest" } else { "95 % of draws" };
    let columns = [
        ("case", column(&|figure| figure.label.case.clone())),
        ("metric", column(&|figure| figure.label.metric.replace('_', " "))),
        ("gadus", column(&|figure| shown(figure.value, &figure.label.unit))),
        ("peer", peer(&|_, peer| peer.name.clone())),
        ("its figure", peer(&|figure, peer| shown(peer.value, &figure.label.unit))),
        ("gadus is better by", peer(&|_, peer| format!("{:.2} ×", peer.ratio))),
        (bounds, peer(&|_, peer| format!("{:.2} – {:.2}", peer.low, peer.high))),
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
