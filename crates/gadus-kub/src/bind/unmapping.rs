//! A part of a file used and given up again, while other threads of the process run: every processor that has one of
//! them must be told when pages go, by unmapping or by `MADV_DONTNEED`.

use super::files::{Cached, make, open_with, prepare, read_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task, stay_on};
use crate::system::{MapHow, Mapping};
use gadus_base::spawn;
use rustix::fs::OFlags;
use rustix::mm::Advice;
use std::hint::{black_box, spin_loop};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

const BYTES: u64 = 256 << 10;

/// A thread on each of some processors, which run until this is dropped.
struct Running {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Beside how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nobody,
    One,
    /// One on every processor that is left, where that is more.
    All,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let beside: &[(Beside, &str)] = match budget {
        Budget::Quick | Budget::Usual => {
            &[(Beside::Nobody, "alone"), (Beside::One, "beside a running thread")]
        }
        Budget::Thorough => &[
            (Beside::Nobody, "alone"),
            (Beside::One, "beside a running thread"),
            (Beside::All, "beside a running thread on every other processor"),
        ],
    };
    let task = |(beside, name): &(Beside, &str)| {
        let (beside, name) = (*beside, format!("unmapping {name}"));
        Task::new(Benchmark::Bind, name, move |harness, place| measure(harness, place, beside))
    };
    beside.iter().map(task).collect()
}

fn measure(harness: &mut Harness<'_>, place: &Place, beside: Beside) -> Result<(), KubError> {
    place.stay_here()?;
    let cpus = match beside {
        Beside::Nobody => Vec::new(),
        Beside::One => vec![place.other()?],
        Beside::All if place.others.len() < 2 => {
            return Err(KubError::unavailable("there are only two processors"));
        }
        Beside::All => place.others.clone(),
    };
    let _running = Running::start(&cpus)?;
    let path = place.folder.join("unmapped");
    make(&path, BYTES)?;
    prepare(&path, Cached::Warm, BYTES)?;
    let file = open_with(&path, OFlags::empty())?;
    let mut kept = None;
    let mut buffer = vec![0; size(BYTES)];
    let contest =
        Contest::new(Benchmark::Bind, Origin::Modern, "use a part of a file and give it up")
            .with("bytes", BYTES)
            .with("other_threads", cpus.len())
            .user("read into a buffer", |times, _: &mut Stopwatch<'_>| {
                (0..times).try_for_each(|_| {
                    read_whole(&file, &mut buffer, 0)?;
                    black_box(sum_of(&buffer));
                    Ok(())
                })
            })
            .kernel("mapped and unmapped", |times, watch| {
                (0..times).try_for_each(|_| {
                    let map = || Mapping::of_file(file.as_fd(), size(BYTES), MapHow::Plain);
                    let mapping = watch.step("map", map)?;
                    watch.step("touch", || black_box(mapping.sum(0, size(BYTES))));
                    watch.step("unmap", || drop(mapping));
                    Ok(())
                })
            })
            .kernel("mapped for good, MADV_DONTNEED", |times, watch| {
                let mapping: &mut Mapping =
                    match &mut kept {
                        Some(mapping) => mapping,
                        none => none.insert(watch.untimed(|| {
                            Mapping::of_file(file.as_fd(), size(BYTES), MapHow::Plain)
                        })?),
                    };
                (0..times).try_for_each(|_| {
                    watch.step("touch", || black_box(mapping.sum(0, size(BYTES))));
                    watch.step("give up", || mapping.advise(Advice::LinuxDontNeed))
                })
            });
    harness.measure(contest)
}

impl Running {
    fn start(cpus: &[u32]) -> Result<Self, KubError> {
        let mut running = Self { is_over: Arc::default(), threads: Vec::new() };
        for cpu in cpus.iter().copied() {
            let is_over = running.is_over.clone();
            let run = move || {
                // Wherever it runs, it is not where the measured one is.
                let _ = stay_on(cpu);
                while !is_over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            };
            running.threads.push(spawn("kub running", run).or_refused("a thread")?);
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It does nothing that can fail.
            let _ = thread.join();
        }
    }
}
