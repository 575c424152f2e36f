//! What measuring itself costs: nothing is done, as often as anything else would be.

use crate::error::KubError;
use crate::harness::{Contest, Harness, Noise};
use crate::report::{Benchmark, Origin};
use crate::run::Task;
use crate::system::call_by_library;
use gadus_base::clock;
use std::hint::black_box;
use std::time::Duration;

/// What the paper's null benchmark took: 3 to 4 µs.
const PAPER: Duration = Duration::from_nanos(3_500);

pub(crate) fn tasks() -> Vec<Task> {
    vec![Task::new(Benchmark::Null, "nothing", |harness, _| nothing(harness))]
}

fn nothing(harness: &mut Harness<'_>) -> Result<(), KubError> {
    let contest = Contest::new(Benchmark::Null, Origin::Vasil2003, "nothing")
        .noise(Noise::Processor)
        .user("an empty loop", |times, _| {
            (0..times).for_each(|time| {
                black_box(time);
            });
            Ok(())
        })
        .user("a look at the clock", |times, _| {
            (0..times).for_each(|_| {
                black_box(clock().now());
            });
            Ok(())
        })
        .paper(PAPER)
        .kernel("a system call", |times, _| {
            (0..times).for_each(|_| {
                black_box(rustix::process::getppid());
            });
            Ok(())
        })
        .kernel("system call by the C library", |times, _| {
            (0..times).for_each(|_| {
                black_box(call_by_library());
            });
            Ok(())
        })
        .equivalent("perf bench syscall basic");
    harness.measure(contest)
}
