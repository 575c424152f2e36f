//! A whole file, brought into buffers past the kernel's cache, at which nobody looks: what the device and the way to it
//! give. What a scan takes on top of that is what looking takes.

use super::files::{CHUNK_BYTES, Cached, make, open_with, prepare, read_whole};
use crate::error::KubError;
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch, Work};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Mapping, Ring};
use gadus_base::ByteCount;
use gadus_block::AlignedBuffer;
use rustix::fs::OFlags;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Transfers that are under way together.
const DEPTH: u32 = 8;

/// What other tools transfer as well: a file of this size and name.
pub(crate) const TRANSFERRED_BYTES: u64 = 64 << 20;
pub(crate) const TRANSFERRED_FILE: &str = "transferred";

/// Buffers for them.
pub(crate) const TRANSFERS_BYTES: usize = CHUNK_BYTES * DEPTH as usize;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let bytes = match budget {
        Budget::Quick => 16 << 20,
        Budget::Usual | Budget::Thorough => TRANSFERRED_BYTES,
    };
    let name = format!("{} transferred past the cache", ByteCount(bytes));
    vec![Task::new(Benchmark::Bind, name, move |harness, place| measure(harness, place, bytes))]
}

/// The contestant that other tools are, too, with buffers in this memory. The file stays.
pub(crate) fn transfers_by_ring(
    folder: &Path,
    buffers: Mapping,
) -> Result<Work<'static>, KubError> {
    let path = folder.join(TRANSFERRED_FILE);
    make(&path, TRANSFERRED_BYTES)?;
    prepare(&path, Cached::Cold, TRANSFERRED_BYTES)?;
    let mut ring = Ring::over(buffers, DEPTH, CHUNK_BYTES, false)?;
    let bring = move |file: &OwnedFd, bytes| ring.read_all(file.as_fd(), bytes, |_, _| {});
    Ok(Box::new(transfers(path, TRANSFERRED_BYTES, bring)))
}

fn measure(harness: &mut Harness<'_>, place: &Place, bytes: u64) -> Result<(), KubError> {
    let path = place.folder.join(TRANSFERRED_FILE);
    make(&path, bytes)?;
    prepare(&path, Cached::Cold, bytes)?;
    let by = |ring| transfers(path.clone(), bytes, by_ring(ring));
    let contest = Contest::new(Benchmark::Bind, Origin::Modern, "transfer a file")
        .with("bytes", bytes)
        .repetitions(Repetitions::Calibrated(1 << 10))
        .user("O_DIRECT, 64 KiB", transfers(path.clone(), bytes, one_by_one()))
        .user("O_DIRECT, io_uring, 8 at a time", by(LateRing::new()))
        .user("O_DIRECT, io_uring, registered", by(LateRing::registered()))
        .user("O_DIRECT, io_uring, in huge pages", by(LateRing::in_huge_pages()))
        .equivalent(format!(
            "fio --name=scan --rw=read --bs=64k --size={bytes} --direct=1 --ioengine=io_uring \
             --iodepth={DEPTH} --loops=20, of the second"
        ));
    let done = harness.measure(contest);
    let _ = std::fs::remove_file(&path);
    done
}

/// Opens the file and has all of it brought.
fn transfers(
    path: PathBuf,
    bytes: u64,
    mut bring: impl FnMut(&OwnedFd, u64) -> Result<(), KubError>,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    move |times, _| {
        for _ in 0..times {
            bring(&open_with(&path, OFlags::DIRECT)?, bytes)?;
        }
        Ok(())
    }
}

fn one_by_one() -> impl FnMut(&OwnedFd, u64) -> Result<(), KubError> {
    let mut chunk = AlignedBuffer::zeroed(CHUNK_BYTES, 4096);
    move |file, bytes| {
        (0..bytes).step_by(CHUNK_BYTES).try_for_each(|at| read_whole(file, &mut chunk, at))
    }
}

fn by_ring(mut ring: LateRing) -> impl FnMut(&OwnedFd, u64) -> Result<(), KubError> {
    move |file, bytes| ring.get()?.read_all(file.as_fd(), bytes, |_, _| {})
}

/// A ring that is made when it is first needed, so that who may have none is the only one to miss it.
pub(super) struct LateRing {
    create: fn() -> Result<Ring, KubError>,
    ring: Option<Ring>,
}

impl LateRing {
    pub(super) fn new() -> Self {
        Self::by(|| Ring::create(DEPTH, CHUNK_BYTES, false))
    }

    /// Its buffers are known to the kernel in advance.
    pub(super) fn registered() -> Self {
        Self::by(|| Ring::create(DEPTH, CHUNK_BYTES, true))
    }

    /// Each of its buffers lies in one piece of physical memory.
    pub(super) fn in_huge_pages() -> Self {
        Self::by(|| Ring::over(Mapping::in_huge_pages(TRANSFERS_BYTES)?, DEPTH, CHUNK_BYTES, false))
    }

    fn by(create: fn() -> Result<Ring, KubError>) -> Self {
        Self { create, ring: None }
    }

    pub(super) fn get(&mut self) -> Result<&mut Ring, KubError> {
        Ok(match &mut self.ring {
            Some(ring) => ring,
            none => none.insert((self.create)()?),
        })
    }
}
