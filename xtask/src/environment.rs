//! What the tests in Python run in: virtual environments under the target folder.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes the environment as its requirements say, unless it is there already.
pub(crate) fn prepare(
    root: &Path,
    venv: &Path,
    requirements: &str,
    output: &mut impl Write,
) -> io::Result<bool> {
    let wanted = fs::read_to_string(root.join(requirements))?;
    let noted = venv.join("requirements.txt");
    if fs::read_to_string(&noted).is_ok_and(|present| present == wanted) {
        return Ok(true);
    }
    announce(output, "the environment")?;
    let make = ["-m", "venv", "--clear"];
    let install =
        ["install", "--quiet", "--disable-pip-version-check", "--requirement", requirements];
    let made = succeeds(root, Command::new("python3").args(make).arg(venv))?
        && succeeds(root, Command::new(venv.join("bin/pip")).args(install))?;
    if made {
        fs::write(noted, wanted)?;
    }
    Ok(made)
}

/// Says what comes next.
pub(crate) fn announce(output: &mut impl Write, what: &str) -> io::Result<()> {
    writeln!(output, "== {what}")?;
    output.flush()
}

pub(crate) fn succeeds(folder: &Path, command: &mut Command) -> io::Result<bool> {
    Ok(command.current_dir(folder).status()?.success())
}

/// The folder of everything that is built.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// What a folder holds that has one entry.
pub(crate) fn only_entry(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut entries = fs::read_dir(folder)?;
    entries.next().transpose().map(|entry| entry.map(|entry| entry.path()))
}
