//! Matches the figures of builds by case and metric, and pairs their values round by round.

use super::super::figures::{Figure, Label};
use super::turn::{Report, Reported};

/// Figures of this build beside those of others.
#[derive(Debug)]
pub(super) struct Matched {
    pub(super) figures: Vec<Figure>,
    /// Figures that a build lacks, as messages.
    pub(super) gaps: Vec<String>,
}

/// Matches the reports of this build with those of others, which have names.
pub(super) fn matched(own: &[Report], builds: &[(String, Vec<Report>)]) -> Matched {
    let mut matched = Matched { figures: Vec::new(), gaps: Vec::new() };
    for figure in distinct(own) {
        let Some(better) = figure.better else {
            matched.gaps.push(format!("gadus: no direction for {}", named(figure)));
            continue;
        };
        let (case, metric) = (figure.case.clone(), figure.metric.clone());
        let label = Label { case, metric, unit: figure.unit.clone(), better };
        let before = matched.figures.len();
        for (name, reports) in builds {
            let pairs = pairs(own, reports, figure);
            if pairs.len() < own.len().min(reports.len()) {
                matched.gaps.push(gap(name, reports, figure, (pairs.len(), own.len())));
            }
            if !pairs.is_empty() {
                matched.figures.push(Figure::between_builds(label.clone(), name, &pairs));
            }
        }
        if matched.figures.len() == before {
            let values = own.iter().filter_map(|report| report.find(figure));
            let values = values.map(|own| own.value).collect::<Vec<_>>();
            matched.figures.push(Figure::unmatched(label, &values));
        }
    }
    for (name, reports) in builds {
        let is_own = |figure: &&Reported| own.iter().any(|report| report.find(figure).is_some());
        let unknown = distinct(reports).into_iter().filter(|figure| !is_own(figure));
        let lines = unknown.map(|figure| format!("gadus: no {}, which {name} has", named(figure)));
        matched.gaps.extend(lines);
    }
    matched
}

impl Report {
    /// Finds the figure of the same case and metric; with several peers, one line each has it.
    fn find(&self, other: &Reported) -> Option<&Reported> {
        self.figures.iter().find(|one| one.is_same(other))
    }
}

impl Reported {
    fn is_same(&self, other: &Self) -> bool {
        self.case == other.case && self.metric == other.metric
    }
}

/// Returns each figure once, in order of appearance.
fn distinct(reports: &[Report]) -> Vec<&Reported> {
    let mut figures: Vec<&Reported> = Vec::new();
    for figure in reports.iter().flat_map(|report| &report.figures) {
        if !figures.iter().any(|known| known.is_same(figure)) {
            figures.push(figure);
        }
    }
    figures
}

/// Returns the values of the rounds in which both have the figure, in the same unit.
fn pairs(own: &[Report], other: &[Report], figure: &Reported) -> Vec<(f64, f64)> {
    let pair = |(own, other): (&Report, &Report)| {
        let (own, other) = (own.find(figure)?, other.find(figure)?);
        (own.unit == other.unit).then_some((own.value, other.value))
    };
    own.iter().zip(other).filter_map(pair).collect()
}

/// Says why a build's figure cannot be compared in all rounds.
fn gap(
    name: &str,
    reports: &[Report],
    figure: &Reported,
    (paired, rounds): (usize, usize),
) -> String {
    let figure_name = named(figure);
    if paired > 0 {
        return format!("{name}: {figure_name} is compared in {paired} of {rounds} rounds");
    }
    match reports.iter().find_map(|report| report.find(figure)) {
        Some(other) if other.unit != figure.unit => {
            format!("{name}: {figure_name} is in \"{}\", not \"{}\"", other.unit, figure.unit)
        }
        Some(_) => format!("{name}: {figure_name} is in no round of both"),
        None => {
            let last = reports.last().map_or("", |report| report.last_message.as_str());
            format!("{name}: no {figure_name}; its last message: {last}")
        }
    }
}

fn named(figure: &Reported) -> String {
    format!("{} of \"{}\"", figure.metric, figure.case)
}
