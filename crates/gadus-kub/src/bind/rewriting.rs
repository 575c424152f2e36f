//! A whole file: opened, every byte incremented, read again, flushed, closed. The paper trusts the total alone.

use super::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{MapHow, Mapping};
use gadus_base::ByteCount;
use rustix::fs::{OFlags, fdatasync};
use std::hint::black_box;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let sizes: &[u64] = match budget {
        Budget::Quick => &[64 * KIB, 4 * MIB],
        Budget::Usual => &[64 * KIB, MIB, 16 * MIB],
        Budget::Thorough => {
            &[64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB]
        }
    };
    let caches: &[Cached] =
        if budget == Budget::Quick { &[Cached::Warm] } else { &[Cached::Warm, Cached::Cold] };
    let mut tasks = Vec::new();
    for bytes in sizes.iter().copied() {
        for cached in caches.iter().copied() {
            let name = format!("{} rewritten, {}", ByteCount(bytes), cached.word());
            tasks.push(Task::new(Benchmark::Bind, name, move |harness, place| {
                measure(harness, place, bytes, cached)
            }));
        }
    }
    tasks
}

fn measure(
    harness: &mut Harness<'_>,
    place: &Place,
    bytes: u64,
    cached: Cached,
) -> Result<(), KubError> {
    let file = |name: &str| place.folder.join(format!("rewritten-{name}"));
    let contest = Contest::new(Benchmark::Bind, Origin::Vasil2003, "rewrite a file")
        .with("bytes", bytes)
        .with("cache", cached.word())
        .paper_found(
            "to map takes the same time at any size, to unmap grows with the pages; the totals do not differ",
        )
        .repetitions(Repetitions::Calibrated(1 << 12))
        .user("read and write, 64 KiB", through_chunks(file("chunks"), bytes, cached, false))
        // As the paper opened its files.
        .user(
            "read and write, 64 KiB, write-through",
            through_chunks(file("through"), bytes, cached, true),
        )
        .kernel("mapped", through_mapping(file("mapped"), bytes, cached, MapHow::Plain))
        .kernel(
            "mapped, populated",
            through_mapping(file("populated"), bytes, cached, MapHow::Populate),
        );
    let done = harness.measure(contest);
    for name in ["chunks", "through", "mapped", "populated"] {
        // The largest are a gigabyte; what is left is removed with the folder.
        let _ = std::fs::remove_file(file(name));
    }
    done
}

/// A file that is rewritten again and again, and what its first word must be by now.
struct Rewritten {
    path: PathBuf,
    bytes: u64,
    cached: Cached,
    first: Option<u64>,
}

impl Rewritten {
    /// Makes the file, or has it as it is to be for the next time.
    fn prepare(&mut self) -> Result<(), KubError> {
        if self.first.is_none() {
            make(&self.path, self.bytes)?;
            self.first = Some(first_word(&self.path)?);
            prepare(&self.path, self.cached, self.bytes)?;
        } else if self.cached == Cached::Cold {
            prepare(&self.path, self.cached, self.bytes)?;
        }
        Ok(())
    }

    /// Every byte must be one more than before.
    fn check(&mut self) -> Result<(), KubError> {
        let expected = self
            .first
            .map(|first| u64::from_le_bytes(first.to_le_bytes().map(|byte| byte.wrapping_add(1))));
        let found = Some(first_word(&self.path)?);
        self.first = found;
        if found == expected { Ok(()) } else { Err(KubError::broken("the file was not rewritten")) }
    }
}

fn first_word(path: &Path) -> Result<u64, KubError> {
    let mut word = [0; 8];
    read_whole(&open_with(path, OFlags::empty())?, &mut word, 0)?;
    Ok(u64::from_le_bytes(word))
}

fn through_chunks(
    path: PathBuf,
    bytes: u64,
    cached: Cached,
    writes_through: bool,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let flags = if writes_through { OFlags::DSYNC } else { OFlags::empty() };
    let mut chunk = vec![0; CHUNK_BYTES.min(size(bytes))];
    let mut rewritten = Rewritten { path, bytes, cached, first: None };
    move |times, watch| {
        for _ in 0..times {
            watch.untimed(|| rewritten.prepare())?;
            let file = watch.step("open", || open_with(&rewritten.path, flags))?;
            let offsets = (0..bytes).step_by(chunk.len());
            watch.step("first touch", || {
                offsets.clone().try_for_each(|at| {
                    read_whole(&file, &mut chunk, at)?;
                    chunk.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
                    write_whole(&file, &chunk, at)
                })
            })?;
            watch.step("second touch", || {
                let mut sum = 0_u64;
                offsets.clone().try_for_each(|at| {
                    read_whole(&file, &mut chunk, at)?;
                    sum = sum.wrapping_add(sum_of(&chunk));
                    Ok(())
                })?;
                black_box(sum);
                Ok(())
            })?;
            watch.step("flush", || fdatasync(&file).or_refused("fdatasync"))?;
            watch.step("close", || drop(file));
            watch.untimed(|| rewritten.check())?;
        }
        Ok(())
    }
}

fn through_mapping(
    path: PathBuf,
    bytes: u64,
    cached: Cached,
    how: MapHow,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut rewritten = Rewritten { path, bytes, cached, first: None };
    let length = size(bytes);
    move |times, watch| {
        for _ in 0..times {
            watch.untimed(|| rewritten.prepare())?;
            let file = watch.step("open", || open_with(&rewritten.path, OFlags::empty()))?;
            let mut mapping = watch.step("map", || Mapping::of_file(file.as_fd(), length, how))?;
            watch.step("first touch", || mapping.increment(0, length));
            watch.step("second touch", || black_box(mapping.sum(0, length)));
            watch.step("flush", || mapping.flush(0, length))?;
            watch.step("unmap", || drop(mapping));
            watch.step("close", || drop(file));
            watch.untimed(|| rewritten.check())?;
        }
        Ok(())
    }
}
