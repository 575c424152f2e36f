//! `cargo xtask python`: builds the Python package as a wheel, and tests the wheel.
//!
//! - Everything lies under the target folder: the wheels, and a virtual environment with the tools and the
//!   packages that the tests meet Gadus with.

use crate::environment::{announce, only_entry, prepare, succeeds, target};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// What the environment holds beside the wheel.
const REQUIREMENTS: &str = "python/requirements-test.txt";

/// Builds and tests; true when all passed.
pub(crate) fn run(root: &Path, arguments: &[&str], output: &mut impl Write) -> io::Result<bool> {
    let place = target(root).join("python");
    let (venv, wheels) = (place.join("venv"), place.join("wheels"));
    let program = |name: &str| venv.join("bin").join(name);
    if !prepare(root, &venv, REQUIREMENTS, output)? {
        return Ok(false);
    }
    announce(output, "the wheel")?;
    // One wheel: the one that is tested.
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let build =
        ["build", "--quiet", "--locked", "--profile", "dev", "--interpreter", "python3", "--out"];
    let built = succeeds(root, Command::new(program("maturin")).args(build).arg(&wheels))?;
    let Some(wheel) = built.then(|| only_entry(&wheels)).transpose()?.flatten() else {
        return Ok(false);
    };
    let install = ["install", "--quiet", "--force-reinstall", "--no-deps"];
    if !succeeds(root, Command::new(program("pip")).args(install).arg(wheel))? {
        return Ok(false);
    }
    announce(output, "its tests")?;
    // The examples of the package and of the pages, too.
    let modules = ["--doctest-modules", "--pyargs", "gadus"];
    let pages = ["README.md", "docs/guide/python.md", "docs/guide/quick-start.md"]
        .map(|page| root.join(page));
    // They write files.
    let desk = place.join("desk");
    if desk.exists() {
        fs::remove_dir_all(&desk)?;
    }
    fs::create_dir_all(&desk)?;
    let pytest = || {
        let mut command = Command::new(program("python"));
        command.args(["-m", "pytest", "--quiet"]);
        command
    };
    let tested = succeeds(root, pytest().arg("python/tests").args(arguments))?
        && succeeds(root, pytest().args(modules))?
        && succeeds(&desk, pytest().arg("--doctest-glob=*.md").args(pages))?
        && succeeds(root, Command::new(program("mypy")).args(["--strict", "--package", "gadus"]))?;
    Ok(tested)
}
