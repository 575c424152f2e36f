//! Where a database is.

use crate::error::{Error, ErrorKind, Result};
use gadus_block::FileFolder;
use std::path::Path;

/// The folder and the name in it that a path means. A symbolic link means the file it leads to, beside which the log is.
///
/// # Errors
/// `Input` where it is no name of a file, `NotFound` for a link that leads nowhere.
pub fn place(path: &Path) -> Result<(FileFolder, String)> {
    let wrong = |what: &str| Error::new(ErrorKind::Input, format!("{}: {what}", path.display()));
    let resolved = if path.is_symlink() { path.canonicalize() } else { Ok(path.to_owned()) };
    let resolved = resolved.map_err(|error| {
        let message = format!("{}: this link leads nowhere: {error}", path.display());
        Error::new(ErrorKind::NotFound, message)
    })?;
    if resolved.is_dir() {
        return Err(wrong("this is a folder; a database is a file: add a name"));
    }
    let name = resolved.file_name().ok_or_else(|| wrong("this names no file"))?;
    let name = name.to_str().ok_or_else(|| wrong("the name of a database is UTF-8"))?;
    Ok((FileFolder::new(resolved.parent().unwrap_or(Path::new(""))), name.to_owned()))
}
