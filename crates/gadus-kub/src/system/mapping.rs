//! Mapped memory: of nobody's file, shared with children, or of a file.
//!
//! - Bytes are reached by methods that copy, count or add, and never handed out: others may change them at any time.
//! - What is added here and what is added of a buffer is added by the same code.

use crate::error::{KubError, Refused};
use crate::numbers::sum_of;
use rustix::mm::{self, Advice, MapFlags, MsyncFlags, ProtFlags};
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A range of mapped memory; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

/// How a file is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapHow {
    /// Page by page, as they are touched.
    Plain,
    /// All at once.
    Populate,
}

// SAFETY: the range belongs to this value, and is reached through atomics and copies.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// The size of a page.
pub(crate) fn page_bytes() -> usize {
    rustix::param::page_size()
}

impl Mapping {
    /// Memory that children share, zero at first.
    pub(crate) fn shared(bytes: usize) -> Result<Self, KubError> {
        Self::anonymous(bytes, MapFlags::SHARED)
    }

    /// Memory of this process alone, zero at first.
    pub(crate) fn private(bytes: usize) -> Result<Self, KubError> {
        Self::anonymous(bytes, MapFlags::PRIVATE)
    }

    /// Memory of this process alone, of at least so many bytes, that lies in huge pages from its beginning on.
    pub(crate) fn in_huge_pages(bytes: usize) -> Result<Self, KubError> {
        const SIZE: &str = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
        let size = std::fs::read_to_string(SIZE).or_refused(SIZE)?;
        let page = size.trim().parse::<usize>().ok().filter(|page| page.is_power_of_two());
        let page = page.ok_or_else(|| KubError::unavailable(format!("{SIZE}: no size")))?;
        let bytes = bytes.next_multiple_of(page);
        let mapping = Self::private(bytes + page)?.cut_to(page, bytes);
        mapping.advise(Advice::LinuxHugepage)?;
        for first in (0..bytes).step_by(page) {
            mapping.word(first / 4).store(1, Ordering::Relaxed);
        }
        if mapping.bytes_in_huge_pages()? < bytes {
            return Err(KubError::unavailable("the kernel gave no huge pages"));
        }
        Ok(mapping)
    }

    /// So many bytes of it, from the first multiple of an alignment on; the rest is given back.
    fn cut_to(self, alignment: usize, bytes: usize) -> Self {
        let whole = std::mem::ManuallyDrop::new(self);
        let (start, end) = (whole.base.as_ptr(), whole.bytes);
        let before = start.addr().next_multiple_of(alignment) - start.addr();
        assert!(before + bytes <= end, "within the mapping");
        let part = |from: usize, to: usize| {
            // SAFETY: within the mapping, of which nobody has this part any more.
            let _ = unsafe { mm::munmap(start.add(from).cast(), to - from) };
        };
        part(0, before);
        part(before + bytes, end);
        // SAFETY: within the mapping.
        Self { base: unsafe { whole.base.add(before) }, bytes }
    }

    /// What the kernel says of the range that this is in.
    fn bytes_in_huge_pages(&self) -> Result<usize, KubError> {
        const RANGES: &str = "/proc/self/smaps";
        let ranges = std::fs::read_to_string(RANGES).or_refused(RANGES)?;
        let address = self.base.as_ptr().addr();
        let is_here = |line: &&str| {
            let bounds = line.split_once(' ').and_then(|(bounds, _)| bounds.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            bounds.is_some_and(|(from, to)| {
                number(from).is_some_and(|from| from <= address)
                    && number(to).is_some_and(|to| address < to)
            })
        };
        let lines = ranges.lines().skip_while(|line| !is_here(line));
        let kibibytes = lines.filter_map(|line| line.strip_prefix("AnonHugePages:")).next();
        let kibibytes = kibibytes.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        Ok(kibibytes.unwrap_or(0_usize) * 1024)
    }

    fn anonymous(bytes: usize, flags: MapFlags) -> Result<Self, KubError> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses addresses that nobody uses.
        let base = unsafe { mm::mmap_anonymous(std::ptr::null_mut(), bytes, access, flags) };
        Self::of(base.or_refused("memory cannot be mapped")?, bytes)
    }

    /// The first bytes of a file, which is at least as long.
    pub(crate) fn of_file(
        file: BorrowedFd<'_>,
        bytes: usize,
        how: MapHow,
    ) -> Result<Self, KubError> {
        let flags = match how {
            MapHow::Plain => MapFlags::SHARED,
            MapHow::Populate => MapFlags::SHARED | MapFlags::POPULATE,
        };
        Self::at(file, 0, bytes, flags)
    }

    /// A part of what a descriptor stands for.
    pub(super) fn at(
        file: BorrowedFd<'_>,
        offset: u64,
        bytes: usize,
        flags: MapFlags,
    ) -> Result<Self, KubError> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses addresses that nobody uses.
        let base = unsafe { mm::mmap(std::ptr::null_mut(), bytes, access, flags, file, offset) };
        Self::of(base.or_refused("a file cannot be mapped")?, bytes)
    }

    fn of(base: *mut std::ffi::c_void, bytes: usize) -> Result<Self, KubError> {
        let base = NonNull::new(base.cast::<u8>());
        let base = base.ok_or_else(|| KubError::unavailable("the system mapped nothing"))?;
        Ok(Self { base, bytes })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it begins.
    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// A word of 32 bits by its place.
    pub(crate) fn word(&self, place: usize) -> &AtomicU32 {
        assert!((place + 1) * 4 <= self.bytes, "a word of the mapping");
        // SAFETY: within the mapping, aligned because pages are, and as long as `self`; any bits are a value.
        unsafe { &*self.base.as_ptr().cast::<AtomicU32>().add(place) }
    }

    /// Adds one to each byte from one place to another.
    pub(crate) fn increment(&mut self, from: usize, to: usize) {
        assert!(from <= to && to <= self.bytes, "within the mapping");
        // SAFETY: within the mapping. Files that are counted are in the run's own folder and mapped once, and other
        // memory is this value's: nobody else reads or writes these bytes while this one has them.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(from), to - from) };
        bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
    }

    /// Adds the words from one place to another.
    pub(crate) fn sum(&self, from: usize, to: usize) -> u64 {
        assert!(from <= to && to <= self.bytes, "within the mapping");
        // SAFETY: as above.
        sum_of(unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(from), to - from) })
    }

    /// Has what was written in a range put on the disk.
    pub(crate) fn flush(&self, from: usize, to: usize) -> Result<(), KubError> {
        assert!(from <= to && to <= self.bytes, "within the mapping");
        // SAFETY: within the mapping.
        let done =
            unsafe { mm::msync(self.base.as_ptr().add(from).cast(), to - from, MsyncFlags::SYNC) };
        done.or_refused("msync")
    }

    /// Tells the kernel how the mapping will be used.
    pub(crate) fn advise(&self, advice: Advice) -> Result<(), KubError> {
        // SAFETY: within the mapping; none of the advices that are given here loses what others expect to find in
        // a shared mapping of a file, and private memory is given up by its only user.
        let done = unsafe { mm::madvise(self.base.as_ptr().cast(), self.bytes, advice) };
        done.or_refused("madvise")
    }

    /// Keeps the pages in memory.
    pub(crate) fn keep_in_memory(&self) -> Result<(), KubError> {
        // SAFETY: within the mapping, and undone with it.
        unsafe { mm::mlock(self.base.as_ptr().cast(), self.bytes) }.or_refused("mlock")
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range belongs to this value.
        let _ = unsafe { mm::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}
