//! `cargo xtask check`: everything a change must pass, in the order of its price.
//!
//! - Stops at the first step that fails; each step prints its name and its time.
//! - A tool that is not installed is a printed skip, never a silent one.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::tidy;

/// Runs every step; true when all passed.
pub(crate) fn run(root: &Path, packages: &[&str], output: &mut impl Write) -> io::Result<bool> {
    let scope = scope(packages);
    let fmt = if packages.is_empty() { vec!["--all".to_owned()] } else { scope.clone() };
    let started = now();

    let passed = step(output, "fmt", |_| cargo(root, &["fmt", "--check"], &fmt, &[]))?
        && step(output, "tidy", |output| tidy::run(root, tidy::LongFunctions::Compare, output))?
        && step(output, "clippy", |_| {
            let last = ["--", "-D", "warnings"];
            cargo(root, &["clippy", "--quiet", "--all-targets"], &scope, &last)
        })?
        && step(output, "tests", |_| cargo(root, &["test", "--quiet"], &scope, &[]))?
        && step(output, "docs", |_| cargo(root, &["doc", "--quiet", "--no-deps"], &scope, &[]))?
        && step(output, "licences", |output| licences(root, output))?;

    let verdict = if passed { "passed" } else { "FAILED" };
    writeln!(output, "check {verdict} in {:.1} s", started.elapsed().as_secs_f64())?;
    Ok(passed)
}

/// The arguments that name the packages: all of them, or those asked for.
fn scope(packages: &[&str]) -> Vec<String> {
    if packages.is_empty() {
        return vec!["--workspace".to_owned()];
    }
    packages.iter().flat_map(|package| ["--package".to_owned(), (*package).to_owned()]).collect()
}

fn step<W: Write>(
    output: &mut W,
    name: &str,
    work: impl FnOnce(&mut W) -> io::Result<bool>,
) -> io::Result<bool> {
    writeln!(output, "== {name}")?;
    output.flush()?;
    let started = now();
    let passed = work(output)?;
    let verdict = if passed { "ok" } else { "FAILED" };
    writeln!(output, "== {name}: {verdict}, {:.1} s", started.elapsed().as_secs_f64())?;
    output.flush()?;
    Ok(passed)
}

fn cargo(root: &Path, first: &[&str], scope: &[String], last: &[&str]) -> io::Result<bool> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(program)
        .args(first)
        .args(scope)
        .args(last)
        .env("RUSTDOCFLAGS", "-D warnings")
        .current_dir(root)
        .status()?;
    Ok(status.success())
}

fn licences(root: &Path, output: &mut impl Write) -> io::Result<bool> {
    let installed = Command::new("cargo-deny")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !installed {
        let how = "cargo install --locked cargo-deny";
        writeln!(output, "skipped: cargo-deny is not installed ({how})")?;
        return Ok(true);
    }
    cargo(root, &["deny", "check", "licenses", "bans", "sources"], &[], &[])
}

#[expect(clippy::disallowed_methods, reason = "the build tool stands outside the product's clock")]
fn now() -> Instant {
    Instant::now()
}
