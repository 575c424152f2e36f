//! Facts are what was measured, here.

use crate::report::sample;
use crate::{Benchmark, Cell, Origin, Side};
use gadus_machine::{FactValue, Facts};

fn report(quiet: bool) -> crate::Report {
    let variables = [("bytes", "4096"), ("room", "overwritten")];
    let rounds = [100_000.0, 110_000.0, 90_000.0];
    let contestants = [("write, fdatasync", Side::Kernel, &rounds[..])];
    let name = "a record made durable";
    let mut cell = sample::cell(Benchmark::Sync, name, &variables, &contestants);
    cell.quiet = quiet;
    sample::report(vec![cell])
}

#[test]
fn what_was_measured_is_a_fact_with_its_time_and_what_was_not_is_none() {
    let facts = report(true).facts();
    let sync = facts.get("kernel", "sync of a record").unwrap();
    assert_eq!(sync.value, FactValue::Number(100_000.0));
    assert_eq!((sync.seconds, sync.unit.as_str()), (1_000_000_000, "ns"));
    assert!((sync.confidence - 0.9).abs() < 1e-9, "{}", sync.confidence);
    assert_eq!(facts.get("kernel", "system call"), None);
    let loud = report(false).facts();
    assert!((loud.get("kernel", "sync of a record").unwrap().confidence - 0.45).abs() < 1e-9);
}

#[test]
fn facts_are_files_as_all_facts_are() {
    let facts = report(true).facts();
    let read = Facts::from_json(&facts.to_json().to_string(), "f.json").unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), facts.iter().collect::<Vec<_>>());
}

#[test]
fn facts_of_another_machine_are_refused_with_what_differs() {
    let report = report(true);
    assert!(report.facts_of(&report.identity).is_ok());
    let mut newer = report.identity.clone();
    newer.kernel = "7.0".to_owned();
    let refused = report.facts_of(&newer).unwrap_err().to_string();
    assert!(refused.ends_with("another machine: kernel is 7.0 here and 6.18 there"), "{refused}");
}

/// Each way of the largest scan by its time for a MiB, and each message's by its size.
#[test]
fn ways_to_read_and_to_send_are_facts() {
    let scans = [("1048576", 9e5), ("2097152", 1e6)].map(|(bytes, time)| {
        let variables = [("bytes", bytes), ("cache", "cold")];
        let rounds = [time; 3];
        let contestants = [("mapped", Side::Kernel, &rounds[..])];
        modern(sample::cell(Benchmark::Bind, "scan a file", &variables, &contestants))
    });
    let rounds = [7000.0; 3];
    let variables = [("bytes", "64"), ("processor", "other")];
    let contestants = [("pipe", Side::Kernel, &rounds[..])];
    let echo = modern(sample::cell(Benchmark::Message, "echo", &variables, &contestants));
    let facts = sample::report(scans.into_iter().chain([echo]).collect()).facts();
    let value =
        |name: &str| facts.get("kernel", name).map(|fact| (fact.value.clone(), fact.unit.clone()));
    assert_eq!(value("cold scan by mapped"), Some((FactValue::Number(5e5), "ns/MiB".to_owned())));
    let sent = value("message of 64 bytes by pipe");
    assert_eq!(sent, Some((FactValue::Number(7000.0), "ns".to_owned())));
}

/// What databases decide by how soon another thread is there: by the cell and the contestant that are meant.
#[test]
fn times_of_switches_and_of_threads_are_facts() {
    let cell = |name: &str, processor: &str, contestants: [(&str, f64); 2]| {
        let rounds = contestants.map(|(_, time)| [time; 3]);
        let contestants = [0, 1].map(|at| (contestants[at].0, Side::Kernel, &rounds[at][..]));
        let variables = [("processor", processor)];
        modern(sample::cell(Benchmark::Schedule, name, &variables, &contestants))
    };
    let facts = sample::report(vec![
        cell("switch", "same", [("threads, futex", 900.0), ("threads, pipe", 1_500.0)]),
        cell("switch", "other", [("threads, futex", 9_000.0), ("threads, pipe", 12_000.0)]),
        cell("make, run once, end", "same", [("process", 90_000.0), ("thread", 25_000.0)]),
    ]);
    let facts = facts.facts();
    for (name, time) in [
        ("switch on one processor", 900.0),
        ("wake-up on another processor", 9_000.0),
        ("thread made and ended", 25_000.0),
    ] {
        let fact = facts.get("kernel", name).unwrap();
        assert_eq!((&fact.value, fact.unit.as_str()), (&FactValue::Number(time), "ns"), "{name}");
    }
}

fn modern(cell: Cell) -> Cell {
    Cell { origin: Origin::Modern, ..cell }
}
