//! Some pages of a file changed and flushed: through a mapping, or written from a pool.
//!
//! - The pool knows which pages it has changed; for a mapping the kernel finds out.

use super::files::{Cached, make, open_with, prepare, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::size;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{MapHow, Mapping};
use gadus_base::Random;
use rustix::fs::{OFlags, fdatasync};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 8 << 10;
const PAGES: u64 = 1024;
const FILE_BYTES: u64 = PAGES * PAGE_BYTES;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let shares: &[u64] = match budget {
        Budget::Quick => &[10],
        Budget::Usual => &[1, 10, 100],
        Budget::Thorough => &[1, 3, 10, 30, 100],
    };
    let task = |percent: u64| {
        let name = format!("{percent} % of a file's pages changed");
        Task::new(Benchmark::Bind, name, move |harness, place| measure(harness, place, percent))
    };
    shares.iter().copied().map(task).collect()
}

fn measure(harness: &mut Harness<'_>, place: &Place, percent: u64) -> Result<(), KubError> {
    let file = |name: &str| place.folder.join(format!("changed-{name}"));
    let contest = Contest::new(Benchmark::Bind, Origin::Modern, "change some pages and flush")
        .with("bytes", FILE_BYTES)
        .with("percent", percent)
        .repetitions(Repetitions::Calibrated(1 << 8))
        .user("written from a pool, fdatasync", from_pool(file("pool"), percent))
        .kernel("mapped, msync", by_mapping(file("mapped"), percent));
    harness.measure(contest)
}

/// Other pages each time, the same for all.
struct Pages {
    random: Random,
    count: u64,
}

impl Pages {
    fn of(percent: u64) -> Self {
        Self { random: Random::seeded(1), count: (PAGES * percent / 100).max(1) }
    }

    /// All of them, where all are to be changed.
    fn next(&mut self) -> Vec<u64> {
        match self.count == PAGES {
            true => (0..PAGES).collect(),
            false => (0..self.count).map(|_| self.random.below(PAGES)).collect(),
        }
    }
}

fn open_warm(path: &Path) -> Result<OwnedFd, KubError> {
    make(path, FILE_BYTES)?;
    prepare(path, Cached::Warm, FILE_BYTES)?;
    open_with(path, OFlags::empty())
}

fn from_pool(
    path: PathBuf,
    percent: u64,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let (mut pages, mut file) = (Pages::of(percent), None);
    let mut pool = vec![1_u8; size(FILE_BYTES)];
    move |times, watch| {
        let file = match &mut file {
            Some(file) => file,
            none => none.insert(watch.untimed(|| open_warm(&path))?),
        };
        for _ in 0..times {
            let changed = watch.untimed(|| pages.next());
            for page in changed {
                let frame = size(page * PAGE_BYTES)..size((page + 1) * PAGE_BYTES);
                let frame = &mut pool[frame];
                frame.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                write_whole(file, frame, page * PAGE_BYTES)?;
            }
            fdatasync(&*file).or_refused("fdatasync")?;
        }
        Ok(())
    }
}

fn by_mapping(
    path: PathBuf,
    percent: u64,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let (mut pages, mut mapping) = (Pages::of(percent), None);
    move |times, watch| {
        let map = || {
            let file = open_warm(&path)?;
            Mapping::of_file(file.as_fd(), size(FILE_BYTES), MapHow::Populate)
        };
        let mapping = match &mut mapping {
            Some(mapping) => mapping,
            none => none.insert(watch.untimed(map)?),
        };
        for _ in 0..times {
            let changed = watch.untimed(|| pages.next());
            for page in changed {
                mapping.increment(size(page * PAGE_BYTES), size((page + 1) * PAGE_BYTES));
            }
            mapping.flush(0, size(FILE_BYTES))?;
        }
        Ok(())
    }
}
