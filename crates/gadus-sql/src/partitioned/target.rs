//! The folder that files are written to.
//!
//! - They are written to a folder beside it, which takes its place by one rename; where they go to what is there
//!   already, each file does. A write that fails leaves nothing.
//! - What is removed for them are files of partitions alone: whoever names a folder with others in it by mistake loses
//!   none.

use crate::error::input;
use crate::session::kind_of;
use gadus_block::OutputFolder;
use gadus_engine::{Error, Result};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What becomes of files that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// There must be none.
    Refused,
    /// They stay, unless one that is written has the same name.
    Kept,
    /// They are removed.
    Removed,
}

/// A folder that is written; dropped before its end, nothing was.
#[derive(Debug)]
pub(crate) struct Target {
    folder: PathBuf,
    existing: Existing,
    /// Where the files are until all are written.
    written: PathBuf,
    /// The folder's name in errors.
    shown: PathBuf,
    /// The paths above may lead through it.
    _parent: OutputFolder,
}

impl Target {
    /// Begins a folder of this name in `parent`; errors name `path`.
    ///
    /// # Errors
    /// When the folder has files and must not, or is none.
    pub(crate) fn begin(
        parent: OutputFolder,
        name: &OsStr,
        path: &Path,
        existing: Existing,
    ) -> Result<Self> {
        let (shown, folder) = (path.display(), parent.path().join(name));
        if folder.is_symlink() {
            return Err(input(format!("{shown} is a symbolic link; name the folder it leads to")));
        }
        match fs::read_dir(&folder) {
            Ok(mut entries) => match existing {
                Existing::Refused if entries.next().is_some() => {
                    return Err(input(format!(
                        "the folder {shown} is not empty: OVERWRITE removes the files of partitions in it, and \
                         OVERWRITE_OR_IGNORE writes to what is there"
                    )));
                }
                Existing::Removed => only_partitions(&folder)?,
                _ => {}
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(path, &error)),
        }
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        let written = builder.prefix(&prefix).suffix(".partial").tempdir_in(parent.path());
        let written = written.map_err(|error| failed(path, &error))?.keep();
        Ok(Self { folder, existing, written, shown: path.to_owned(), _parent: parent })
    }

    /// Where files are written to.
    pub(super) fn path(&self) -> &Path {
        &self.written
    }

    /// Puts all that was written in its place.
    pub(crate) fn end(self) -> Result<()> {
        let done = match self.existing {
            Existing::Kept if self.folder.exists() => move_into(&self.written, &self.folder),
            Existing::Removed if self.folder.exists() => self.replace(),
            _ => fs::rename(&self.written, &self.folder),
        };
        done.map_err(|error| failed(&self.shown, &error))
    }

    fn replace(&self) -> io::Result<()> {
        // Beside it, where nobody looks for files; a name that nobody has, as the other one is.
        let mut before = self.written.clone().into_os_string();
        before.push(".before");
        fs::rename(&self.folder, &before)?;
        if let Err(error) = fs::rename(&self.written, &self.folder) {
            fs::rename(&before, &self.folder)?;
            return Err(error);
        }
        fs::remove_dir_all(&before)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // It is in its place where all went well.
        let _ = fs::remove_dir_all(&self.written);
    }
}

/// Refuses a folder that has anything but folders of partitions with files in them.
fn only_partitions(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(folder, &error))?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
        let name = name.to_string_lossy();
        let is_ours = match is_folder {
            true => super::names::of_folder(&name).is_some(),
            false => name.starts_with("data_"),
        };
        if !is_ours {
            let message = "OVERWRITE removes files of partitions alone";
            return Err(input(format!("{} is none of a partition: {message}", path.display())));
        }
        if is_folder {
            only_partitions(&path)?;
        }
    }
    Ok(())
}

/// Moves the files of a folder to the same places of another.
fn move_into(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => move_into(&entry.path(), &place)?,
            false => fs::rename(entry.path(), place)?,
        }
    }
    Ok(())
}

pub(crate) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::new(kind_of(error), format!("{} cannot be written: {error}", path.display()))
}
