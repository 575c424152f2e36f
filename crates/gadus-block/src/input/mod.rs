//! Files that imports and queries read, as opposed to devices of a database.
//!
//! - What is opened is a regular file by the descriptor's own facts (`fstat`): a pipe, device, socket or folder is an
//!   error, and opening a pipe never blocks until it has a writer.
//! - Beneath an [`InputFolder`] the kernel resolves each path from the folder's descriptor and refuses one that
//!   leaves it or passes a symbolic link, whatever is renamed meanwhile.

#[cfg(test)]
mod tests;

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Without waiting for a pipe's writer, and without making a terminal the process's own.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// Opens a regular file by its path, following links.
///
/// # Errors
/// When there is none, or the path leads to something else.
pub fn open_input(path: &Path) -> io::Result<File> {
    regular(fs::open(path, FILE, Mode::empty())?)
}

/// A folder whose files are read, held open: renaming or replacing it meanwhile redirects nothing.
#[derive(Debug, Clone)]
pub struct InputFolder {
    descriptor: Arc<OwnedFd>,
    path: Arc<Path>,
}

/// Kind of a directory entry; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, device or socket.
    Other,
}

impl InputFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// When the path leads to no folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let descriptor = Arc::new(fs::open(&path, FOLDER, Mode::empty())?);
        Ok(Self { descriptor, path: path.into() })
    }

    /// Returns the path that the folder had, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file by its path in the folder, which has no links.
    ///
    /// # Errors
    /// When there is none, the path leaves the folder or passes a link, or leads to something else.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        regular(self.resolve(path, FILE)?)
    }

    /// Returns the names in a folder within this one, sorted, and what they are.
    ///
    /// # Errors
    /// When there is no such folder, the path leaves this one or passes a link, or it has more names.
    pub fn names(&self, path: &Path, count_max: usize) -> io::Result<Vec<(OsString, InputKind)>> {
        let folder = self.resolve(path, FOLDER)?;
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let mut file_type = entry.file_type();
            if file_type == FileType::Unknown {
                // Some file systems do not say it in the listing.
                let facts = match fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(facts) => facts,
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno.into()),
                };
                file_type = FileType::from_raw_mode(facts.st_mode);
            }
            if names.len() == count_max {
                let message = format!("folder has more than {count_max} names");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            names.push((OsString::from_vec(name.to_bytes().to_vec()), kind_of(file_type)));
        }
        names.sort();
        Ok(names)
    }

    fn resolve(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        loop {
            match fs::openat2(&self.descriptor, path, flags, Mode::empty(), rules) {
                // A rename elsewhere during the look-up: the kernel asks to try again.
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return Ok(opened?),
            }
        }
    }
}

/// Returns an opened descriptor as a file if that is one.
fn regular(descriptor: OwnedFd) -> io::Result<File> {
    let kind = FileType::from_raw_mode(fs::fstat(&descriptor)?.st_mode);
    let what = match kind {
        FileType::RegularFile => return Ok(File::from(descriptor)),
        FileType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        FileType::Fifo => "pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        _ => "special file",
    };
    let message = format!("path leads to a {what}; name a regular file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn kind_of(file_type: FileType) -> InputKind {
    match file_type {
        FileType::RegularFile => InputKind::File,
        FileType::Directory => InputKind::Folder,
        FileType::Symlink => InputKind::Link,
        _ => InputKind::Other,
    }
}
