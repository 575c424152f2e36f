//! Which files the statements of a session reach.
//!
//! - Beneath a folder: paths that are not absolute begin there. One that leads out is refused before the disk
//!   is asked, whether or not anything is there; one that leads out by a link, as soon as that is known.
//! - What is read or written is then opened by the kernel beneath the granted folder (`openat2`), without links:
//!   nothing that is renamed meanwhile leads out. Globs list folders in the same way.
//! - A link that leads out is an error wherever it matches, whatever is or is not behind it.

use super::glob_path::{Folders, GlobPath};
use crate::error::{error_of_system, from_datafusion, input};
use crate::text_files::FILES_MAX;
use datafusion::common::DataFusionError;
use gadus_block::{Destination, InputFolder, InputKind, OutputFolder};
use gadus_engine::{Error, ErrorKind, Result};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Which files the statements of a session may read and write, beside the database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FileAccess {
    /// Those that the process may.
    #[default]
    All,
    /// None.
    None,
    /// Those beneath a folder; [`FileAccess::beneath`] makes it.
    Beneath(Granted),
}

/// A folder whose files are within reach, held open.
#[derive(Debug, Clone)]
pub struct Granted(InputFolder);

impl PartialEq for Granted {
    fn eq(&self, other: &Self) -> bool {
        self.root() == other.root()
    }
}

impl Eq for Granted {}

impl FileAccess {
    /// Grants the files beneath a folder, and nothing else.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn beneath(folder: impl AsRef<Path>) -> io::Result<Self> {
        InputFolder::open(folder.as_ref()).map(|folder| Self::Beneath(Granted(folder)))
    }

    /// Refuses a statement that names a file, before it is looked for.
    pub(super) fn check(&self) -> Result<()> {
        let message = "files of the database's machine are out of reach of this connection: send the \
                       data with COPY … FROM STDIN";
        match self {
            Self::All | Self::Beneath(_) => Ok(()),
            Self::None => Err(Error::new(ErrorKind::PermissionDenied, message)),
        }
    }

    /// The folder beneath which files are, where it is one.
    pub(super) fn granted(&self) -> Option<&Granted> {
        match self {
            Self::Beneath(granted) => Some(granted),
            Self::All | Self::None => None,
        }
    }

    /// Opens the folder in which a statement writes a folder of files, with that one's name in it.
    pub(super) fn to_write_folder(&self, path: &str) -> Result<(OutputFolder, OsString)> {
        self.check()?;
        match self {
            Self::Beneath(granted) => granted.to_write(path),
            _ => {
                let (parent, name) = parent_and_name(Path::new(path), path)?;
                let folder =
                    OutputFolder::open(parent).map_err(|error| unwritable(path, &error))?;
                Ok((folder, name))
            }
        }
    }

    /// Resolves a path that a statement writes to.
    pub(super) fn to_write(&self, path: &str) -> Result<Destination> {
        self.check()?;
        let resolved = match self {
            Self::Beneath(granted) => {
                let (folder, name) = granted.to_write(path)?;
                Destination::within(folder, &name)
            }
            _ => Destination::open(Path::new(path)),
        };
        resolved.map_err(|error| unwritable(path, &error))
    }
}

/// Whether a path means several files.
pub(crate) fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

impl Granted {
    /// The path from the root on, by its words alone.
    fn whole(&self, path: &str) -> Result<PathBuf> {
        let mut whole = PathBuf::new();
        for part in self.root().join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        if whole.starts_with(self.root()) { Ok(whole) } else { Err(out_of_reach(path)) }
    }

    /// The folder.
    pub(super) fn folder(&self) -> &InputFolder {
        &self.0
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    /// The files that a path or a glob of a statement means, without links.
    pub(super) fn files(&self, path: &str) -> Result<Vec<PathBuf>> {
        let whole = self.whole(path)?;
        let found = match is_glob(path) {
            true => self.matching(&whole, path)?,
            false => vec![self.found(&whole, path)?],
        };
        found.into_iter().map(|file| self.file(file, path)).collect()
    }

    /// What matches a glob, without links; something does.
    fn matching(&self, whole: &Path, path: &str) -> Result<Vec<PathBuf>> {
        let inner = whole.strip_prefix(self.root()).map_err(|_| out_of_reach(path))?;
        let pattern = GlobPath::new(inner, path)?;
        let found = pattern.matching(self.root(), &Reached { granted: self, path })?;
        if found.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("no file matches '{path}'")));
        }
        Ok(found)
    }

    /// A file, which is one when it is looked at; when it is opened, that is looked at again.
    fn file(&self, found: PathBuf, path: &str) -> Result<PathBuf> {
        if !found.is_file() {
            let name = found.strip_prefix(self.root()).unwrap_or(&found).display();
            let message = format!("{name} is not a file: name files, as in 'folder/*.csv'");
            return Err(input(message));
        }
        if found.to_str().is_none() {
            return Err(input(format!("'{path}' leads to a name that is not UTF-8")));
        }
        Ok(found)
    }

    /// Opens the folder beneath the granted one in which a path is written, with the path's last step.
    /// Links are resolved first; the kernel then refuses those that were put there since.
    fn to_write(&self, path: &str) -> Result<(OutputFolder, OsString)> {
        let whole = self.whole(path)?;
        let place = match whole.symlink_metadata() {
            Ok(_) => self.found(&whole, path)?,
            Err(_) => {
                let (parent, name) = parent_and_name(&whole, path)?;
                self.found(parent, path)?.join(name)
            }
        };
        let inner = place.strip_prefix(self.root()).map_err(|_| out_of_reach(path))?;
        let (parent, name) = parent_and_name(inner, path)?;
        if is_glob(path) {
            let message =
                format!("'{path}' has *, ? or [, which mean several files; name one file");
            return Err(input(message));
        }
        let folder = OutputFolder::open_beneath(self.root(), parent);
        Ok((folder.map_err(|error| unwritable(path, &error))?, name))
    }

    /// Where a path leads to, which exists.
    fn found(&self, place: &Path, path: &str) -> Result<PathBuf> {
        let found = place.canonicalize().map_err(|error| unreachable(path, &error))?;
        if found.starts_with(self.root()) { Ok(found) } else { Err(out_of_reach(path)) }
    }
}

/// The folders within reach, for a glob of a statement.
struct Reached<'a> {
    granted: &'a Granted,
    path: &'a str,
}

impl Folders for Reached<'_> {
    fn names(&self, folder: &Path) -> Result<Vec<(OsString, InputKind)>> {
        let granted = self.granted;
        let inner = folder.strip_prefix(granted.root()).map_err(|_| out_of_reach(self.path))?;
        granted.0.names(inner, FILES_MAX).map_err(|error| unreachable(self.path, &error))
    }

    fn resolve(&self, path: &Path) -> Result<Option<PathBuf>> {
        match self.granted.found(path, self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }
}

fn parent_and_name<'a>(place: &'a Path, path: &str) -> Result<(&'a Path, OsString)> {
    let name = place.file_name().ok_or_else(|| out_of_reach(path))?;
    Ok((place.parent().unwrap_or(Path::new("")), name.to_owned()))
}

fn out_of_reach(path: &str) -> Error {
    let message = format!(
        "'{path}' leads out of the folder whose files are within reach of this connection: paths begin there"
    );
    Error::new(ErrorKind::PermissionDenied, message)
}

/// Returns the error of a write to a path.
pub(crate) fn unwritable(path: &str, error: &io::Error) -> Error {
    Error::new(kind_of(error), format!("{path} cannot be written: {error}"))
}

/// Returns the error of a write to a file. DataFusion drops the error of the system where the last write fails.
pub(super) fn not_written(path: &str, error: DataFusionError) -> Error {
    if let Some(error) = error_of_system(&error) {
        return unwritable(path, &error);
    }
    match error.find_root() {
        DataFusionError::Internal(text) if text.contains("while finalizing writes") => {
            let message = format!(
                "{path} cannot be written to its end: see whether there is space on its file system"
            );
            Error::new(ErrorKind::Io, message)
        }
        _ => from_datafusion(error),
    }
}

fn unreachable(path: &str, error: &io::Error) -> Error {
    Error::new(kind_of(error), format!("{path} cannot be reached: {error}"))
}

/// What a failure to reach a file is to the caller.
pub(crate) fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        io::ErrorKind::StorageFull => ErrorKind::NoSpace,
        io::ErrorKind::InvalidInput
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => ErrorKind::Input,
        _ => ErrorKind::Io,
    }
}
