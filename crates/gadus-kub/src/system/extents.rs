//! Where a file lies on its device, as the file system tells.

use super::last_error;
use crate::error::{KubError, Refused};
use std::os::fd::{AsRawFd, BorrowedFd};

/// `_IOWR('f', 11, struct fiemap)`.
const FIEMAP: libc::c_ulong = 0xC020_660B;
const SYNC_FIRST: u32 = 1;
const LAST: u32 = 1;

/// Extents that are asked for at once.
const EXTENTS: usize = 512;

/// A part of a file that lies in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Where in the file.
    pub(crate) logical: u64,
    /// Where on the device.
    pub(crate) physical: u64,
    pub(crate) bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [RawExtent; EXTENTS],
}

/// The extents of a file, those that continue one another made one.
pub(crate) fn extents_of(file: BorrowedFd<'_>) -> Result<Vec<Extent>, KubError> {
    let mut found: Vec<Extent> = Vec::new();
    let mut start = 0;
    loop {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            flags: SYNC_FIRST,
            mapped_extents: 0,
            extent_count: u32::try_from(EXTENTS).unwrap_or(0),
            reserved: 0,
            extents: [RawExtent::default(); EXTENTS],
        };
        // SAFETY: the kernel reads the request, and writes at most as many extents as there is room for.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut request) };
        if done != 0 {
            return Err(last_error()).or_refused("the file system does not tell extents");
        }
        let count = (request.mapped_extents as usize).min(EXTENTS);
        for raw in &request.extents[..count] {
            let extent = Extent { logical: raw.logical, physical: raw.physical, bytes: raw.length };
            match found.last_mut() {
                Some(last) if last.is_continued_by(extent) => last.bytes += extent.bytes,
                _ => found.push(extent),
            }
            start = raw.logical + raw.length;
        }
        if count < EXTENTS || request.extents[count - 1].flags & LAST != 0 {
            return Ok(found);
        }
    }
}

impl Extent {
    fn is_continued_by(self, next: Self) -> bool {
        self.logical + self.bytes == next.logical && self.physical + self.bytes == next.physical
    }
}
