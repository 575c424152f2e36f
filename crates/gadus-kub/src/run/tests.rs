//! A run of the cheapest benchmark.

use super::*;
use std::fs;

#[test]
fn a_run_leaves_nothing_behind_and_says_what_it_measured() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(folder.path()).budget(Budget::Quick).only([Benchmark::Null]);
    let mut told = Vec::new();
    let report = run(&settings, |progress| told.push(progress.clone())).unwrap();
    assert_eq!(report.cells.len(), 1);
    assert!(report.clock_cost_ns > 0.0 && report.took_seconds > 0.0);
    assert_eq!(told.last().map(|last| (last.done, last.all)), Some((1, 1)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_is_ended_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let cancelled = Arc::new(AtomicBool::new(true));
    let settings = Settings::new(folder.path()).cancelled(cancelled);
    assert_eq!(run(&settings, |_| {}).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_used_costs_what_needs_files_only() {
    let nowhere = Path::new("/proc/no such folder");
    let settings = Settings::new(nowhere).budget(Budget::Quick);
    let report = run(&settings.clone().only([Benchmark::Null, Benchmark::Sync]), |_| {}).unwrap();
    assert_eq!(report.cells.len(), 1);
    assert!(report.skipped.iter().all(|skipped| skipped.benchmark == Benchmark::Sync));
    assert!(!report.skipped.is_empty());
    let error = run(&settings.only([Benchmark::Sync]), |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("nothing could be measured:"), "{error}");
}
