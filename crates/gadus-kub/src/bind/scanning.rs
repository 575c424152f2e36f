//! A whole file, read once: by every way that a database has.

use super::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole};
use super::transferring::LateRing;
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{MapHow, Mapping, Ring};
use gadus_base::ByteCount;
use gadus_block::AlignedBuffer;
use rustix::fs::{Advice as FileAdvice, OFlags, fadvise};
use rustix::io::{ReadWriteFlags, preadv2};
use rustix::mm::Advice;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let sizes: &[u64] = match budget {
        Budget::Quick => &[16 * MIB],
        Budget::Usual => &[MIB, 64 * MIB],
        Budget::Thorough => &[64 << 10, MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB],
    };
    let mut tasks = Vec::new();
    for bytes in sizes.iter().copied() {
        for cached in [Cached::Warm, Cached::Cold] {
            let name = format!("{} scanned, {}", ByteCount(bytes), cached.word());
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
    let path = place.folder.join("scanned");
    make(&path, bytes)?;
    let scan = Scan::new(&path, bytes, cached)?;
    let buffered = OFlags::empty();
    let mut contest = Contest::new(Benchmark::Bind, Origin::Modern, "scan a file")
        .with("bytes", bytes)
        .with("cache", cached.word())
        .repetitions(Repetitions::Calibrated(1 << 10))
        .user("read, 64 KiB", scan.by(buffered, by_chunks()))
        .user("io_uring, 8 at a time", scan.by(buffered, by_ring(LateRing::new())))
        .user("io_uring, registered buffers", scan.by(buffered, by_ring(LateRing::registered())))
        .kernel("mapped", scan.by(buffered, by_mapping(MapHow::Plain, None)))
        .kernel("mapped, populated", scan.by(buffered, by_mapping(MapHow::Populate, None)))
        .kernel("mapped, huge pages", {
            scan.by(buffered, by_mapping(MapHow::Plain, Some(Advice::LinuxHugepage)))
        });
    if cached == Cached::Cold {
        contest = contest
            .user("read, leaving nothing in the cache", scan.by(buffered, by_uncached_chunks()))
            .user("read, all of it announced", scan.by(buffered, by_announced_chunks()))
            .kernel("mapped, all of it announced", {
                scan.by(buffered, by_mapping(MapHow::Plain, Some(Advice::WillNeed)))
            })
            .user("O_DIRECT, 64 KiB", scan.by(OFlags::DIRECT, by_chunks()))
            .user(
                "O_DIRECT, io_uring, 8 at a time",
                scan.by(OFlags::DIRECT, by_ring(LateRing::new())),
            );
    }
    let done = harness.measure(contest);
    let _ = std::fs::remove_file(&path);
    done
}

/// What is scanned, and the sum that must come out.
#[derive(Clone)]
struct Scan {
    path: PathBuf,
    bytes: u64,
    cached: Cached,
    sum: u64,
}

impl Scan {
    fn new(path: &Path, bytes: u64, cached: Cached) -> Result<Self, KubError> {
        let file = open_with(path, OFlags::empty())?;
        let sum = by_chunks()(&file, bytes)?;
        prepare(path, cached, bytes)?;
        Ok(Self { path: path.to_owned(), bytes, cached, sum })
    }

    /// Opens the file, reads it in some way, and checks what was read.
    fn by(
        &self,
        flags: OFlags,
        mut read: impl FnMut(&OwnedFd, u64) -> Result<u64, KubError>,
    ) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
        let scan = self.clone();
        move |times, watch| {
            for _ in 0..times {
                if scan.cached == Cached::Cold {
                    watch.untimed(|| prepare(&scan.path, scan.cached, scan.bytes))?;
                }
                let file = open_with(&scan.path, flags)?;
                if read(&file, scan.bytes)? != scan.sum {
                    return Err(KubError::broken("other bytes were read"));
                }
            }
            Ok(())
        }
    }
}

fn by_chunks() -> impl FnMut(&OwnedFd, u64) -> Result<u64, KubError> {
    let mut chunk = AlignedBuffer::zeroed(CHUNK_BYTES, 4096);
    move |file, bytes| {
        let mut sum = 0_u64;
        for at in (0..bytes).step_by(CHUNK_BYTES) {
            read_whole(file, &mut chunk, at)?;
            sum = sum.wrapping_add(sum_of(&chunk));
        }
        Ok(sum)
    }
}

/// By the kernel's cache, which forgets at once what was read.
fn by_uncached_chunks() -> impl FnMut(&OwnedFd, u64) -> Result<u64, KubError> {
    // RWF_DONTCACHE, since 6.14; the C library's headers are older.
    let uncached = ReadWriteFlags::from_bits_retain(0x80);
    let mut chunk = AlignedBuffer::zeroed(CHUNK_BYTES, 4096);
    move |file, bytes| {
        let mut sum = 0_u64;
        for at in (0..bytes).step_by(CHUNK_BYTES) {
            let read = preadv2(file, &mut [IoSliceMut::new(&mut chunk)], at, uncached);
            if read.or_refused("RWF_DONTCACHE")? != CHUNK_BYTES {
                return Err(KubError::broken("a file is shorter than it was made"));
            }
            sum = sum.wrapping_add(sum_of(&chunk));
        }
        Ok(sum)
    }
}

/// The kernel is told at first that all will be read.
fn by_announced_chunks() -> impl FnMut(&OwnedFd, u64) -> Result<u64, KubError> {
    let mut read = by_chunks();
    move |file, bytes| {
        fadvise(file, 0, None, FileAdvice::WillNeed).or_refused("fadvise")?;
        read(file, bytes)
    }
}

fn by_ring(mut ring: LateRing) -> impl FnMut(&OwnedFd, u64) -> Result<u64, KubError> {
    move |file, bytes| {
        let mut sum = 0_u64;
        let look = |ring: &Ring, buffer| sum = sum.wrapping_add(ring.sum(buffer));
        ring.get()?.read_all(file.as_fd(), bytes, look)?;
        Ok(sum)
    }
}

fn by_mapping(
    how: MapHow,
    advice: Option<Advice>,
) -> impl FnMut(&OwnedFd, u64) -> Result<u64, KubError> {
    move |file, bytes| {
        let mapping = Mapping::of_file(file.as_fd(), size(bytes), how)?;
        if let Some(advice) = advice {
            mapping.advise(advice)?;
        }
        Ok(mapping.sum(0, size(bytes)))
    }
}
