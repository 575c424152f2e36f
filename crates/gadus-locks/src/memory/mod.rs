//! Memory that several processes map, each at an address of its own.
//!
//! - A reserved range of addresses, of which the front is mapped: it grows by extents of
//!   [`EXTENT_BYTES`], never moves and is never unmapped while anybody holds the [`Memory`], so a
//!   reference into it stays good.
//! - Pages are allocated before they are mapped, so a full file system is an error and no signal.
//! - A forked child has a copy: nothing that it does reaches the others.
//! - A file is locked by whoever uses it, from before its first byte is there; so a file that all its
//!   users were killed of is known for one that nobody uses ([`Memory::remove_unused`]).
//! - Every value in it is [`Shared`]: atomic, valid whatever its bytes are, zero at first.
//! - The module is the only one of the crate that names addresses.

#![allow(unsafe_code)]

mod futex;
mod mapped;
mod shared;
mod trust;
mod usage;

pub(crate) use futex::lower_half;
pub use futex::{wait_on, wake};
pub(crate) use mapped::Mapped;
pub use shared::{Offset, Shared};
pub use trust::Trust;

use crate::error::{MemoryError, MemoryErrorKind};
use gadus_base::OwnMapping;
use parking_lot::Mutex;
use rustix::fs::{self, FallocateFlags, Gid, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The unit by which shared memory grows: small enough that an idle database costs little, large
/// enough that a million locks need few steps.
pub const EXTENT_BYTES: usize = 1 << 20;

/// Which file a memory lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    /// Device of the file system.
    pub device: u64,
    /// Inode on it.
    pub inode: u64,
}

/// A mapped range of memory.
pub struct Memory {
    base: NonNull<u8>,
    bytes_max: usize,
    mapped: AtomicUsize,
    growth: Mutex<()>,
    /// True once the file was found to be cut off.
    is_lost: AtomicBool,
    /// Children have a copy; before the file is closed and the range given back.
    own: Option<OwnMapping>,
    file: Option<MemoryFile>,
}

#[derive(Debug)]
struct MemoryFile {
    descriptor: OwnedFd,
    path: PathBuf,
    identity: FileIdentity,
}

// SAFETY: the range belongs to this value until it is dropped, and is reached only through
// references to `Shared` values, which are atomic.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of this process alone, of up to `bytes_max`.
    ///
    /// # Errors
    /// When the system has no addresses left.
    pub fn private(bytes_max: usize) -> Result<Self, MemoryError> {
        Self::reserve(bytes_max, None)
    }

    /// Memory in a new file, which the users of the database may open.
    ///
    /// # Errors
    /// `System` when the file cannot be made, also because it exists, `PermissionDenied` when this
    /// process may not make it, `NoSpace` when it cannot be filled; nothing is left of it.
    pub fn create(path: &Path, bytes_max: usize, trust: Trust) -> Result<Self, MemoryError> {
        let mode = trust.memory_mode();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let descriptor =
            fs::open(path, flags | OFlags::NOFOLLOW, Mode::from_raw_mode(mode & 0o666))
                .map_err(|errno| failed("cannot create", path, errno))?;
        // What the process's mask took away is wanted: who may open the database may open this.
        let group = trust.memory_group().map(Gid::from_raw);
        let made = group
            .map_or(Ok(()), |group| fs::fchown(&descriptor, None, Some(group)))
            .and_then(|()| fs::fchmod(&descriptor, Mode::from_raw_mode(mode & 0o666)))
            .map_err(|errno| failed("cannot set owner and mode of", path, errno))
            .and_then(|()| MemoryFile::of(descriptor, path))
            .and_then(|file| Self::reserve(bytes_max, Some(file)));
        if made.is_err() {
            let _ = fs::unlink(path);
        }
        made
    }

    /// Memory in the file that another process has created. Nothing of the file is changed unless it is the
    /// one that was meant, and `trust` says that it is one of this database's users'.
    ///
    /// # Errors
    /// `Unreachable` when the path leads to nothing or to another file, `PermissionDenied` when this
    /// process may not use it, `Damaged` when the file is not to be trusted.
    pub fn open(
        path: &Path,
        bytes_max: usize,
        identity: FileIdentity,
        trust: Trust,
    ) -> Result<Self, MemoryError> {
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let descriptor = fs::open(path, flags, Mode::empty()).map_err(|errno| {
            let error = failed("cannot open", path, errno);
            match errno {
                Errno::NOENT | Errno::LOOP => {
                    MemoryError { kind: MemoryErrorKind::Unreachable, ..error }
                }
                _ => error,
            }
        })?;
        trust.check(descriptor.as_fd(), path)?;
        let file = MemoryFile::of(descriptor, path)?;
        if file.identity != identity {
            let message = format!("{} is another file than the one in use", path.display());
            return Err(MemoryError::new(MemoryErrorKind::Unreachable, message));
        }
        Self::reserve(bytes_max, Some(file))
    }

    /// Removes the name of this memory's file, if it still leads to that file; whoever has it mapped keeps it.
    pub fn remove_file(&self) {
        let Some((path, identity)) = self.file() else { return };
        let is_that = |facts: fs::Stat| {
            FileIdentity { device: facts.st_dev, inode: facts.st_ino } == identity
        };
        if fs::lstat(path).is_ok_and(is_that) {
            // What cannot be removed costs memory until the next start of the system.
            let _ = fs::unlink(path);
        }
    }

    /// Returns true if the file still has all bytes that are mapped. Where it was cut off, pages of this process
    /// alone take their place, all zero: an access to a page that is gone would end the process.
    pub fn verify_length(&self) -> bool {
        if self.is_lost() {
            return false;
        }
        let Some(file) = &self.file else { return true };
        let bytes = self.mapped() as u64;
        let is_whole = |facts: fs::Stat| facts.st_size.cast_unsigned() >= bytes;
        // A failure to look says nothing of the file.
        if fs::fstat(&file.descriptor).map_or(true, is_whole) {
            return true;
        }
        self.replace_lost_pages();
        false
    }

    /// Fails where [`Memory::verify_length`] is false.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn check(&self) -> Result<(), MemoryError> {
        self.verify_length().then_some(()).ok_or_else(cut_off)
    }

    /// Returns true if the file was found to be cut off.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    fn replace_lost_pages(&self) {
        let _turn = self.growth.lock();
        if self.is_lost() {
            return;
        }
        if let Some(own) = &self.own {
            // Children have nothing to copy any more.
            own.grow(0);
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let (address, flags) = (self.base.as_ptr().cast(), MapFlags::PRIVATE | MapFlags::FIXED);
        // Where the system has no memory, the pages stay away, and the process ends when it reads them.
        // SAFETY: the range belongs to this value, and what other threads read of it is valid whatever its bytes are.
        let _ = unsafe { mm::mmap_anonymous(address, self.mapped(), access, flags) };
        self.is_lost.store(true, Ordering::Release);
    }

    fn reserve(bytes_max: usize, file: Option<MemoryFile>) -> Result<Self, MemoryError> {
        let bytes_max = bytes_max.max(1).next_multiple_of(EXTENT_BYTES);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the system chooses the addresses, which nobody uses yet; they are not accessible.
        let base =
            unsafe { mm::mmap_anonymous(ptr::null_mut(), bytes_max, ProtFlags::empty(), flags) }
                .map_err(|errno| {
                    let message = format!("cannot reserve {bytes_max} bytes of addresses: {errno}");
                    MemoryError::new(MemoryErrorKind::System, message)
                })?;
        let base = NonNull::new(base.cast::<u8>()).expect("the system maps nothing at zero");
        let own = file.as_ref().map(|file| {
            // SAFETY: the range was reserved above for this value, which drops the registration before
            // both the range and the file, and `ensure` maps the file from its beginning.
            unsafe { OwnMapping::register(base, file.descriptor.as_fd()) }
        });
        let (mapped, growth) = (AtomicUsize::new(0), Mutex::default());
        let is_lost = AtomicBool::new(false);
        let memory = Self { base, bytes_max, mapped, growth, is_lost, own, file };
        memory.ensure(1)?;
        Ok(memory)
    }

    /// Makes at least the first `bytes` usable, by whomever they were first asked for. Allocating
    /// what is there changes nothing, so processes may race here.
    ///
    /// # Errors
    /// `NoSpace`; what was usable stays so.
    pub fn ensure(&self, bytes: usize) -> Result<(), MemoryError> {
        if bytes <= self.mapped() {
            return Ok(());
        }
        if bytes > self.bytes_max {
            let message = format!("shared memory is full: it holds {} bytes", self.bytes_max);
            return Err(MemoryError::new(MemoryErrorKind::NoSpace, message));
        }
        let _turn = self.growth.lock();
        if self.is_lost() {
            return Err(cut_off());
        }
        let from = self.mapped();
        let to = bytes.next_multiple_of(EXTENT_BYTES);
        if to > from {
            self.map(from, to - from)?;
            if let Some(own) = &self.own {
                own.grow(to);
            }
            self.mapped.store(to, Ordering::Release);
        }
        Ok(())
    }

    fn map(&self, from: usize, bytes: usize) -> Result<(), MemoryError> {
        // SAFETY: within the reserved range, which `ensure` has checked.
        let address = unsafe { self.base.add(from) }.as_ptr().cast();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let Some(file) = &self.file else {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: replaces pages of the reserved range that are not accessible yet.
            return unsafe { mm::mmap_anonymous(address, bytes, access, flags) }.map(drop).map_err(
                |errno| {
                    let message = format!("cannot map {bytes} bytes of memory: {errno}");
                    MemoryError::new(MemoryErrorKind::NoSpace, message)
                },
            );
        };
        let (offset, length) = (from as u64, bytes as u64);
        loop {
            match fs::fallocate(&file.descriptor, FallocateFlags::empty(), offset, length) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failed("cannot allocate memory in", &file.path, errno)),
            }
        }
        let flags = MapFlags::SHARED | MapFlags::FIXED | MapFlags::POPULATE;
        // SAFETY: replaces pages of the reserved range that are not accessible yet; the file's
        // pages behind it are allocated.
        unsafe { mm::mmap(address, bytes, access, flags, file.descriptor.as_fd(), offset) }
            .map(drop)
            .map_err(|errno| failed("cannot map", &file.path, errno))
    }

    /// Bytes that are usable now.
    #[must_use]
    pub fn mapped(&self) -> usize {
        self.mapped.load(Ordering::Acquire)
    }

    /// The most bytes that can ever be usable.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// The file that the memory lies in, unless it is private.
    #[must_use]
    pub fn file(&self) -> Option<(&Path, FileIdentity)> {
        self.file.as_ref().map(|file| (&*file.path, file.identity))
    }

    /// The value at an offset.
    ///
    /// # Errors
    /// `Damaged` when the offset is not aligned for it or reaches past what is mapped.
    #[inline]
    pub fn at<T: Shared>(&self, offset: Offset<T>) -> Result<&T, MemoryError> {
        self.slice(offset, 1).map(|values| &values[0])
    }

    /// `count` values side by side.
    ///
    /// # Errors
    /// As [`Memory::at`].
    #[inline]
    pub fn slice<T: Shared>(&self, offset: Offset<T>, count: usize) -> Result<&[T], MemoryError> {
        let start = offset.bytes();
        let end = size_of::<T>().checked_mul(count).and_then(|bytes| bytes.checked_add(start));
        let fits = end.is_some_and(|end| end <= self.mapped());
        if !fits || !start.is_multiple_of(align_of::<T>()) {
            return Err(out_of_range(start));
        }
        // SAFETY: the range is mapped for as long as `self` lives, aligned (pages are aligned more
        // than any `Shared` type), and any bytes in it are values of a `Shared` type, which are
        // changed by atomic operations only.
        Ok(unsafe { std::slice::from_raw_parts(self.base.add(start).cast::<T>().as_ptr(), count) })
    }
}

#[cold]
fn out_of_range(start: usize) -> MemoryError {
    let message = format!("shared memory is damaged: it names offset {start}, which cannot be");
    MemoryError::new(MemoryErrorKind::Damaged, message)
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.own = None;
        // SAFETY: the whole range belongs to this value, and no reference into it outlives it.
        let _ = unsafe { mm::munmap(self.base.as_ptr().cast(), self.bytes_max) };
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.file.as_ref().map(|file| &file.path);
        f.debug_struct("Memory").field("mapped", &self.mapped()).field("file", &path).finish()
    }
}

impl MemoryFile {
    fn of(descriptor: OwnedFd, path: &Path) -> Result<Self, MemoryError> {
        let facts =
            fs::fstat(&descriptor).map_err(|errno| failed("cannot look at", path, errno))?;
        let identity = FileIdentity { device: facts.st_dev, inode: facts.st_ino };
        usage::mark(descriptor.as_fd(), path)?;
        Ok(Self { descriptor, path: path.to_owned(), identity })
    }
}

fn failed(what: &str, path: &Path, errno: Errno) -> MemoryError {
    let kind = match errno {
        Errno::NOSPC | Errno::DQUOT | Errno::NOMEM => MemoryErrorKind::NoSpace,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => MemoryErrorKind::PermissionDenied,
        _ => MemoryErrorKind::System,
    };
    MemoryError::new(kind, format!("{what} {}: {}", path.display(), std::io::Error::from(errno)))
}

fn cut_off() -> MemoryError {
    let message = "shared memory was cut off from outside".to_owned();
    MemoryError::new(MemoryErrorKind::Damaged, message)
}

#[cfg(test)]
mod tests;
