//! Files that are mapped and read.

use crate::error::{KubError, Refused};
use gadus_base::checksum;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open, statfs};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What the paper read and wrote at a time.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// Whether the kernel has the file in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cached {
    Cold,
    Warm,
}

impl Cached {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// Makes a file whose bytes are all different enough, and has it on the disk. What does not fit leaves its room to
/// others.
pub(crate) fn make(path: &Path, bytes: u64) -> Result<(), KubError> {
    let file = File::create(path).or_refused("a file cannot be made")?;
    fill(&file, bytes).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

fn fill(file: &File, bytes: u64) -> Result<(), KubError> {
    let mut chunk = vec![0_u8; CHUNK_BYTES];
    let mut at = 0;
    while at < bytes {
        for (place, word) in chunk.chunks_exact_mut(8).enumerate() {
            let number = at + place as u64;
            word.copy_from_slice(&checksum(1, &number.to_le_bytes()).to_le_bytes());
        }
        let length = chunk.len().min(crate::numbers::size(bytes - at));
        file.write_all_at(&chunk[..length], at).or_refused("a file cannot be filled")?;
        at += length as u64;
    }
    file.sync_all().or_refused("fsync")
}

pub(crate) fn open_with(path: &Path, flags: OFlags) -> Result<OwnedFd, KubError> {
    open(path, flags | OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).or_refused("a file")
}

/// Has the kernel forget a file, or have it. What lies in memory alone is never forgotten, and nobody's to be measured
/// as if it were.
pub(crate) fn prepare(path: &Path, cached: Cached, bytes: u64) -> Result<(), KubError> {
    let file = open_with(path, OFlags::empty())?;
    match cached {
        Cached::Cold => {
            on_a_device(path)?;
            fsync(&file).or_refused("fsync")?;
            fadvise(&file, 0, None, Advice::DontNeed).or_refused("fadvise")
        }
        Cached::Warm => {
            let mut chunk = vec![0; CHUNK_BYTES];
            for at in (0..bytes).step_by(CHUNK_BYTES) {
                rustix::io::pread(&file, &mut chunk, at).or_refused("a file cannot be read")?;
            }
            Ok(())
        }
    }
}

/// Whether files there have a device that they are read from and made durable on.
pub(crate) fn on_a_device(path: &Path) -> Result<(), KubError> {
    // As the kernel's magic.h has them.
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58F6;
    let facts = statfs(path).or_refused("the file system does not tell what it is")?;
    match facts.f_type.cast_unsigned() {
        TMPFS | RAMFS => {
            Err(KubError::unavailable("the file system keeps files in memory alone, on no device"))
        }
        _ => Ok(()),
    }
}

/// Reads a whole part of a file.
pub(crate) fn read_whole(file: &OwnedFd, chunk: &mut [u8], at: u64) -> Result<(), KubError> {
    match rustix::io::pread(file, &mut *chunk, at).or_refused("a file cannot be read")? {
        read if read == chunk.len() => Ok(()),
        _ => Err(KubError::broken("a file is shorter than it was made")),
    }
}

/// Writes a whole part of a file.
pub(crate) fn write_whole(file: &OwnedFd, chunk: &[u8], at: u64) -> Result<(), KubError> {
    match rustix::io::pwrite(file, chunk, at).or_refused("a file cannot be written")? {
        written if written == chunk.len() => Ok(()),
        _ => Err(KubError::unavailable("a file cannot be written whole")),
    }
}
