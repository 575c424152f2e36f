//! The files that a path, a glob or a folder means.

use super::compression::Compression;
use crate::error::input;
use crate::session::{is_glob, kind_of};
use gadus_block::{InputFolder, open_input};
use gadus_engine::{Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Files that one table has at most.
pub(crate) const FILES_MAX: usize = 100_000;

/// A file, and how it is compressed.
#[derive(Debug, Clone)]
pub(crate) struct TextFile {
    pub(crate) path: PathBuf,
    pub(crate) compression: Compression,
    /// The folder that the file must not be outside of; its path begins with that folder's.
    pub(crate) beneath: Option<InputFolder>,
}

impl TextFile {
    /// Opens the file; a folder, pipe or device is an error.
    pub(crate) fn open(&self) -> io::Result<File> {
        match &self.beneath {
            None => open_input(&self.path),
            Some(folder) => folder.open_file(within(folder, &self.path)?),
        }
    }

    /// Returns the file's size in bytes, 0 if it cannot be reached.
    pub(crate) fn bytes(&self) -> u64 {
        let facts = match self.beneath {
            None => self.path.metadata(),
            Some(_) => self.open().and_then(|file| file.metadata()),
        };
        facts.map_or(0, |facts| facts.len())
    }
}

/// Returns the path of a file within a folder.
pub(crate) fn within<'a>(folder: &InputFolder, path: &'a Path) -> io::Result<&'a Path> {
    path.strip_prefix(folder.path()).map_err(|_| io::ErrorKind::PermissionDenied.into())
}

/// Returns files beneath a folder that are known.
pub(crate) fn files_beneath(
    folder: &InputFolder,
    paths: Vec<PathBuf>,
    compression: Option<Compression>,
) -> Vec<TextFile> {
    text_files(paths, Some(folder), compression)
}

/// The files of a path or glob, in the order of their names; of a folder those whose names end so, compressed or not.
///
/// # Errors
/// Where there is none.
pub(crate) fn files_of(
    path: &str,
    endings: &[&str],
    compression: Option<Compression>,
) -> Result<Vec<TextFile>> {
    let mut found = Vec::new();
    if is_glob(path) {
        let matching = glob::glob(path).map_err(|error| input(format!("'{path}': {error}")))?;
        for file in matching {
            let file = file.map_err(|error| {
                let failed = error.error();
                Error::new(kind_of(failed), format!("{path} cannot be read: {failed}"))
            })?;
            if file.is_file() {
                add(file, &mut found)?;
            }
        }
    } else if Path::new(path).is_dir() {
        walk(Path::new(path), endings, &mut found)?;
    } else {
        add(path.into(), &mut found)?;
    }
    if found.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, format!("no file matches '{path}'")));
    }
    Ok(text_files(found, None, compression))
}

fn text_files(
    paths: Vec<PathBuf>,
    beneath: Option<&InputFolder>,
    compression: Option<Compression>,
) -> Vec<TextFile> {
    let of = |path: PathBuf| {
        let named = Compression::of_path(&path.to_string_lossy()).0;
        TextFile { compression: compression.unwrap_or(named), path, beneath: beneath.cloned() }
    };
    paths.into_iter().map(of).collect()
}

fn add(path: PathBuf, found: &mut Vec<PathBuf>) -> Result<()> {
    if found.len() == FILES_MAX {
        return Err(Error::new(ErrorKind::Limit, format!("more than {FILES_MAX} files")));
    }
    found.push(path);
    Ok(())
}

/// Adds the files of a folder and of those within, by their names.
fn walk(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |error: std::io::Error| {
        Error::new(kind_of(&error), format!("{} cannot be read: {error}", folder.display()))
    };
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let entries = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<std::io::Result<Vec<_>>>().map_err(failed)?;
    entries.sort();
    for entry in entries {
        let name = entry.to_string_lossy().into_owned();
        let (_, plain) = Compression::of_path(&name);
        let is_named = || endings.iter().any(|ending| plain.ends_with(ending));
        // A link to a folder may lead to where it is.
        match entry.symlink_metadata().is_ok_and(|data| data.is_dir()) {
            true => walk(&entry, endings, found)?,
            false if is_named() && entry.is_file() => add(entry, found)?,
            false => {}
        }
    }
    Ok(())
}
