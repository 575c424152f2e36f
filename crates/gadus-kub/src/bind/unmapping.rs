//! A part of a file used and given up again, while other threads of the process run: every processor that has one of
//! them must be told when pages go, by unmapping or by `MADV_DONTNEED`.
//!
//! - As many threads as there are processors, at most, by powers of two; the measured one is among them.
//! - A share of the pages is changed before they are given up. Whoever reads into a buffer writes those back: all leave
//!   the same bytes in the kernel's cache.

use super::files::{Cached, make, open_with, prepare, read_whole, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Stopwatch};
use crate::numbers::{powers_of_two, size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task, processors, stay_on};
use crate::system::{MapHow, Mapping};
use gadus_base::spawn;
use rustix::fs::OFlags;
use rustix::mm::Advice;
use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

pub(super) const BYTES: u64 = 256 << 10;
const PAGE_BYTES: usize = 4 << 10;

/// A thread on each of some processors, which run until this is dropped.
struct Running {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// How many threads, and the percentage of pages that is changed.
type Question = (usize, usize);

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let task = |(threads, changed): Question| {
        let others = match threads {
            1 => "alone".to_owned(),
            2 => "beside a running thread".to_owned(),
            threads => format!("beside {} running threads", threads - 1),
        };
        let changed_too =
            if changed == 0 { String::new() } else { format!(", {changed} % changed") };
        Task::new(
            Benchmark::Bind,
            format!("unmapping {others}{changed_too}"),
            move |harness, place| measure(harness, place, threads, changed),
        )
    };
    questions(budget, processors().len()).into_iter().map(task).collect()
}

/// Two threads are asked for everywhere: where there is one processor, that is named.
pub(super) fn questions(budget: Budget, processors: usize) -> Vec<Question> {
    let all = powers_of_two(processors.max(2));
    let shares: &[usize] = match budget {
        Budget::Quick => return vec![(1, 0), (2, 0)],
        Budget::Usual => &[0, 100],
        Budget::Thorough => &[0, 1, 10, 50, 100],
    };
    // In the usual time what is changed is asked for without others and with all of them.
    let ends = [all.first().copied(), all.last().copied()];
    let is_asked = |(threads, changed): &Question| {
        *changed == 0 || budget == Budget::Thorough || ends.contains(&Some(*threads))
    };
    let all = all.iter().flat_map(|threads| shares.iter().map(|changed| (*threads, *changed)));
    all.filter(is_asked).collect()
}

fn measure(
    harness: &mut Harness<'_>,
    place: &Place,
    threads: usize,
    changed: usize,
) -> Result<(), KubError> {
    place.stay_here()?;
    let Some(others) = place.others.get(..threads - 1) else {
        let there = place.others.len() + 1;
        return Err(KubError::unavailable(format!("there are fewer processors: {there}")));
    };
    let _running = Running::start(others)?;
    let file = |name: &str| warm(&place.folder.join(format!("given-up-{name}")));
    let (read, mapped, kept) = (file("read")?, file("mapped")?, file("kept")?);
    let contest =
        Contest::new(Benchmark::Bind, Origin::Modern, "use a part of a file and give it up")
            .with("bytes", BYTES)
            .with("other_threads", others.len())
            .with("changed_percent", changed)
            .user("read into a buffer", by_buffer(&read, changed))
            .kernel("mapped and unmapped", by_mapping(&mapped, changed))
            .kernel("mapped for good, MADV_DONTNEED", by_giving_up(&kept, changed));
    harness.measure(contest)
}

/// A file of the part's size that the kernel has in memory.
pub(super) fn warm(path: &Path) -> Result<OwnedFd, KubError> {
    make(path, BYTES)?;
    prepare(path, Cached::Warm, BYTES)?;
    open_with(path, OFlags::empty())
}

/// The pages that are changed, as far apart as they can be: those of a table that somebody has changed are, too.
fn changed_pages(percent: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let pages = size(BYTES) / PAGE_BYTES;
    let count = if percent == 0 { 0 } else { (pages * percent / 100).max(1) };
    (0..count).map(move |number| {
        let first = number * pages / count * PAGE_BYTES;
        first..first + PAGE_BYTES
    })
}

pub(super) fn by_buffer(
    file: &OwnedFd,
    changed: usize,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut buffer = vec![0; size(BYTES)];
    move |times, _| {
        (0..times).try_for_each(|_| {
            read_whole(file, &mut buffer, 0)?;
            black_box(sum_of(&buffer));
            changed_pages(changed).try_for_each(|page| {
                let (at, page) = (page.start as u64, &mut buffer[page]);
                page.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                write_whole(file, page, at)
            })
        })
    }
}

pub(super) fn by_mapping(
    file: &OwnedFd,
    changed: usize,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    move |times, watch| {
        (0..times).try_for_each(|_| {
            let map = || Mapping::of_file(file.as_fd(), size(BYTES), MapHow::Plain);
            let mut mapping = watch.step("map", map)?;
            watch.step("touch", || touch(&mut mapping, changed));
            watch.step("unmap", || drop(mapping));
            Ok(())
        })
    }
}

pub(super) fn by_giving_up(
    file: &OwnedFd,
    changed: usize,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut kept = None;
    move |times, watch| {
        let mapping = match &mut kept {
            Some(mapping) => mapping,
            none => none.insert(
                watch.untimed(|| Mapping::of_file(file.as_fd(), size(BYTES), MapHow::Plain))?,
            ),
        };
        (0..times).try_for_each(|_| {
            watch.step("touch", || touch(mapping, changed));
            watch.step("give up", || mapping.advise(Advice::LinuxDontNeed))
        })
    }
}

fn touch(mapping: &mut Mapping, changed: usize) {
    black_box(mapping.sum(0, size(BYTES)));
    changed_pages(changed).for_each(|page| mapping.increment(page.start, page.end));
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
