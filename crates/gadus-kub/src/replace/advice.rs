//! The paper's 24 tests: advice on a file of a megabyte, in 16 parts of 64 KiB, by reading or by a mapping.
//!
//! - The file is made, copied, and the original deleted, and what the kernel remembers of the copy is dropped.
//! - The same random offsets throughout. The paper flushes after every part, whether it was changed or only read, and
//!   so do its tests here: what that takes is told as a step of its own. It hides what advice does, since the device
//!   is told to flush also where nothing was changed; so reads are measured without it, too.

use crate::bind::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{MapHow, Mapping};
use gadus_base::Random;
use rustix::fs::{self, OFlags, fdatasync};
use rustix::mm;
use std::hint::black_box;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

const FILE_BYTES: u64 = 1 << 20;

/// What the kernel is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    Sequential,
    Random,
}

/// One of the paper's eight, each of which is told three things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) is_mapped: bool,
    pub(super) is_random: bool,
    pub(super) writes: bool,
    /// After every part.
    pub(super) flushes: bool,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (writes, flushes) in [(false, false), (false, true), (true, true)] {
        for is_random in [false, true] {
            for is_mapped in [false, true] {
                let access = Access { is_mapped, is_random, writes, flushes };
                // Flushes hide what advice does, and take long.
                if budget == Budget::Quick && (flushes || is_random) {
                    continue;
                }
                let papers = if flushes { " (Vasil 2003)" } else { ", without a flush" };
                let (by, order, what) = (access.by(), access.order(), access.what());
                let name = format!("advice: {by}, {order}, {what}{papers}");
                tasks.push(Task::new(Benchmark::Replace, name, move |harness, place| {
                    measure(harness, place, access)
                }));
            }
        }
    }
    tasks
}

impl Access {
    fn by(self) -> &'static str {
        if self.is_mapped { "mapped" } else { "read" }
    }

    fn order(self) -> &'static str {
        if self.is_random { "random" } else { "sequential" }
    }

    fn what(self) -> &'static str {
        if self.writes { "read and write" } else { "read" }
    }

    /// After a part: it is flushed where the test does so, as a step of its own.
    fn part_done(
        self,
        watch: &mut Stopwatch<'_>,
        flush: impl FnOnce() -> Result<(), KubError>,
    ) -> Result<(), KubError> {
        if self.flushes { watch.step("flush", flush) } else { Ok(()) }
    }
}

fn measure(harness: &mut Harness<'_>, place: &Place, access: Access) -> Result<(), KubError> {
    let told = |told| parts(place.folder.join(format!("advised-{told:?}")), access, told);
    let mut contest = match access.flushes {
        true => Contest::new(Benchmark::Replace, Origin::Vasil2003, "16 parts, each flushed")
            .paper_found(
                "mapped reads are about ten times as fast, and heed no advice; sequential advice helps reads by calls most; writes hide it all",
            ),
        false => Contest::new(Benchmark::Replace, Origin::Modern, "16 parts of a file"),
    };
    contest = contest
        .with("by", access.by())
        .with("order", access.order())
        .with("access", access.what())
        .repetitions(Repetitions::Calibrated(16))
        .kernel("no advice", told(Told::Nothing))
        .kernel("sequential", told(Told::Sequential))
        .kernel("random", told(Told::Random));
    harness.measure(contest)
}

pub(super) fn parts(
    path: PathBuf,
    access: Access,
    told: Told,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut order = (0..FILE_BYTES).step_by(CHUNK_BYTES).collect::<Vec<_>>();
    if access.is_random {
        let mut random = Random::seeded(1);
        for last in (1..order.len()).rev() {
            order.swap(last, size(random.below(last as u64 + 1)));
        }
    }
    move |times, watch| {
        for _ in 0..times {
            watch.untimed(|| make_anew(&path))?;
            match access.is_mapped {
                true => mapped(&path, &order, access, told, watch)?,
                false => read(&path, &order, access, told, watch)?,
            }
        }
        Ok(())
    }
}

fn make_anew(path: &Path) -> Result<(), KubError> {
    let original = path.with_extension("original");
    make(&original, FILE_BYTES)?;
    std::fs::copy(&original, path).or_refused("a file cannot be copied")?;
    std::fs::remove_file(&original).or_refused("a file cannot be removed")?;
    prepare(path, Cached::Cold, FILE_BYTES)
}

fn read(
    path: &Path,
    order: &[u64],
    access: Access,
    told: Told,
    watch: &mut Stopwatch<'_>,
) -> Result<(), KubError> {
    let file = open_with(path, OFlags::empty())?;
    let advice = match told {
        Told::Nothing => None,
        Told::Sequential => Some(fs::Advice::Sequential),
        Told::Random => Some(fs::Advice::Random),
    };
    if let Some(advice) = advice {
        fs::fadvise(&file, 0, None, advice).or_refused("fadvise")?;
    }
    let mut part = vec![0; CHUNK_BYTES];
    for at in order {
        read_whole(&file, &mut part, *at)?;
        black_box(sum_of(&part));
        if access.writes {
            part.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            write_whole(&file, &part, *at)?;
        }
        access.part_done(watch, || fdatasync(&file).or_refused("fdatasync"))?;
    }
    Ok(())
}

fn mapped(
    path: &Path,
    order: &[u64],
    access: Access,
    told: Told,
    watch: &mut Stopwatch<'_>,
) -> Result<(), KubError> {
    let file = open_with(path, OFlags::empty())?;
    let mut mapping = Mapping::of_file(file.as_fd(), size(FILE_BYTES), MapHow::Plain)?;
    let advice = match told {
        Told::Nothing => None,
        Told::Sequential => Some(mm::Advice::Sequential),
        Told::Random => Some(mm::Advice::Random),
    };
    if let Some(advice) = advice {
        mapping.advise(advice)?;
    }
    for at in order {
        let (from, to) = (size(*at), size(*at) + CHUNK_BYTES);
        black_box(mapping.sum(from, to));
        if access.writes {
            mapping.increment(from, to);
        }
        access.part_done(watch, || mapping.flush(from, to))?;
    }
    Ok(())
}
