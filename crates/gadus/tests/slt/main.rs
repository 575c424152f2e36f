//! The corpus of sqllogictest, through the public API.
//!
//! - Files are run beside each other, each on a database of its own; their records one after another.
//! - Without `--all` the first queries of each file are run, which takes a minute in a debug build.
//! - What fails stands in `failures.txt` with its reason; it may only shrink. A failure that does not
//!   stand there, and a record there that passes, fail the run. `GADUS_REWRITE=1` removes the latter.
//! - Arguments are parts of the names of files; without one all are run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail at any line, and this one prints its report itself"
)]

mod corpus;
mod engine;
mod failures;
mod file;
mod report;

use corpus::Corpus;
use failures::KnownFailures;
use file::{FileResult, run_file};
use parking_lot::Mutex;
use report::Report;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;

/// Queries of a file that are run without `--all`.
const QUERIES_OF_SUBSET: usize = 250;

/// What plans take of the stack in a build that is not optimised: some of the corpus need more than the two
/// megabytes that a thread has.
const STACK_BYTES: usize = 16 << 20;

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let is_all = arguments.iter().any(|argument| argument == "--all");
    let is_verbose = arguments.iter().any(|argument| argument == "--verbose");
    let wanted = arguments.into_iter().filter(|argument| !argument.starts_with('-'));
    let Some(corpus) = Corpus::find(&wanted.collect::<Vec<_>>()) else {
        return ExitCode::SUCCESS;
    };
    let known = KnownFailures::read();
    let queries_max = if is_all { usize::MAX } else { QUERIES_OF_SUBSET };
    let results = run_files(&corpus, queries_max);
    let report = Report::new(&results, &known);
    report.print(is_verbose);
    let (unknown, fixed) = (report.unknown(), report.fixed());
    if fixed > 0 && std::env::var_os("GADUS_REWRITE").is_some() {
        known.without(&results).write();
        return ExitCode::from(u8::from(unknown > 0));
    }
    ExitCode::from(u8::from(unknown + fixed > 0))
}

/// Runs the files of a corpus on as many threads as there are processors, the longest first.
fn run_files(corpus: &Corpus, queries_max: usize) -> Vec<FileResult> {
    let waiting = Arc::new(Mutex::new(corpus.files().iter().cloned().collect::<VecDeque<_>>()));
    let results = Arc::new(Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = (0..threads).map(|index| {
        let (waiting, results) = (waiting.clone(), results.clone());
        let work = move || {
            while let Some(file) = { waiting.lock().pop_front() } {
                let result = run_file(&file, queries_max);
                results.lock().push(result);
            }
        };
        let thread = std::thread::Builder::new().name(format!("slt-{index}"));
        thread.stack_size(STACK_BYTES).spawn(work).unwrap()
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.join().unwrap();
    }
    let mut results = std::mem::take(&mut *results.lock());
    results.sort_by(|left, right| left.name.cmp(&right.name));
    results
}
