//! The files that a path, a glob or a folder means.

use super::compression::Compression;
use crate::error::input;
use crate::session::{is_glob, kind_of};
use gadus_engine::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Files that one table has at most.
const FILES_MAX: usize = 100_000;

/// A file, and how it is compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub(crate) path: PathBuf,
    pub(crate) compression: Compression,
}

/// The files of paths and globs, in the order of their names; of a folder those whose names end so, compressed or not.
///
/// # Errors
/// Where there is none.
pub(crate) fn files_of(
    paths: &[String],
    endings: &[&str],
    compression: Option<Compression>,
) -> Result<Vec<TextFile>> {
    let mut found = Vec::new();
    for path in paths {
        let before = found.len();
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
        if found.len() == before {
            return Err(Error::new(ErrorKind::NotFound, format!("no file matches '{path}'")));
        }
    }
    let of = |path: PathBuf| {
        let named = Compression::of_path(&path.to_string_lossy()).0;
        TextFile { compression: compression.unwrap_or(named), path }
    };
    Ok(found.into_iter().map(of).collect())
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
