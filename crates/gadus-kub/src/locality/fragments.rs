//! A file of 640 KiB in pieces of 4 KiB, and the same in one piece.

use super::modelled::Disk;
use crate::bind::files::{Cached, open_with, prepare, read_whole};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch};
use crate::numbers::sum_of;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Extent, extents_of};
use gadus_base::{ByteCount, checksum};
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fdatasync, fsync, open};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(super) const PIECE_BYTES: u64 = 4 << 10;
const PIECES: u64 = 160;
const FILE_BYTES: u64 = PIECES * PIECE_BYTES;

const KIB: u64 = 1 << 10;

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let (gaps, counts): (&[u64], &[u64]) = match budget {
        Budget::Quick => (&[64 * KIB], &[PIECES]),
        Budget::Usual => (&[4 * KIB, 64 * KIB, 1024 * KIB], &[PIECES]),
        Budget::Thorough => (
            &[4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB, 4096 * KIB],
            &[4, 16, 64, PIECES],
        ),
    };
    let mut tasks =
        vec![Task::new(Benchmark::Locality, "written by turns (Vasil 2003)", by_turns).once()];
    for gap in gaps.iter().copied() {
        for pieces in counts.iter().copied() {
            let name = format!("{pieces} pieces, gaps of {}", ByteCount(gap));
            tasks.push(Task::new(Benchmark::Locality, name, move |harness, place| {
                measure(harness, place, pieces, gap)
            }));
        }
    }
    tasks
}

/// As the paper did it: how many pieces that gives.
fn by_turns(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    for (what, gap, separate) in [
        ("one interfering file, gaps of 4 KiB", 4 * KIB, false),
        ("one interfering file, gaps of 64 KiB", 64 * KIB, false),
        ("separate interfering files, gaps of 4 KiB", 4 * KIB, true),
    ] {
        let create = |name: String| {
            File::create(place.folder.join(name)).or_refused("a file cannot be made")
        };
        let file = create("by-turns".to_owned())?;
        let (piece, other) =
            (vec![1; crate::numbers::size(PIECE_BYTES)], vec![2; crate::numbers::size(gap)]);
        let mut interfering = create("interfering".to_owned())?;
        for number in 0..PIECES {
            file.write_all_at(&piece, number * PIECE_BYTES).or_refused("a file")?;
            if separate {
                interfering = create(format!("interfering-{number}"))?;
            }
            let at = if separate { 0 } else { number * gap };
            interfering.write_all_at(&other, at).or_refused("a file")?;
        }
        file.sync_all().or_refused("fsync")?;
        let extents = extents_of(file.as_fd())?;
        let what = format!("640 KiB written by turns with {what}");
        harness.find(Benchmark::Locality, &what, format!("{} pieces", extents.len()));
        for number in 0..PIECES {
            let _ = std::fs::remove_file(place.folder.join(format!("interfering-{number}")));
        }
    }
    Ok(())
}

fn measure(
    harness: &mut Harness<'_>,
    place: &Place,
    pieces: u64,
    gap: u64,
) -> Result<(), KubError> {
    let whole = place.folder.join("in-one-piece");
    let parts = place.folder.join(format!("in-{pieces}-pieces"));
    let one = in_pieces(&whole, 1, 0)?;
    let many = in_pieces(&parts, pieces, gap)?;
    let name = format!("{pieces} pieces, gaps of {}", ByteCount(gap));
    let (of_one, of_many) = (Disk::USUAL.replay(&one), Disk::USUAL.replay(&many));
    let found = format!(
        "modelled, {}: {:.1} ms in one piece, {:.1} ms in {} pieces ({:.0} times)",
        Disk::USUAL,
        of_one.as_secs_f64() * 1e3,
        of_many.as_secs_f64() * 1e3,
        many.len(),
        of_many.as_secs_f64() / of_one.as_secs_f64(),
    );
    harness.find(Benchmark::Locality, &format!("a spinning disk, {name}"), found);
    let contest = Contest::new(Benchmark::Locality, Origin::Vasil2003, "scan 640 KiB, cold")
        .with("pieces", many.len())
        .with("gap_bytes", gap)
        .paper_found(
            "with gaps above 100 KB reading takes up to 800 times as long, on the disks of its day",
        )
        .repetitions(Repetitions::Calibrated(256))
        .user("in one piece", scan(whole))
        .kernel("in pieces", scan(parts.clone()));
    let done = harness.measure(contest);
    let _ = std::fs::remove_file(parts);
    done
}

/// Makes a file in pieces, and verifies that the file system has it so.
pub(super) fn in_pieces(path: &Path, pieces: u64, gap: u64) -> Result<Vec<Extent>, KubError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).or_refused("a file cannot be made")?;
    let piece_bytes = FILE_BYTES / pieces / PIECE_BYTES * PIECE_BYTES;
    let stride = piece_bytes + gap;
    // Space in one piece for all, of which the gaps are then taken out, the last first.
    fallocate(&file, FallocateFlags::empty(), 0, stride * pieces).or_refused("fallocate")?;
    let bytes = (0..piece_bytes).map(|at| (checksum(2, &at.to_le_bytes()) & 0xFF) as u8);
    let bytes = bytes.collect::<Vec<_>>();
    for number in 0..pieces {
        write(&file, &bytes, number * stride)?;
    }
    fsync(&file).or_refused("fsync")?;
    for number in (0..pieces).rev().filter(|_| gap > 0) {
        let at = number * stride + piece_bytes;
        // The file's end cannot be taken out, only cut off.
        let done = match number + 1 == pieces {
            true => rustix::fs::ftruncate(&file, at),
            false => fallocate(&file, FallocateFlags::COLLAPSE_RANGE, at, gap),
        };
        done.or_refused("a file cannot be put into pieces for certain")?;
    }
    fdatasync(&file).or_refused("fdatasync")?;
    let extents = extents_of(file.as_fd())?;
    let is_right = gap == 0 || extents.len() as u64 == pieces;
    match is_right {
        true => Ok(extents),
        false => Err(KubError::unavailable(format!(
            "the file system has {} pieces where {pieces} were made",
            extents.len()
        ))),
    }
}

fn write(file: &OwnedFd, bytes: &[u8], at: u64) -> Result<(), KubError> {
    crate::bind::files::write_whole(file, bytes, at)
}

/// Reads from beginning to end, a piece at a time, what the kernel was told to forget.
fn scan(path: PathBuf) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut piece = vec![0; crate::numbers::size(PIECE_BYTES)];
    let mut first = None;
    move |times, watch| {
        for _ in 0..times {
            watch.untimed(|| prepare(&path, Cached::Cold, 0))?;
            let file = open_with(&path, OFlags::empty())?;
            let length = rustix::fs::fstat(&file).or_refused("a file")?.st_size;
            let mut sum = 0_u64;
            for at in (0..u64::try_from(length).unwrap_or(0)).step_by(piece.len()) {
                read_whole(&file, &mut piece, at)?;
                sum = sum.wrapping_add(sum_of(&piece));
            }
            if *first.get_or_insert(sum) != sum {
                return Err(KubError::broken("other bytes were read"));
            }
        }
        Ok(())
    }
}
