//! A file that grows by a megabyte before it is written to: what that costs now, and what at the first write.
//!
//! - All of them leave zeros, which is checked, and all are durable when the time stops.

use crate::bind::files::{read_whole, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::size;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fdatasync, ftruncate, open};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

const GROWTH_BYTES: u64 = 1 << 20;

/// What is written at a time, first.
const WRITE_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Truncate,
    Allocate,
    ZeroRange,
    Write,
}

pub(super) fn tasks() -> Vec<Task> {
    vec![Task::new(Benchmark::Locality, "growth", measure)]
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    let way = |way| grow(place.folder.join(format!("grown-{way:?}")), way);
    let contest =
        Contest::new(Benchmark::Locality, Origin::Modern, "grow by 1 MiB, then write there")
            .repetitions(Repetitions::Calibrated(64))
            .user("zeros written", way(Way::Write))
            .kernel("ftruncate", way(Way::Truncate))
            .kernel("fallocate", way(Way::Allocate))
            .kernel("FALLOC_FL_ZERO_RANGE", way(Way::ZeroRange));
    harness.measure(contest)
}

/// Makes a file longer, and has that kept.
pub(super) fn lengthen(file: &OwnedFd, way: Way) -> Result<(), KubError> {
    match way {
        Way::Truncate => ftruncate(file, GROWTH_BYTES).or_refused("ftruncate")?,
        Way::Allocate => {
            fallocate(file, FallocateFlags::empty(), 0, GROWTH_BYTES).or_refused("fallocate")?;
        }
        Way::ZeroRange => {
            fallocate(file, FallocateFlags::ZERO_RANGE, 0, GROWTH_BYTES)
                .or_refused("ZERO_RANGE")?;
        }
        Way::Write => {
            let zeros = vec![0; WRITE_BYTES];
            let mut offsets = (0..GROWTH_BYTES).step_by(WRITE_BYTES);
            offsets.try_for_each(|at| write_whole(file, &zeros, at))?;
        }
    }
    fdatasync(file).or_refused("fdatasync")
}

pub(super) fn create(path: &std::path::Path) -> Result<OwnedFd, KubError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    open(path, flags, Mode::RUSR | Mode::WUSR).or_refused("a file cannot be made")
}

pub(super) fn has_zeros(file: &OwnedFd) -> Result<bool, KubError> {
    let mut bytes = vec![1; size(GROWTH_BYTES)];
    read_whole(file, &mut bytes, 0)?;
    Ok(bytes.iter().all(|byte| *byte == 0))
}

fn grow(path: PathBuf, way: Way) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let written = vec![3; WRITE_BYTES];
    let mut is_checked = false;
    move |times, watch| {
        for _ in 0..times {
            let file = watch.untimed(|| create(&path))?;
            watch.step("grow", || lengthen(&file, way))?;
            // Once: to look brings the file's pages into memory, and what follows would be another's work.
            if !std::mem::replace(&mut is_checked, true) && !watch.untimed(|| has_zeros(&file))? {
                return Err(KubError::broken("what a file grew by is not zero"));
            }
            watch.step("first write", || {
                let mut offsets = (0..GROWTH_BYTES).step_by(WRITE_BYTES);
                offsets.try_for_each(|at| write_whole(&file, &written, at))?;
                fdatasync(&file).or_refused("fdatasync")
            })?;
        }
        Ok(())
    }
}
