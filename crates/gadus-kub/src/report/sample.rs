//! A small report for the tests.

use super::{
    Benchmark, Cell, Finding, Identity, Measured, Origin, Parts, Report, Side, Skipped, Stopped,
};
use crate::harness::{Quietness, Ratio, Summary};

/// A cell of contestants and the figures of their rounds.
pub(crate) fn cell(
    benchmark: Benchmark,
    name: &str,
    variables: &[(&str, &str)],
    contestants: &[(&str, Side, &[f64])],
) -> Cell {
    let first = contestants[0].2;
    let measured = contestants.iter().enumerate().map(|(place, (who, side, rounds))| Measured {
        who: (*who).to_owned(),
        side: *side,
        rounds: rounds.to_vec(),
        sittings: vec![rounds.len()],
        parts: Parts::default(),
        summary: Summary::of(rounds),
        ratio: (place > 0).then(|| Ratio::of(rounds, first)),
        steps: vec![("open".to_owned(), Summary::of(&[1.0, 2.0, 3.0]))],
        counts: vec![("reads".to_owned(), Summary::of(&[10.0]))],
        user_ns: 1.5,
        system_ns: 0.5,
        voluntary_switches: 2.0,
        involuntary_switches: 1,
        minor_faults: 0.25,
        major_faults: 0,
        repetitions: 100,
        disturbed: 0.1,
        paper: (place > 0).then_some(1_000_000.0),
    });
    Cell {
        benchmark,
        origin: Origin::Vasil2003,
        name: name.to_owned(),
        variables: variables.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        unit: "ns".to_owned(),
        measured: measured.collect(),
        stopped: Stopped::Narrow,
        quiet: true,
        paper_found: Some("a thread costs ten fibers".to_owned()),
        equivalent: Some("perf bench sched pipe".to_owned()),
    }
}

/// A report of some cells.
pub(crate) fn report(cells: Vec<Cell>) -> Report {
    let text = |word: &str| word.to_owned();
    Report {
        identity: Identity {
            processor: text("A processor <1>"),
            processors: 2,
            kernel: text("6.18"),
            mitigations: text("none needed"),
            governor: text("unknown"),
            is_virtual: true,
            file_system: text("ext4"),
            device: text("/dev/vda"),
            read_ahead: text("128"),
        },
        budget: text("quick"),
        seconds: 1_000_000_000,
        took_seconds: 12.5,
        quietness: Quietness { quiet: true, others: 0.01, stolen: 0.0 },
        clock_cost_ns: 25.0,
        cells,
        findings: vec![Finding {
            benchmark: Benchmark::Sync,
            what: text("write cache"),
            found: text("write through"),
        }],
        skipped: vec![Skipped {
            benchmark: Benchmark::Bind,
            what: text("huge pages"),
            why: text("none are set aside"),
        }],
    }
}
