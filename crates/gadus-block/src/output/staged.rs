//! A regular file that is written in a private folder beside its name, and appears by one rename.
//!
//! - The folder has mode 0700 until the end: no reader sees a part of the file, nor a file of mode 0600
//!   through a copy that is more open.
//! - What is replaced keeps its mode and, as far as the system allows, its owner and group.
//! - A process that is killed leaves the private folder, whose name says what it is
//!   (`.gadus-XXXXXXXX.partial`), and nothing under the final name.
//! - Paths within it have no part that a user chose: libraries take `*` or `%` in a path for more than it is.

use super::destination::OutputFolder;
use gadus_base::Random;
use rustix::fs::{self, Access, AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Name of a file of rows in its private folder.
const DATA: &str = "data.out";

/// Tries for a name that no other write has taken.
const NAMES_MAX: usize = 16;

/// A file that is written and has not appeared yet; dropped before that, nothing of it remains.
#[derive(Debug)]
pub struct StagedFile {
    folder: OutputFolder,
    name: OsString,
    /// The private folder's name.
    private: OsString,
    /// The file that is replaced.
    replaced: Option<Stat>,
}

impl StagedFile {
    pub(super) fn begin(
        folder: OutputFolder,
        name: &OsStr,
        replaced: Option<Stat>,
    ) -> io::Result<Self> {
        if replaced.is_some() {
            // A rename needs no right to the file that it replaces; a write to it would.
            let may = Access::WRITE_OK;
            fs::accessat(folder.descriptor(), name, may, AtFlags::EACCESS)?;
        }
        let mut random = Random::from_system();
        for _ in 0..NAMES_MAX {
            let private = OsString::from(format!(".gadus-{:08x}.partial", random.below(1 << 32)));
            match fs::mkdirat(folder.descriptor(), &private, Mode::RWXU) {
                Ok(()) => return Ok(Self { folder, name: name.to_owned(), private, replaced }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns the private folder.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join(&self.private)
    }

    /// Returns where to write the file that `replace` has appear.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder().join(DATA)
    }

    /// Has the file at `path` appear, in place of one that has the name.
    ///
    /// # Errors
    /// When the file was not written, or the system refuses.
    pub fn replace(self) -> io::Result<()> {
        let data = OsStr::new(DATA);
        if let Some(replaced) = &self.replaced {
            self.set_mode(data, replaced.st_mode)?;
            let (owner, group) = (Uid::from_raw(replaced.st_uid), Gid::from_raw(replaced.st_gid));
            let at = AtFlags::SYMLINK_NOFOLLOW;
            // A file of another owner, which this process may replace and not give away.
            let _ = fs::chownat(
                self.folder.descriptor(),
                self.inner(data),
                Some(owner),
                Some(group),
                at,
            );
        }
        self.appear(data, &self.name, RenameFlags::empty())
    }

    /// Has the file of that name in the private folder appear, if the name is free, with the mode of the file that it was made from, if
    /// that is one. Files beside it whose names continue its own by `companions` appear before it.
    ///
    /// # Errors
    /// `AlreadyExists` when a name was taken meanwhile, or as [`StagedFile::replace`].
    pub fn appear_new(self, source: Option<&Path>, companions: &[&str]) -> io::Result<()> {
        let facts = source.and_then(|source| fs::stat(source).ok());
        let named = |ending: &&str| {
            let mut name = self.name.clone();
            name.push(ending);
            name
        };
        for name in companions.iter().map(named).chain([self.name.clone()]) {
            if let Some(facts) = &facts {
                self.set_mode(&name, facts.st_mode)?;
            }
            self.appear(&name, &name, RenameFlags::NOREPLACE)?;
        }
        Ok(())
    }

    /// Returns the final name of the file.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// True if there is a file of that name, which is replaced.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.replaced.is_some()
    }

    fn appear(&self, staged: &OsStr, name: &OsStr, flags: RenameFlags) -> io::Result<()> {
        let (folder, inner) = (self.folder.descriptor(), self.inner(staged));
        match fs::renameat_with(folder, &inner, folder, name, flags) {
            // A file system that knows no flags: whatever took the name in this moment is replaced.
            Err(Errno::INVAL | Errno::NOSYS) if !flags.is_empty() => {
                match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => fs::renameat(folder, &inner, folder, name)?,
                    Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
                    Err(errno) => return Err(errno.into()),
                }
            }
            renamed => renamed?,
        }
        self.sync_folder()
    }

    fn set_mode(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode & 0o7777);
        Ok(fs::chmodat(self.folder.descriptor(), self.inner(name), mode, AtFlags::empty())?)
    }

    /// Makes the new name durable.
    fn sync_folder(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::openat(self.folder.descriptor(), c".", flags, Mode::empty());
        // A folder that may be searched and not read cannot be synced: the file system does it in its time.
        match folder.and_then(fs::fsync) {
            Ok(()) | Err(Errno::ACCESS | Errno::INVAL) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the path of a staged file within the held folder.
    fn inner(&self, name: &OsStr) -> PathBuf {
        PathBuf::from(&self.private).join(name)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // Of a file that has appeared only the empty folder is left.
        let _ = std::fs::remove_dir_all(self.folder());
    }
}
