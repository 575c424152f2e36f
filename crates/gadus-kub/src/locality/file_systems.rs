//! A raw device, and files of ext4, xfs and btrfs on the same: each a loop device of a file in the run's folder.
//!
//! - Everybody transfers past the kernel's cache, the same bytes in the same order, and reads back what was written.
//! - Mounts are the measuring thread's own and end with it; loop devices end with whoever has them open. So nothing
//!   stays behind, also where the run was killed.
//! - Whoever may not make such devices, has no tool to make a file system, or no kernel that knows it, is told so.

use crate::bind::files::{on_a_device, read_whole, write_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Repetitions, Stopwatch, Work};
use crate::numbers::{size, sum_of};
use crate::report::{Benchmark, Origin, Side};
use crate::run::{Place, Task};
use crate::system::{LoopDevice, Mount, OwnMounts, extents_of};
use gadus_base::{ByteCount, Random};
use gadus_block::AlignedBuffer;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fdatasync, open};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 8 * MIB;
const CHUNK_BYTES: u64 = 64 << 10;
const PAGE_BYTES: u64 = 4 << 10;

/// Pages of a file that are overwritten before it is scanned: a quarter of them.
const OVERWRITTEN: u64 = FILE_BYTES / PAGE_BYTES / 4;

/// Who takes part: the device itself, or a file system on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// What makes it, but for the device.
    tool: Option<(&'static str, &'static [&'static str])>,
    /// As much as its tool makes one of, at least.
    device_bytes: u64,
}

// Nothing of a file system is to be made later by the kernel, while it is measured.
pub(super) const ALL: [Kind; 4] = [
    Kind { name: "raw device", tool: None, device_bytes: 64 * MIB },
    Kind {
        name: "ext4",
        tool: Some((
            "mkfs.ext4",
            &["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
        )),
        device_bytes: 64 * MIB,
    },
    Kind { name: "xfs", tool: Some(("mkfs.xfs", &["-q", "-f", "-K"])), device_bytes: 320 * MIB },
    Kind {
        name: "btrfs",
        tool: Some(("mkfs.btrfs", &["-q", "-f", "-K"])),
        device_bytes: 128 * MIB,
    },
];

/// The bytes that are transferred: a file's, or the device's first ones.
pub(super) struct Bytes {
    // In this order: closed, unmounted, detached.
    pub(super) open: OwnedFd,
    _mount: Option<Mount>,
    _device: LoopDevice,
}

/// Bytes for who takes part, or why there are none.
type Prepared = (Kind, Result<Rc<Bytes>, KubError>);

pub(super) fn task() -> Task {
    Task::new(Benchmark::Locality, "a raw device and file systems on it", measure)
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let mounts = OwnMounts::take();
    let prepared = ALL.map(|kind| (kind, prepare(kind, &place.folder, &mounts).map(Rc::new)));
    if let [(_, Err(none)), ..] = &prepared {
        return Err(none.clone());
    }
    let contest = Contest::new(Benchmark::Locality, Origin::Vasil2003, "write a file, and read it")
        .with("bytes", FILE_BYTES)
        .paper_found("a raw partition is about 2 % faster than a file on it")
        .repetitions(Repetitions::Calibrated(64));
    harness.measure(all(contest, &prepared, rewrite))?;
    let contest = Contest::new(Benchmark::Locality, Origin::Modern, "a record made durable there")
        .with("bytes", PAGE_BYTES)
        .repetitions(Repetitions::Calibrated(256));
    harness.measure(all(contest, &prepared, records))?;
    for (kind, bytes) in &prepared {
        let Ok(bytes) = bytes else { continue };
        overwrite(&bytes.open)?;
        if let Ok(extents) = extents_of(bytes.open.as_fd()) {
            let file = ByteCount(FILE_BYTES);
            let what =
                format!("{file} with {OVERWRITTEN} pages overwritten at random, {}", kind.name);
            let found = format!("{} pieces", extents.len());
            harness.find(Benchmark::Locality, &what, found);
        }
    }
    let contest = Contest::new(Benchmark::Locality, Origin::Modern, "scan what was overwritten")
        .with("bytes", FILE_BYTES)
        .with("overwritten_pages", OVERWRITTEN)
        .repetitions(Repetitions::Calibrated(256));
    harness.measure(all(contest, &prepared, scan))
}

/// Everybody does the work on bytes of its own; who has none does not take part.
fn all<'a, W>(
    contest: Contest<'a>,
    prepared: &[Prepared],
    work: impl Fn(Rc<Bytes>) -> W,
) -> Contest<'a>
where
    W: FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> + 'a,
{
    prepared.iter().fold(contest, |contest, (kind, bytes)| {
        let side = if kind.tool.is_some() { Side::Kernel } else { Side::User };
        let work: Work<'a> = match bytes.clone() {
            Ok(bytes) => Box::new(work(bytes)),
            Err(error) => Box::new(move |_, _| Err(error.clone())),
        };
        match side {
            Side::Kernel => contest.kernel(kind.name, work),
            Side::User => contest.user(kind.name, work),
        }
    })
}

pub(super) fn prepare(
    kind: Kind,
    folder: &Path,
    mounts: &Result<OwnMounts, KubError>,
) -> Result<Bytes, KubError> {
    let path = folder.join(format!("device-{}", kind.name.replace(' ', "-")));
    let file = filled(&path, kind.device_bytes)?;
    if let Some((tool, arguments)) = kind.tool {
        make_file_system(tool, arguments, &path)?;
    }
    let device = LoopDevice::of_file(file.as_fd())?;
    // The device has it, and it is gone with that.
    std::fs::remove_file(&path).or_refused("a file cannot be removed")?;
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
    let (open, mount) = if kind.tool.is_none() {
        let open = open(device.path(), flags, Mode::empty());
        (open.or_refused("a raw device cannot be opened")?, None)
    } else {
        let mounts = mounts.as_ref().map_err(Clone::clone)?;
        let at = folder.join(format!("mounted-{}", kind.name));
        std::fs::create_dir(&at).or_refused("a folder to mount to")?;
        let mount = mounts.mount(device.path(), kind.name, &at)?;
        let open = open(at.join("file"), flags | OFlags::CREATE, Mode::RUSR | Mode::WUSR);
        (open.or_refused("a file cannot be made there")?, Some(mount))
    };
    let bytes = Bytes { open, _mount: mount, _device: device };
    if kind.tool.is_some() {
        let all = fallocate(&bytes.open, FallocateFlags::empty(), 0, FILE_BYTES);
        all.or_refused("fallocate")?;
    }
    Ok(bytes)
}

/// A file all of whose blocks are there: else the file system below would find room for them while others are measured.
fn filled(path: &Path, bytes: u64) -> Result<File, KubError> {
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).open(path);
    let file = file.or_refused("a file for a loop device")?;
    fallocate(&file, FallocateFlags::empty(), 0, bytes).or_refused("fallocate")?;
    let zeros = vec![0; size(MIB)];
    for at in (0..bytes).step_by(zeros.len()) {
        std::os::unix::fs::FileExt::write_all_at(&file, &zeros, at)
            .or_refused("a file for a loop device cannot be filled")?;
    }
    file.sync_all().or_refused("fsync")?;
    Ok(file)
}

fn make_file_system(tool: &str, arguments: &[&str], file: &Path) -> Result<(), KubError> {
    let program =
        found(tool).ok_or_else(|| KubError::unavailable(format!("{tool} is not installed")))?;
    let made = Command::new(program)
        .args(arguments)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output()
        .or_refused(tool)?;
    if made.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&made.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it has failed");
    Err(KubError::unavailable(format!("{tool}: {said}")))
}

/// Where a tool for administrators is: their folders are not in everybody's path.
fn found(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut folders = std::env::split_paths(&path).chain(usual);
    folders.find_map(|folder| Some(folder.join(tool)).filter(|file| file.is_file()))
}

/// Written from beginning to end, made durable, and read.
pub(super) fn rewrite(
    bytes: Rc<Bytes>,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut chunk = AlignedBuffer::zeroed(size(CHUNK_BYTES), size(PAGE_BYTES));
    let mut turn = 0_u8;
    move |times, watch| {
        (0..times).try_for_each(|_| {
            turn = turn.wrapping_add(1);
            watch.untimed(|| chunk.fill(turn));
            let mut offsets = (0..FILE_BYTES).step_by(size(CHUNK_BYTES));
            watch.step("write", || {
                offsets.try_for_each(|at| write_whole(&bytes.open, &chunk, at))
            })?;
            watch.step("flush", || fdatasync(&bytes.open).or_refused("fdatasync"))?;
            let expected = watch.untimed(|| sum_of(&chunk));
            let sum = watch.step("read", || read_all(&bytes.open, &mut chunk))?;
            match sum == expected.wrapping_mul(FILE_BYTES / CHUNK_BYTES) {
                true => Ok(()),
                false => Err(KubError::broken("other bytes were read than were written")),
            }
        })
    }
}

fn read_all(file: &OwnedFd, chunk: &mut AlignedBuffer) -> Result<u64, KubError> {
    let mut sum = 0_u64;
    for at in (0..FILE_BYTES).step_by(size(CHUNK_BYTES)) {
        read_whole(file, chunk, at)?;
        sum = sum.wrapping_add(sum_of(chunk));
    }
    Ok(sum)
}

/// A page after the other, each durable before the next.
fn records(bytes: Rc<Bytes>) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let page = AlignedBuffer::zeroed(size(PAGE_BYTES), size(PAGE_BYTES));
    let mut at = 0;
    move |times, _| {
        (0..times).try_for_each(|_| {
            write_whole(&bytes.open, &page, at)?;
            at = (at + PAGE_BYTES) % FILE_BYTES;
            fdatasync(&bytes.open).or_refused("fdatasync")
        })
    }
}

/// The same pages of each, some at a time durable: what is copied on write goes elsewhere each time.
pub(super) fn overwrite(file: &OwnedFd) -> Result<(), KubError> {
    const DURABLE_TOGETHER: u64 = 16;
    let (mut random, page) =
        (Random::seeded(1), AlignedBuffer::zeroed(size(PAGE_BYTES), size(PAGE_BYTES)));
    for number in 0..OVERWRITTEN {
        write_whole(file, &page, random.below(FILE_BYTES / PAGE_BYTES) * PAGE_BYTES)?;
        if (number + 1).is_multiple_of(DURABLE_TOGETHER) {
            fdatasync(file).or_refused("fdatasync")?;
        }
    }
    Ok(())
}

fn scan(bytes: Rc<Bytes>) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut chunk = AlignedBuffer::zeroed(size(CHUNK_BYTES), size(PAGE_BYTES));
    let mut first = None;
    move |times, _| {
        (0..times).try_for_each(|_| {
            let sum = read_all(&bytes.open, &mut chunk)?;
            match *first.get_or_insert(sum) == sum {
                true => Ok(()),
                false => Err(KubError::broken("other bytes were read")),
            }
        })
    }
}
