//! `cargo xtask sdist`: builds the Python package's source distribution, and shows that it is whole.
//!
//! - It is unpacked outside the clone: what it lacks is not found in a folder above.
//! - Whole means: the files that a build needs and a reader wants, each crate's sources as they are here,
//!   and a workspace that cargo resolves without the network.
//! - Its lock file names the packages of the crates that stay at home, too, which cargo drops when it first
//!   resolves: so `--locked` refuses it. What remains must then be as it was locked here.
//! - Nothing is compiled: `cargo xtask python` does that.

use crate::environment::{announce, only_entry, prepare, succeeds, target};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

const REQUIREMENTS: &str = "python/requirements-sdist.txt";

/// What has to be there, beside all of the crates' sources.
const FILES: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "crates/gadus-python/Cargo.toml",
    "pyproject.toml",
    "python/gadus/__init__.py",
    "python/gadus/_gadus.pyi",
    "python/gadus/py.typed",
];

/// Which maturin writes anew.
const REWRITTEN: &[&str] = &["Cargo.toml", "PKG-INFO", "pyproject.toml"];

/// Builds and verifies; true when nothing is missing.
pub(crate) fn run(root: &Path, output: &mut impl Write) -> io::Result<bool> {
    let place = target(root).join("sdist");
    let (venv, made) = (place.join("venv"), place.join("made"));
    if !prepare(root, &venv, REQUIREMENTS, output)? {
        return Ok(false);
    }
    announce(output, "the source distribution")?;
    if made.exists() {
        fs::remove_dir_all(&made)?;
    }
    let mut maturin = Command::new(venv.join("bin/maturin"));
    let built = maturin.args(["sdist", "--out"]).arg(&made).current_dir(root).output()?;
    if !built.status.success() {
        // Else it only hands on what cargo says of every crate.
        output.write_all(&built.stderr)?;
        return Ok(false);
    }
    let outside = env::temp_dir().join(format!("gadus-sdist-{}", process::id()));
    fs::create_dir_all(&outside)?;
    let verified = verify(root, &made, &outside, output);
    fs::remove_dir_all(&outside)?;
    verified
}

fn verify(root: &Path, made: &Path, outside: &Path, output: &mut impl Write) -> io::Result<bool> {
    let Some(archive) = only_entry(made)? else { return Ok(false) };
    let mut tar = Command::new("tar");
    if !succeeds(outside, tar.args(["--extract", "--file"]).arg(fs::canonicalize(&archive)?))? {
        return Ok(false);
    }
    let Some(unpacked) = only_entry(outside)? else { return Ok(false) };
    announce(output, "what is in it")?;
    let missing = missing(root, &unpacked)?;
    for path in &missing {
        writeln!(output, "{path} is missing, or not as it is here")?;
    }
    announce(output, "its workspace")?;
    // Offline, cargo resolves with what this machine has; with what is locked, then.
    let fetch = ["fetch", "--locked", "--quiet"];
    let resolve = ["metadata", "--offline", "--quiet", "--format-version", "1"];
    let resolves = succeeds(root, Command::new("cargo").args(fetch))?
        && succeeds(&unpacked, Command::new("cargo").args(resolve).stdout(Stdio::null()))?;
    let others = unlocked(root, &unpacked)?;
    for package in &others {
        writeln!(output, "{package} is not what Cargo.lock says here")?;
    }
    let name = archive.file_name().unwrap_or_default().display();
    let is_whole = missing.is_empty() && resolves && others.is_empty();
    let outcome = if is_whole { "is whole" } else { "is not whole" };
    writeln!(output, "{name} {outcome}")?;
    Ok(is_whole)
}

/// What the distribution lacks, or has otherwise.
fn missing(root: &Path, unpacked: &Path) -> io::Result<Vec<String>> {
    let mut wanted = FILES.iter().map(|file| PathBuf::from(*file)).collect::<BTreeSet<_>>();
    for krate in fs::read_dir(unpacked.join("crates"))? {
        let sources = Path::new("crates").join(krate?.file_name()).join("src");
        files_below(root, &sources, &mut wanted)?;
    }
    files_below(root, Path::new("python/gadus"), &mut wanted)?;
    let mut missing = Vec::new();
    for path in wanted {
        let there = fs::read(unpacked.join(&path)).ok();
        let is_rewritten = REWRITTEN.iter().any(|name| path.ends_with(name));
        let is_as_here = |there: Vec<u8>| {
            is_rewritten || fs::read(root.join(&path)).is_ok_and(|here| here == there)
        };
        if !there.is_some_and(is_as_here) {
            missing.push(path.display().to_string());
        }
    }
    Ok(missing)
}

/// Adds the files below a folder, without those that are built.
fn files_below(root: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if !path.ends_with("__pycache__") {
                files_below(root, &path, files)?;
            }
        } else if path.extension().is_none_or(|extension| extension != "so") {
            files.insert(path);
        }
    }
    Ok(())
}

/// Packages that cargo has resolved to, and that are not locked here.
fn unlocked(root: &Path, unpacked: &Path) -> io::Result<Vec<String>> {
    let [here, there] =
        [root, unpacked].map(|folder| fs::read_to_string(folder.join("Cargo.lock")));
    let (here, there) = (here?, there?);
    let here = packages(&here).collect::<BTreeSet<_>>();
    Ok(packages(&there).filter(|package| !here.contains(package)).collect())
}

/// The packages of a lock file, as name, version, source and checksum.
fn packages(lock: &str) -> impl Iterator<Item = String> {
    lock.split("[[package]]").skip(1).map(|package| {
        let names = ["name", "version", "source", "checksum"];
        let facts = package.lines().filter_map(|line| line.split_once(" = "));
        let wanted = facts.filter(|(name, _)| names.contains(name)).map(|(_, value)| value);
        wanted.collect::<Vec<_>>().join(" ")
    })
}

#[cfg(test)]
mod tests;
