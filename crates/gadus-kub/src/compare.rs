//! Two reports, cell by cell: of two machines or kernels, or of the same one at two times.
//!
//! - A change is what the intervals of the medians have nothing in common about.

use crate::report::{Cell, Measured, Report};

/// Two reports side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What differs of the machines: what, in the first, in the second.
    pub machines: Vec<(String, String, String)>,
    /// What both have measured.
    pub changes: Vec<Change>,
    /// What only one has.
    pub only_first: Vec<String>,
    /// See `only_first`.
    pub only_second: Vec<String>,
    /// Whether both were quiet.
    pub quiet: bool,
}

/// One contestant of one cell, in both.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The cell and the contestant.
    pub what: String,
    /// The unit of both.
    pub unit: String,
    /// The medians.
    pub first: f64,
    /// See `first`.
    pub second: f64,
    /// Whether the intervals have nothing in common.
    pub is_certain: bool,
}

impl Comparison {
    /// The share of times whose intervals have something in common. Counts are left out: they are the same each time.
    #[must_use]
    pub fn overlapping(&self) -> f64 {
        let times = self.changes.iter().filter(|change| change.unit == "ns");
        let same = times.clone().filter(|change| !change.is_certain).count();
        crate::numbers::figure_of(same) / crate::numbers::figure_of(times.count())
    }
}

impl Change {
    /// How many times dearer it is in the second.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.second / self.first
    }
}

/// Compares what both have.
#[must_use]
pub fn compare(first: &Report, second: &Report) -> Comparison {
    let (ours, theirs) = (named(first), named(second));
    let of = |all: &[(String, &Cell, &Measured)], name: &String| {
        all.iter().position(|(known, ..)| known == name)
    };
    let change = |(name, cell, measured): &(String, &Cell, &Measured)| {
        let (_, _, other) = theirs[of(&theirs, name)?];
        let (here, there) = (&measured.summary, &other.summary);
        Some(Change {
            what: name.clone(),
            unit: cell.unit.clone(),
            first: here.median,
            second: there.median,
            is_certain: here.low > there.high || there.low > here.high,
        })
    };
    let missing = |ours: &[(String, &Cell, &Measured)], theirs: &[(String, &Cell, &Measured)]| {
        let names = ours.iter().map(|(name, ..)| name);
        names.filter(|name| of(theirs, name).is_none()).cloned().collect()
    };
    let differences = first.identity.differences(&second.identity).into_iter();
    Comparison {
        machines: differences.map(|(name, one, other)| (name.to_owned(), one, other)).collect(),
        changes: ours.iter().filter_map(change).collect(),
        only_first: missing(&ours, &theirs),
        only_second: missing(&theirs, &ours),
        quiet: first.quietness.quiet && second.quietness.quiet,
    }
}

/// Every contestant with a name that is the same in another report.
fn named(report: &Report) -> Vec<(String, &Cell, &Measured)> {
    let of_cell = |cell| {
        let cell: &Cell = cell;
        cell.measured.iter().map(move |measured| {
            let (benchmark, title) = (cell.benchmark.word(), cell.title());
            let name = format!("{benchmark}: {title} ({}): {}", cell.origin.word(), measured.who);
            (name, cell, measured)
        })
    };
    report.cells.iter().flat_map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Benchmark, Side, sample};

    fn report(call: f64, extra: Option<&str>) -> Report {
        let rounds = [call, call * 1.01, call * 0.99];
        let cell = |name: &str| {
            let call = ("call", Side::User, &rounds[..]);
            sample::cell(Benchmark::Schedule, name, &[], &[call])
        };
        sample::report([Some("switch"), extra].into_iter().flatten().map(cell).collect())
    }

    #[test]
    fn what_has_changed_is_told_from_what_has_not() {
        let comparison = compare(&report(10.0, None), &report(10.05, None));
        assert!(comparison.machines.is_empty() && comparison.quiet);
        assert!(!comparison.changes[0].is_certain);
        assert_eq!(comparison.overlapping(), 1.0);
        let comparison = compare(&report(10.0, None), &report(20.0, None));
        assert!(comparison.changes[0].is_certain);
        assert_eq!(comparison.changes[0].ratio(), 2.0);
        assert_eq!(comparison.overlapping(), 0.0);
    }

    #[test]
    fn what_only_one_has_and_what_differs_of_machines_is_named() {
        let mut second = report(10.0, Some("added"));
        second.identity.kernel = "7.0".to_owned();
        let comparison = compare(&report(10.0, Some("dropped")), &second);
        assert_eq!(
            comparison.machines,
            [("kernel".to_owned(), "6.18".to_owned(), "7.0".to_owned())]
        );
        assert_eq!(comparison.only_first, ["schedule: dropped (Vasil 2003): call"]);
        assert_eq!(comparison.only_second, ["schedule: added (Vasil 2003): call"]);
        assert_eq!(comparison.changes.len(), 1);
    }
}
