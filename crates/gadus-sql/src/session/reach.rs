//! Which files the statements of a session reach.
//!
//! - Beneath a folder: paths that are not absolute begin there. One that leads out is refused before the disk
//!   is asked, whether or not anything is there; one that leads out by a link, as soon as that is known.
//! - A path is handed on as it was found, without links. Whoever can rename folders beneath the granted one, or
//!   put links there, at the moment between can let a statement out; no statement can.

use crate::error::input;
use gadus_engine::{Error, ErrorKind, Result};
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

    /// The folder that a statement writes, which need not be there.
    pub(super) fn to_write_folder(&self, path: &str) -> Result<PathBuf> {
        self.check()?;
        let Self::Beneath(granted) = self else { return Ok(PathBuf::from(path)) };
        let whole = granted.whole(path)?;
        let found = match whole.symlink_metadata() {
            Ok(_) => granted.found(&whole, path)?,
            Err(_) => {
                let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
                    return Err(out_of_reach(path));
                };
                granted.found(folder, path)?.join(name)
            }
        };
        // It is written beside, first.
        if *found == *granted.0 { Err(out_of_reach(path)) } else { Ok(found) }
    }

    /// Where a statement writes that names a path.
    pub(super) fn to_write(&self, path: &str) -> Result<String> {
        self.check()?;
        let Self::Beneath(granted) = self else { return Ok(path.to_owned()) };
        let whole = granted.whole(path)?;
        if whole.symlink_metadata().is_ok() {
            return granted.file(&whole, path);
        }
        let (Some(folder), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(out_of_reach(path));
        };
        text_of(granted.found(folder, path)?.join(name), path)
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

fn no_text(path: &str) -> Error {
    input(format!("'{path}' leads to a name that is not UTF-8"))
}

fn out_of_reach(path: &str) -> Error {
    let message = format!(
        "'{path}' leads out of the folder whose files are within reach of this connection: paths begin there"
    );
    Error::new(ErrorKind::PermissionDenied, message)
}

fn unreachable(path: &str, error: &io::Error) -> Error {
    Error::new(kind_of(error), format!("{path} cannot be reached: {error}"))
}

/// What a failure to reach a file is to the caller.
pub(crate) fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
        _ => ErrorKind::Io,
    }
}
