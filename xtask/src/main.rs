//! The repository's own commands; see `USAGE`.
//!
//! - The standard library only, so that the first run costs two seconds.

mod check;
mod environment;
mod python;
mod regress;
mod sdist;
mod tidy;
mod wire;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask check [PACKAGE...]  fmt, clippy, tidy, tests, docs, licences; all packages by default
cargo xtask python [ARGUMENT...] the Python package as a wheel, and its tests; arguments are pytest's
cargo xtask random [COUNT [SEED]] random queries that give the same as PostgreSQL; 20,000 by default
cargo xtask regress [FILE...]   statements of PostgreSQL's regression files that give the same here, by file
cargo xtask sdist               the Python package's source distribution, and whether it is whole
cargo xtask tidy                the house rules that no compiler checks
cargo xtask tidy --write        the same, and records the present long functions
cargo xtask wire [ARGUMENT...]   the server with PostgreSQL's clients; arguments are pytest's
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut output = io::stdout().lock();
    let outcome = match words.as_slice() {
        ["check", packages @ ..] => check::run(&root(), packages, &mut output),
        ["python", arguments @ ..] => python::run(&root(), arguments, &mut output),
        ["random", arguments @ ..] => regress::random(&root(), arguments, &mut output),
        ["regress", arguments @ ..] => regress::run(&root(), arguments, &mut output),
        ["sdist"] => sdist::run(&root(), &mut output),
        ["wire", arguments @ ..] => wire::run(&root(), arguments, &mut output),
        ["tidy"] => tidy::run(&root(), tidy::LongFunctions::Compare, &mut output),
        ["tidy", "--write"] => tidy::run(&root(), tidy::LongFunctions::Record, &mut output),
        _ => output.write_all(USAGE.as_bytes()).map(|()| words == ["help"]),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Nobody is left to tell when even this fails.
            let _ = writeln!(io::stderr(), "xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The repository's root, wherever the command was started.
///
/// Asked for at run time: a build kept from another checkout would name that one's folder.
fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    own.parent().unwrap_or(Path::new(".")).to_path_buf()
}
