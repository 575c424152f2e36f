//! `cargo xtask regress`: PostgreSQL's regression files, statement by statement, on PostgreSQL and Gadus.
//! `cargo xtask random`: random queries.
//!
//! - PostgreSQL is Debian's; its source package is fetched into the target folder.
//! - The first says how many statements give the same, by file, and fails only when it cannot be run; the second fails
//!   if a query gives something else.

use crate::environment::{announce, prepare, succeeds, target};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

const TESTS: &str = "crates/gadus-sql/tests/regress";

/// Builds the program and compares it on the regression files; true when that was possible.
pub(crate) fn run(root: &Path, arguments: &[&str], output: &mut impl Write) -> io::Result<bool> {
    compared(root, ("compare.py", "PostgreSQL's regression files"), arguments, output)
}

/// Builds the program and compares it on random queries; true if all gave the same or were refused.
pub(crate) fn random(root: &Path, arguments: &[&str], output: &mut impl Write) -> io::Result<bool> {
    compared(root, ("random_compare.py", "random queries"), arguments, output)
}

fn compared(
    root: &Path,
    (script, what): (&str, &str),
    arguments: &[&str],
    output: &mut impl Write,
) -> io::Result<bool> {
    let kept = target(root).join("regress");
    let venv = kept.join("venv");
    if !prepare(root, &venv, &format!("{TESTS}/requirements.txt"), output)? {
        return Ok(false);
    }
    announce(output, "the program")?;
    let build = ["build", "--quiet", "--release", "--locked", "--package", "gadus-cli"];
    if !succeeds(root, Command::new("cargo").args(build))? {
        return Ok(false);
    }
    announce(output, what)?;
    let mut compare = Command::new(venv.join("bin/python"));
    compare.arg(format!("{TESTS}/{script}")).args(arguments);
    compare.env("GADUS", target(root).join("release").join("gadus")).env("GADUS_KEPT", kept);
    succeeds(root, &mut compare)
}
