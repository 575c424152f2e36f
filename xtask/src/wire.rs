//! `cargo xtask wire`: tests the server with clients that nobody here wrote.
//!
//! - PostgreSQL's own programs, Java and Node come from the system; drivers are fetched into the target
//!   folder.

use crate::environment::{announce, prepare, succeeds, target};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

const TESTS: &str = "crates/gadus-server/tests/clients";

/// Builds the program and tests its server; true when all passed.
pub(crate) fn run(root: &Path, arguments: &[&str], output: &mut impl Write) -> io::Result<bool> {
    let kept = target(root).join("wire");
    let venv = kept.join("venv");
    if !prepare(root, &venv, &format!("{TESTS}/requirements.txt"), output)? {
        return Ok(false);
    }
    announce(output, "the program")?;
    let build = ["build", "--quiet", "--locked", "--package", "gadus-cli"];
    if !succeeds(root, Command::new("cargo").args(build))? {
        return Ok(false);
    }
    announce(output, "its server's clients")?;
    let mut pytest = Command::new(venv.join("bin/python"));
    pytest.args(["-m", "pytest", "--quiet", TESTS]).args(arguments);
    pytest.env("GADUS", target(root).join("debug").join("gadus")).env("GADUS_KEPT", kept);
    succeeds(root, &mut pytest)
}
