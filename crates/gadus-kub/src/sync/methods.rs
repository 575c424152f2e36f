//! One record made durable, by each of the kernel's ways.

use crate::bind::files::on_a_device;
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Stopwatch, Work};
use crate::numbers::size;
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Operation, Ring, write_out};
use gadus_block::AlignedBuffer;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, fdatasync, fsync, ftruncate, open};
use rustix::io::{ReadWriteFlags, pwrite, pwritev2};
use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Records that a file holds before the next is written at its beginning, or into a file made empty again.
const RECORDS: u64 = 256;

/// What the file has where a record comes to lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Other bytes, written long ago.
    Overwritten,
    /// Nothing: the file grows.
    Appended,
    /// Space, to which nothing was written yet.
    Preallocated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    DataSync,
    Sync,
    OpenDataSync,
    WriteDataSync,
    DirectDataSync,
    LinkedRing,
    /// Not durable.
    WriteOut,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let (sizes, rooms): (&[usize], &[Room]) = match budget {
        Budget::Quick => (&[4096], &[Room::Overwritten, Room::Appended]),
        Budget::Usual => (&[4096], &[Room::Overwritten, Room::Appended, Room::Preallocated]),
        Budget::Thorough => {
            (&[4096, 16384, 65536], &[Room::Overwritten, Room::Appended, Room::Preallocated])
        }
    };
    let mut tasks = Vec::new();
    for bytes in sizes.iter().copied() {
        for room in rooms.iter().copied() {
            let name = format!("a record of {bytes} bytes made durable, {}", room.word());
            tasks.push(Task::new(Benchmark::Sync, name, move |harness, place| {
                durable(harness, place, bytes, room)
            }));
        }
    }
    tasks.push(Task::new(Benchmark::Sync, "a record written out", written_out));
    tasks.push(Task::new(Benchmark::Sync, "the device", device).once());
    tasks
}

impl Room {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Overwritten => "overwritten",
            Self::Appended => "appended",
            Self::Preallocated => "preallocated",
        }
    }
}

/// What all records of a cell of 4 KiB take.
pub(crate) const RECORDS_BYTES: u64 = RECORDS * 4096;

/// Of them the contestant that other tools are, too: records of 4 KiB, overwritten, each with fdatasync.
pub(crate) fn records_with_data_sync(folder: &Path) -> Work<'static> {
    let path = folder.join(file_name(Method::DataSync));
    Box::new(records(path, Method::DataSync, 4096, Room::Overwritten))
}

fn durable(
    harness: &mut Harness<'_>,
    place: &Place,
    bytes: usize,
    room: Room,
) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let method = |method| records(place.folder.join(file_name(method)), method, bytes, room);
    let seconds = 5;
    let contest = Contest::new(Benchmark::Sync, Origin::Modern, "a record made durable")
        .with("bytes", bytes)
        .with("room", room.word())
        .kernel("write, fdatasync", method(Method::DataSync))
        .kernel("write, fsync", method(Method::Sync))
        .kernel("write, O_DSYNC", method(Method::OpenDataSync))
        .kernel("write, RWF_DSYNC", method(Method::WriteDataSync))
        .kernel("write, O_DIRECT, O_DSYNC", method(Method::DirectDataSync))
        .kernel("io_uring, write linked to fdatasync", method(Method::LinkedRing));
    let contest = match room {
        Room::Overwritten => contest.equivalent(format!(
            "fio --name=durable --rw=write --bs={bytes} --size={} --overwrite=1 --fdatasync=1 \
             --time_based --runtime={seconds}",
            RECORDS * bytes as u64,
        )),
        _ => contest,
    };
    harness.measure(contest)
}

/// Alone, since it does less than the others.
fn written_out(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let path = place.folder.join(file_name(Method::WriteOut));
    let contest =
        Contest::new(Benchmark::Sync, Origin::Modern, "a record written out, not durable")
            .with("bytes", 4096)
            .with("room", Room::Overwritten.word())
            .kernel("sync_file_range", records(path, Method::WriteOut, 4096, Room::Overwritten));
    harness.measure(contest)
}

fn file_name(method: Method) -> String {
    format!("durable-{method:?}")
}

/// A file as a room has it.
pub(super) fn file_with(
    path: &Path,
    flags: OFlags,
    bytes: u64,
    room: Room,
) -> Result<OwnedFd, KubError> {
    let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::RUSR | Mode::WUSR).or_refused("a file")?;
    fill(&file, bytes, room).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })?;
    Ok(file)
}

fn fill(file: &OwnedFd, bytes: u64, room: Room) -> Result<(), KubError> {
    match room {
        Room::Appended => {}
        Room::Preallocated => {
            fallocate(file, FallocateFlags::empty(), 0, bytes).or_refused("fallocate")?;
        }
        Room::Overwritten => {
            // Aligned, for files that are opened for direct transfers.
            let buffer = AlignedBuffer::zeroed(size(bytes), 4096);
            let written = pwrite(file, &buffer, 0).or_refused("a file cannot be filled")?;
            if written as u64 != bytes {
                return Err(KubError::unavailable("a file cannot be filled"));
            }
        }
    }
    fsync(file).or_refused("fsync")
}

/// Writes records one after the other, each durable before the next.
fn records(
    path: std::path::PathBuf,
    method: Method,
    bytes: usize,
    room: Room,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut buffer = AlignedBuffer::zeroed(bytes, 4096);
    let all = RECORDS * bytes as u64;
    let mut open: Option<(OwnedFd, Option<Ring>)> = None;
    let mut record = 0_u64;
    move |times, watch| {
        let make = || {
            let flags = match method {
                Method::OpenDataSync => OFlags::DSYNC,
                Method::DirectDataSync => OFlags::DIRECT | OFlags::DSYNC,
                _ => OFlags::empty(),
            };
            let ring = (method == Method::LinkedRing).then(|| Ring::create(2, bytes, false));
            Ok::<_, KubError>((file_with(&path, flags, all, room)?, ring.transpose()?))
        };
        for _ in 0..times {
            if open.is_none() {
                open = Some(watch.untimed(make)?);
            }
            let (file, ring) = open.as_mut().ok_or_else(|| KubError::broken("no file"))?;
            let offset = record % RECORDS * bytes as u64;
            if record > 0 && offset == 0 && room != Room::Overwritten {
                // The room as it was at first.
                let empty = || ftruncate(&*file, 0).or_refused("a file cannot be made empty");
                watch.untimed(|| empty().and_then(|()| fill(file, all, room)))?;
            }
            record += 1;
            buffer[..8].copy_from_slice(&record.to_le_bytes());
            match ring {
                Some(ring) => {
                    watch.untimed(|| ring.increment(0));
                    let length = u32::try_from(bytes).unwrap_or(0);
                    let write = Operation::Write { buffer: 0, offset, bytes: length };
                    ring.run(file.as_fd(), &[write, Operation::DataSync])?;
                }
                None => write(file, &buffer, offset, method)?,
            }
        }
        Ok(())
    }
}

fn write(file: &OwnedFd, record: &[u8], offset: u64, method: Method) -> Result<(), KubError> {
    let written = match method {
        Method::WriteDataSync => {
            pwritev2(file, &[IoSlice::new(record)], offset, ReadWriteFlags::DSYNC)
        }
        _ => pwrite(file, record, offset),
    };
    if written.or_refused("a record cannot be written")? != record.len() {
        return Err(KubError::broken("half a record was written"));
    }
    match method {
        Method::DataSync => fdatasync(file).or_refused("fdatasync"),
        Method::Sync => fsync(file).or_refused("fsync"),
        Method::WriteOut => write_out(file.as_fd(), offset, record.len() as u64),
        Method::OpenDataSync
        | Method::WriteDataSync
        | Method::DirectDataSync
        | Method::LinkedRing => Ok(()),
    }
}

/// What the device and the file system say of themselves.
fn device(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    on_a_device(&place.folder)?;
    let path = place.folder.join("atomic");
    let file = file_with(&path, OFlags::empty(), 4096, Room::Overwritten)?;
    let identity = crate::report::Identity::of_this_machine(&place.folder);
    let name = identity.device.rsplit('/').next().unwrap_or_default();
    let cache = std::fs::read_to_string(format!("/sys/class/block/{name}/queue/write_cache"));
    let cache = cache.map_or("unknown".to_owned(), |text| text.trim().to_owned());
    harness.find(Benchmark::Sync, "write cache", cache);
    harness.find(Benchmark::Sync, "writes that are never torn", untorn(&file));
    Ok(())
}

fn untorn(file: &OwnedFd) -> String {
    use rustix::fs::{AtFlags, StatxFlags, statx};
    // The C library's headers are older than the flag.
    let asked = StatxFlags::from_bits_retain(0x0001_0000);
    match statx(file, "", AtFlags::EMPTY_PATH, asked) {
        Err(error) => format!("unknown: {error}"),
        Ok(facts) if facts.stx_mask & asked.bits() == 0 => "the kernel does not tell".to_owned(),
        Ok(facts) if facts.stx_atomic_write_unit_max == 0 => "none are promised".to_owned(),
        Ok(facts) => {
            let (least, most) = (facts.stx_atomic_write_unit_min, facts.stx_atomic_write_unit_max);
            format!("{least} to {most} bytes, with RWF_ATOMIC")
        }
    }
}
