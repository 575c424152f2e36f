//! Resolution of a path to the place that a write goes to.

use super::staged::StagedFile;
use super::stream::StreamFile;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a write to a path goes to.
#[derive(Debug)]
pub enum Destination {
    /// A regular file, new or in place of the one of that name.
    File(StagedFile),
    /// A device or pipe of that name.
    Stream(StreamFile),
}

/// A folder in which files are written, held open: renaming or replacing it meanwhile redirects nothing.
#[derive(Debug, Clone)]
pub struct OutputFolder {
    descriptor: Arc<OwnedFd>,
    /// A path by which libraries that take paths reach the folder.
    path: PathBuf,
}

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OutputFolder {
    /// Opens a folder by its path.
    ///
    /// # Errors
    /// When the path leads to no folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self::held(fs::open(path, FOLDER, Mode::empty())?))
    }

    fn held(descriptor: OwnedFd) -> Self {
        let path = PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()));
        Self { descriptor: Arc::new(descriptor), path }
    }

    /// Opens a folder below another one; the kernel refuses a path that leaves it or passes a link.
    ///
    /// # Errors
    /// When the path leads to no folder, or out of `root`.
    pub fn open_beneath(root: &Path, path: &Path) -> io::Result<Self> {
        let root = fs::open(root, FOLDER, Mode::empty())?;
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let descriptor = loop {
            match fs::openat2(&root, path, FOLDER, Mode::empty(), rules) {
                // A rename elsewhere during the look-up: the kernel asks to try again.
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => break opened?,
            }
        };
        Ok(Self::held(descriptor))
    }

    /// Returns a path of the folder that is valid while it is held.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Destination {
    /// Resolves a path as the process would, following links.
    ///
    /// # Errors
    /// When the folder does not exist, a link leads nowhere, or the path names a folder or socket.
    pub fn open(path: &Path) -> io::Result<Self> {
        let resolved = if path.is_symlink() { path.canonicalize()? } else { path.to_owned() };
        let Some(name) = resolved.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "path names no file"));
        };
        let folder = OutputFolder::open(resolved.parent().unwrap_or(Path::new("")))?;
        Self::within(folder, name)
    }

    /// Resolves a name in a folder, following no link.
    ///
    /// # Errors
    /// As [`Destination::open`], and when the name is a link.
    pub fn within(folder: OutputFolder, name: &OsStr) -> io::Result<Self> {
        let facts = match fs::statat(folder.descriptor(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(facts) => Some(facts),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        let file_type = facts.as_ref().map(|facts| FileType::from_raw_mode(facts.st_mode));
        let refused = |message| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        match file_type {
            None | Some(FileType::RegularFile) => {
                StagedFile::begin(folder, name, facts).map(Self::File)
            }
            Some(FileType::CharacterDevice | FileType::BlockDevice | FileType::Fifo) => {
                StreamFile::open(&folder, name).map(Self::Stream)
            }
            Some(FileType::Symlink) => refused("path became a symbolic link"),
            Some(FileType::Directory) => Err(io::ErrorKind::IsADirectory.into()),
            Some(_) => refused("path is a socket; name a file, a pipe or a device"),
        }
    }
}
