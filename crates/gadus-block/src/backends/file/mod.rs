//! Files through the page cache, by ordinary system calls.
//!
//! - A write is one `pwritev` and a sync one `fdatasync`: commits go through both, and nothing may
//!   be added to them.
//! - Interrupted, short and refused-for-now transfers are finished here ([`transfer`]).
//! - Descriptors close on exec; a pipe, socket or folder under the name is refused without waiting.
//! - A name is never a symbolic link here: the link may lead to any file that this process may write. Who
//!   opens a database by a link resolves it first.
//! - A forked child has no part in an open file: its descriptor leads nowhere.
//! - Ownership is an open-file-description lock on the very descriptor that transfers
//!   ([`owner_lock`]), so another descriptor of this process neither shares nor loses it. It is given up
//!   before the descriptor is closed: a child that another thread is just spawning has a copy until it
//!   executes, and would keep the lock as long.

mod file_system;
mod owner_lock;
mod transfer;

use crate::device::{Device, Fence, Folder, Geometry, Hint, Identity, OpenMode, Ownership, Turn};
use crate::error::{BlockError, ErrorKind, Operation};
use crate::queue::{Queue, WorkerQueue};
pub use file_system::FileSystem;
use gadus_base::{OwnDescriptor, ProcessMark};
use owner_lock::OwnerLock;
use rustix::fs::{self, Advice, FallocateFlags, FileType, Gid, Mode, OFlags};
use rustix::io::Errno;
use std::io::IoSlice;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of the file system.
#[derive(Debug, Clone)]
pub struct FileFolder {
    path: PathBuf,
}

#[derive(Debug)]
struct FileDevice {
    /// Before the descriptor is closed.
    _own: OwnDescriptor,
    descriptor: OwnedFd,
    /// Where it was opened: a forked child has no part in it.
    process: ProcessMark,
    name: String,
    path: PathBuf,
    identity: Identity,
    writable: bool,
    physical_block_bytes: u32,
}

impl FileFolder {
    /// The folder at `path`, which need not exist yet; the empty path is the current folder.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        Self { path: if path.as_os_str().is_empty() { PathBuf::from(".") } else { path } }
    }

    /// The folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file system that the folder lies on.
    ///
    /// # Errors
    /// `NotFound`, `PermissionDenied`, or a failure.
    pub fn file_system(&self) -> Result<FileSystem, BlockError> {
        fs::statfs(&self.path)
            .map(|facts| FileSystem::of_type(facts.f_type))
            .map_err(|errno| self.failed(errno, Operation::Open, &self.path))
    }

    /// The identity of the file that a path leads to, which is not opened; none when it leads to none.
    ///
    /// # Errors
    /// `PermissionDenied`, or a failure: the file may be there or not.
    pub fn identity_at(path: &Path) -> Result<Option<Identity>, BlockError> {
        match fs::stat(path) {
            Ok(facts) => Ok(identity_of(&facts)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => {
                let named = path.display().to_string();
                Err(BlockError::from_io(errno.into(), Operation::Open, named))
            }
        }
    }

    /// A name is one step: anything else would leave the folder.
    fn path_of(&self, name: &str, operation: Operation) -> Result<PathBuf, BlockError> {
        let one_step = !name.is_empty() && name != "." && name != "..";
        if one_step && !name.contains(['/', '\0']) {
            return Ok(self.path.join(name));
        }
        Err(BlockError::new(ErrorKind::Invalid, operation, self.describe(name))
            .detailed("a file name has no slash and is not empty"))
    }

    fn failed(&self, errno: Errno, operation: Operation, path: &Path) -> BlockError {
        let folder_missing = errno == Errno::NOENT && !self.path.exists();
        let named = if folder_missing { self.path.as_path() } else { path };
        let error = BlockError::from_io(errno.into(), operation, named.display().to_string());
        if folder_missing { error.detailed("there is no such folder") } else { error }
    }
}

impl Folder for FileFolder {
    fn open(&self, name: &str, mode: OpenMode) -> Result<Arc<dyn Device>, BlockError> {
        let (operation, access) = match mode {
            OpenMode::Read => (Operation::Open, OFlags::RDONLY),
            OpenMode::ReadWrite => (Operation::Open, OFlags::RDWR),
            OpenMode::Create => (Operation::Create, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL),
        };
        let path = self.path_of(name, operation)?;
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = access | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let failed = |errno| match errno {
            Errno::LOOP => {
                BlockError::new(ErrorKind::NotAFile, operation, path.display().to_string())
                    .detailed("it is a symbolic link, which may lead anywhere; remove it")
            }
            errno => self.failed(errno, operation, &path),
        };
        let descriptor = fs::open(&path, flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
        let facts = fs::fstat(&descriptor).map_err(failed)?;
        let Some(identity) = identity_of(&facts) else {
            let named = path.display().to_string();
            return Err(BlockError::new(ErrorKind::NotAFile, operation, named));
        };
        Ok(Arc::new(FileDevice {
            _own: OwnDescriptor::register(descriptor.as_fd()),
            descriptor,
            process: ProcessMark::here(),
            name: name.to_owned(),
            path,
            identity,
            writable: mode != OpenMode::Read,
            physical_block_bytes: u32::try_from(facts.st_blksize).unwrap_or(4096),
        }))
    }

    fn exists(&self, name: &str) -> Result<bool, BlockError> {
        let path = self.path_of(name, Operation::Open)?;
        match fs::lstat(&path) {
            Ok(_) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(self.failed(errno, Operation::Open, &path)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), BlockError> {
        let path = self.path_of(name, Operation::Remove)?;
        fs::unlink(&path).map_err(|errno| self.failed(errno, Operation::Remove, &path))
    }

    fn sync(&self) -> Result<(), BlockError> {
        let failed = |errno| self.failed(errno, Operation::SyncFolder, &self.path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::open(&self.path, flags, Mode::empty()).map_err(failed)?;
        match transfer::uninterrupted(|| fs::fsync(&folder)) {
            // Some network file systems keep names durable by themselves and say so this way.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(failed(errno)),
        }
    }

    fn describe(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }
}

/// None of what is neither a file nor a block device.
fn identity_of(facts: &fs::Stat) -> Option<Identity> {
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::RegularFile => Some(Identity([facts.st_dev, facts.st_ino])),
        // Of which there may be several nodes.
        FileType::BlockDevice => Some(Identity([facts.st_rdev, 0])),
        _ => None,
    }
}

impl FileDevice {
    fn failed(&self, errno: Errno, operation: Operation) -> BlockError {
        // A descriptor opened for reading answers a write with "bad descriptor".
        if errno == Errno::BADF || (errno == Errno::INVAL && !self.writable) {
            return self.error(ErrorKind::ReadOnly, operation);
        }
        BlockError::from_io(errno.into(), operation, self.path.display().to_string())
    }

    fn error(&self, kind: ErrorKind, operation: Operation) -> BlockError {
        BlockError::new(kind, operation, self.path.display().to_string())
    }

    fn owner_lock(&self) -> OwnerLock<'_> {
        OwnerLock::new(self.descriptor.as_fd())
    }

    /// Takes or gives back the space of a range; the length stays. File systems that cannot do so
    /// are left alone.
    fn allocate(
        &self,
        flags: FallocateFlags,
        range: &Range<u64>,
        operation: Operation,
    ) -> Result<(), BlockError> {
        if range.is_empty() {
            return Ok(());
        }
        let flags = flags | FallocateFlags::KEEP_SIZE;
        let bytes = range.end - range.start;
        match transfer::uninterrupted(|| fs::fallocate(&self.descriptor, flags, range.start, bytes))
        {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(errno) => Err(self.failed(errno, operation).at(range.start)),
        }
    }

    fn advise(&self, range: &Range<u64>, advice: Advice) {
        if let Some(bytes) = NonZeroU64::new(range.end.saturating_sub(range.start)) {
            // Advice that is not taken changes nothing that the contract promises.
            let _ = fs::fadvise(&self.descriptor, range.start, Some(bytes), advice);
        }
    }
}

impl Drop for FileDevice {
    fn drop(&mut self) {
        if self.process.is_here() {
            // Nobody transfers any more; closing would do the same, later perhaps.
            let _ = self.owner_lock().give_up();
        }
    }
}

impl Device for FileDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> Identity {
        self.identity
    }

    fn location(&self) -> Option<PathBuf> {
        std::path::absolute(&self.path).ok()
    }

    fn ownership(&self) -> Option<Ownership> {
        let facts = fs::fstat(&self.descriptor).ok()?;
        let mode = facts.st_mode & 0o777;
        let names = facts.st_nlink;
        Some(Ownership { owner: facts.st_uid, group: facts.st_gid, mode, names })
    }

    fn own_as(&self, ownership: Ownership) -> Result<(), BlockError> {
        let failed = |errno| self.failed(errno, Operation::SetLength);
        if self.ownership().is_none_or(|own| own.group != ownership.group) {
            fs::fchown(&self.descriptor, None, Some(Gid::from_raw(ownership.group)))
                .map_err(failed)?;
        }
        fs::fchmod(&self.descriptor, Mode::from_raw_mode(ownership.mode)).map_err(failed)
    }

    fn length(&self) -> Result<u64, BlockError> {
        // Unlike the file's facts, the end also measures a block device.
        fs::seek(&self.descriptor, fs::SeekFrom::End(0))
            .map_err(|errno| self.failed(errno, Operation::Length))
    }

    fn set_length(&self, bytes: u64) -> Result<(), BlockError> {
        transfer::uninterrupted(|| fs::ftruncate(&self.descriptor, bytes))
            .map_err(|errno| self.failed(errno, Operation::SetLength).at(bytes))
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), BlockError> {
        let read = |into: &mut [u8], offset| rustix::io::pread(&self.descriptor, into, offset);
        match transfer::read_whole(offset, into, read) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.error(ErrorKind::PastEnd, Operation::Read).at(offset)),
            Err(errno) => Err(self.failed(errno, Operation::Read).at(offset)),
        }
    }

    fn write_at(&self, offset: u64, pieces: &[IoSlice<'_>]) -> Result<(), BlockError> {
        let write =
            |pieces: &[IoSlice<'_>], offset| rustix::io::pwritev(&self.descriptor, pieces, offset);
        transfer::write_whole(offset, pieces, write)
            .map_err(|errno| self.failed(errno, Operation::Write).at(offset))
    }

    fn sync(&self) -> Result<(), BlockError> {
        transfer::uninterrupted(|| fs::fdatasync(&self.descriptor))
            .map_err(|errno| self.failed(errno, Operation::Sync))
    }

    fn queue(self: Arc<Self>, depth_max: usize) -> Result<Box<dyn Queue>, BlockError> {
        WorkerQueue::with_threads(self, depth_max)
    }

    fn hint(&self, range: Range<u64>, hint: Hint) {
        let advice = match hint {
            Hint::WillNeed => Advice::WillNeed,
            Hint::Sequential => Advice::Sequential,
            Hint::DontNeed => Advice::DontNeed,
            Hint::Keep => Advice::Normal,
        };
        self.advise(&range, advice);
    }

    fn discard(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.allocate(FallocateFlags::PUNCH_HOLE, &range, Operation::Discard)
    }

    fn reserve(&self, range: Range<u64>) -> Result<(), BlockError> {
        self.allocate(FallocateFlags::empty(), &range, Operation::Reserve)
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            logical_block_bytes: 1,
            physical_block_bytes: self.physical_block_bytes,
            memory_alignment_bytes: 4096,
        }
    }

    fn try_own(&self) -> Result<bool, BlockError> {
        if !self.writable {
            return Err(self.error(ErrorKind::ReadOnly, Operation::Own));
        }
        self.owner_lock().try_own_all().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn try_share(&self) -> Result<bool, BlockError> {
        self.owner_lock().try_share_all().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn try_own_slot(&self, slot: u32) -> Result<bool, BlockError> {
        if !self.writable {
            return Err(self.error(ErrorKind::ReadOnly, Operation::Own));
        }
        self.owner_lock().try_own(slot).map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn take_turn(&self) -> Result<(), BlockError> {
        if !self.writable {
            return Err(self.error(ErrorKind::ReadOnly, Operation::Own));
        }
        self.owner_lock().take_turn().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn try_turn(&self) -> Result<Turn, BlockError> {
        if !self.writable {
            return Err(self.error(ErrorKind::ReadOnly, Operation::Own));
        }
        self.owner_lock().try_turn().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn end_turn(&self) -> Result<(), BlockError> {
        self.owner_lock().end_turn().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn keep_slot(&self, slot: u32) -> Result<(), BlockError> {
        self.owner_lock().keep(slot).map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn give_up_slots(&self) -> Result<(), BlockError> {
        self.owner_lock().give_up().map_err(|errno| self.failed(errno, Operation::Own))
    }

    fn fence(&self, slot: u32) -> Result<Fence, BlockError> {
        match self.owner_lock().is_held_elsewhere(slot) {
            Ok(true) => Ok(Fence::Busy),
            Ok(false) => Ok(Fence::Quiet),
            Err(errno) => Err(self.failed(errno, Operation::Own)),
        }
    }
}
