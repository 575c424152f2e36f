//! What is printed of a run.

use crate::failures::KnownFailures;
use crate::file::FileResult;
use std::collections::BTreeMap;

/// Failures that are printed, unless all are asked for.
const PRINTED_MAX: usize = 20;

/// A run beside what is known to fail.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    results: &'a [FileResult],
    /// Failures without a reason.
    unknown: Vec<(&'a str, u32, &'a str)>,
    /// Failures by their reason.
    reasons: BTreeMap<&'a str, usize>,
    /// Records that are known to fail, and passed.
    fixed: Vec<(&'a str, u32)>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(results: &'a [FileResult], known: &'a KnownFailures) -> Self {
        let (mut unknown, mut reasons, mut fixed) = (Vec::new(), BTreeMap::new(), Vec::new());
        for result in results {
            let name = result.name.as_str();
            for (line, error) in &result.failed {
                match known.reason(name, *line) {
                    Some(reason) => *reasons.entry(reason).or_default() += 1,
                    None => unknown.push((name, *line, error.as_str())),
                }
            }
            let passes = |line: &u32| result.reached(*line) && !result.failed.contains_key(line);
            fixed.extend(known.of_file(name).filter(passes).map(|line| (name, line)));
        }
        Self { results, unknown, reasons, fixed }
    }

    pub(crate) fn unknown(&self) -> usize {
        self.unknown.len()
    }

    pub(crate) fn fixed(&self) -> usize {
        self.fixed.len()
    }

    pub(crate) fn print(&self, is_verbose: bool) {
        let printed_max = if is_verbose { usize::MAX } else { PRINTED_MAX };
        for (file, line, error) in self.unknown.iter().take(printed_max) {
            println!("{file}:{line} fails: {}", error.trim_end());
        }
        if self.unknown.len() > printed_max {
            println!("… and {} more; --verbose prints all", self.unknown.len() - printed_max);
        }
        for (file, line) in self.fixed.iter().take(printed_max) {
            println!("{file}:{line} passes now: GADUS_REWRITE=1 takes it out of failures.txt");
        }
        let mut skipped = BTreeMap::new();
        for (condition, count) in self.results.iter().flat_map(|result| &result.skipped) {
            *skipped.entry(condition.as_str()).or_insert(0) += count;
        }
        for (condition, count) in skipped {
            println!("skipped {count:>6}: {condition}");
        }
        for (reason, count) in &self.reasons {
            println!("failed  {count:>6}: {reason}");
        }
        let passed = self.results.iter().map(|result| result.passed).sum::<usize>();
        let failed = self.results.iter().map(|result| result.failed.len()).sum::<usize>();
        let all = passed + failed;
        println!(
            "{all} records, {passed} passed, {failed} failed, {} of them not known",
            self.unknown()
        );
        let percent = 100.0 * passed as f64 / all.max(1) as f64;
        println!("pass rate: {percent:.2} %");
    }
}
