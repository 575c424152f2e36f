//! `cargo xtask regress`: PostgreSQL's regression files, statement by statement, on PostgreSQL and Gadus.
//!
//! - PostgreSQL is Debian's; its source package is fetched into the target folder.
//! - Says how many statements give the same, by file. It fails only when it cannot be run.

use crate::environment::{announce, prepare, succeeds, target};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

const TESTS: &str = "crates/gadus-sql/tests/regress";

/// Builds the program and compares it; true when that was possible.
pub(crate) fn run(root: &Path, arguments: &[&str], output: &mut impl Write) -> io::Result<bool> {
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
    announce(output, "PostgreSQL's regression files")?;
    let mut compare = Command::new(venv.join("bin/python"));
    compare.arg(format!("{TESTS}/compare.py")).args(arguments);
    compare.env("GADUS", target(root).join("release").join("gadus")).env("GADUS_KEPT", kept);
    succeeds(root, &mut compare)
}
