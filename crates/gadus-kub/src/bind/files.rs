//! Files that are mapped and read.

use crate::error::{KubError, Refused};
use gadus_base::checksum;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fsync, open};
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

/// Makes a file whose bytes are all different enough, and has it on the disk.
pub(crate) fn make(path: &Path, bytes: u64) -> Result<(), KubError> {
    let file = File::create(path).or_refused("a file cannot be made")?;
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

/// Has the kernel forget a file, or have it.
pub(crate) fn prepare(path: &Path, cached: Cached, bytes: u64) -> Result<(), KubError> {
    let file = open_with(path, OFlags::empty())?;
    match cached {
        Cached::Cold => {
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
