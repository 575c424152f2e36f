//! Which files the statements of a session reach.
//!
//! - Beneath a folder: paths that are not absolute begin there. One that leads out is refused before the disk
//!   is asked, whether or not anything is there; one that leads out by a link, as soon as that is known.
//! - A write goes to a folder that the kernel has opened beneath the granted one (`openat2`), whatever is renamed
//!   meanwhile. A path that is read is handed on as it was found, without links: a user of the machine who renames
//!   folders beneath the granted one at that moment can let a read out; no statement can.

use crate::error::input;
use gadus_block::{Destination, OutputFolder};
use gadus_engine::{Error, ErrorKind, Result};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

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

/// A folder whose files are within reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted(Arc<Path>);

impl FileAccess {
    /// Grants the files beneath a folder, and nothing else.
    ///
    /// # Errors
    /// When there is no such folder.
    pub fn beneath(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = folder.as_ref().canonicalize()?;
        if !folder.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self::Beneath(Granted(folder.into())))
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

    /// The files, or patterns of files, that a path or a glob of a statement means.
    pub(super) fn to_read(&self, path: &str) -> Result<Vec<String>> {
        self.check()?;
        let Self::Beneath(granted) = self else { return Ok(vec![path.to_owned()]) };
        let whole = granted.whole(path)?;
        if !is_glob(path) {
            return Ok(vec![granted.file(&whole, path)?]);
        }
        let files = granted.matching(&whole, path)?;
        files.iter().map(|file| granted.file(file, path)).collect()
    }

    /// The folder beneath which files are, where it is one.
    pub(super) fn granted(&self) -> Option<&Path> {
        match self {
            Self::Beneath(granted) => Some(&granted.0),
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
        for part in self.0.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        if whole.starts_with(&self.0) { Ok(whole) } else { Err(out_of_reach(path)) }
    }

    /// What matches a glob; something does.
    fn matching(&self, whole: &Path, path: &str) -> Result<Vec<PathBuf>> {
        let behind = whole.strip_prefix(&self.0).ok().and_then(Path::to_str);
        let (Some(folder), Some(behind)) = (self.0.to_str(), behind) else {
            return Err(no_text(path));
        };
        let pattern = format!("{}/{behind}", glob::Pattern::escape(folder));
        let found = glob::glob(&pattern).map_err(|error| input(format!("'{path}': {error}")))?;
        let files = found.collect::<std::result::Result<Vec<_>, _>>();
        let files = files.map_err(|error| unreachable(path, &error.into()))?;
        if files.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("no file matches '{path}'")));
        }
        Ok(files)
    }

    /// A file that is there.
    fn file(&self, file: &Path, path: &str) -> Result<String> {
        let found = self.found(file, path)?;
        if found.is_file() {
            return text_of(found, path);
        }
        let name = file.strip_prefix(&self.0).unwrap_or(file).display();
        Err(input(format!("{name} is not a file: name files, as in 'folder/*.csv'")))
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
        let inner = place.strip_prefix(&self.0).map_err(|_| out_of_reach(path))?;
        let (parent, name) = parent_and_name(inner, path)?;
        if is_glob(path) {
            let message =
                format!("'{path}' has *, ? or [, which mean several files; name one file");
            return Err(input(message));
        }
        let folder = OutputFolder::open_beneath(&self.0, parent);
        Ok((folder.map_err(|error| unwritable(path, &error))?, name))
    }

    /// Where a path leads to, which exists.
    fn found(&self, place: &Path, path: &str) -> Result<PathBuf> {
        let found = place.canonicalize().map_err(|error| unreachable(path, &error))?;
        if found.starts_with(&self.0) { Ok(found) } else { Err(out_of_reach(path)) }
    }
}

/// The path as text that means this one file to whoever opens it.
fn text_of(found: PathBuf, path: &str) -> Result<String> {
    let text = found.into_os_string().into_string().map_err(|_| no_text(path))?;
    if is_glob(&text) {
        return Err(input(format!(
            "'{path}' leads to a name with *, ? or [, which is not reached"
        )));
    }
    Ok(text)
}

fn parent_and_name<'a>(place: &'a Path, path: &str) -> Result<(&'a Path, OsString)> {
    let name = place.file_name().ok_or_else(|| out_of_reach(path))?;
    Ok((place.parent().unwrap_or(Path::new("")), name.to_owned()))
}

fn no_text(path: &str) -> Error {
    input(format!("'{path}' leads to a name that is not UTF-8"))
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
