//! Ratios of a report, as criteria.

use super::{Criterion, Suitability};
use crate::report::{Benchmark, Cell, Measured, Report, Side};

/// Limits for what both sides do the same way: up to a quarter dearer is excellent, twice very good, ten times good.
pub(super) const USUAL: [f64; 3] = [1.25, 2.0, 10.0];

impl Criterion {
    /// Of two contestants of a cell.
    pub(super) fn between(
        what: impl Into<String>,
        kernel: &Measured,
        user: &Measured,
        cell: &Cell,
        limits: [f64; 3],
    ) -> Self {
        let ratio = kernel.ratio_to(user);
        let quiet = cell.quiet;
        Self::of(what, ratio.value, Some((ratio.low, ratio.high)), limits, quiet)
    }

    pub(super) fn of(
        what: impl Into<String>,
        ratio: f64,
        interval: Option<(f64, f64)>,
        limits: [f64; 3],
        quiet: bool,
    ) -> Self {
        let grade = Suitability::by(ratio, limits);
        let same = |end: f64| Suitability::by(end, limits) == grade;
        let is_certain = quiet && interval.is_none_or(|(low, high)| same(low) && same(high));
        Self { what: what.into(), ratio, interval, limits, grade, is_certain }
    }
}

/// The cheapest of the kernel beside the cheapest in user mode, in one cell.
pub(super) fn best_of_both(cell: &Cell, limits: [f64; 3]) -> Option<Criterion> {
    let (kernel, user) = (cell.best(Side::Kernel)?, cell.best(Side::User)?);
    let what = format!("{}: {} beside {}", cell.title(), kernel.who, user.who);
    Some(Criterion::between(what, kernel, user, cell, limits))
}

/// Two by their names, in one cell.
pub(super) fn named(cell: &Cell, kernel: &str, user: &str, limits: [f64; 3]) -> Option<Criterion> {
    let what = format!("{}: {kernel} beside {user}", cell.title());
    Some(Criterion::between(what, cell.by(kernel)?, cell.by(user)?, cell, limits))
}

/// The cells of a name, by the number that varies in them.
pub(super) fn by_number<'a>(
    report: &'a Report,
    benchmark: Benchmark,
    name: &str,
    number: &str,
    others: &[(&str, &str)],
) -> Vec<(u64, &'a Cell)> {
    let of_name = report.of(benchmark).filter(|cell| {
        cell.name == name
            && others.iter().all(|(variable, value)| cell.variable(variable) == Some(value))
    });
    let numbered = of_name.filter_map(|cell| Some((cell.variable(number)?.parse().ok()?, cell)));
    let mut numbered = numbered.collect::<Vec<_>>();
    numbered.sort_by_key(|(number, _)| *number);
    numbered
}
