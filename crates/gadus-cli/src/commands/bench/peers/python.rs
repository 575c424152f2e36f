//! A peer in a Python process of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

const SERVE: &str = include_str!("serve.py");
const DUCKDB: &str = include_str!("duckdb.py");
const SQLITE: &str = include_str!("sqlite.py");
const DATAFUSION: &str = include_str!("datafusion.py");
const PACKAGE: &str = include_str!("package.py");
const PSYCOPG: &str = include_str!("psycopg.py");

/// A running peer: asked by one line, answers by one line.
#[derive(Debug)]
pub(in super::super) struct Python {
    name: &'static str,
    child: Child,
    /// None once no more is asked.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// DuckDB, from a wheel in a virtual environment in `kept`.
    pub(in super::super) fn duckdb(kept: &Path) -> Result<Self, Failure> {
        Self::start("duckdb", &with_wheel(kept, "duckdb")?, DUCKDB)
    }

    /// DataFusion, from a wheel as well.
    pub(in super::super) fn datafusion(kept: &Path) -> Result<Self, Failure> {
        Self::start("datafusion", &with_wheel(kept, "datafusion")?, DATAFUSION)
    }

    /// Gadus' own package, from a wheel or a folder to build one from, in an environment of its own.
    pub(in super::super) fn gadus(kept: &Path, package: &Path) -> Result<Self, Failure> {
        let environment = kept.join("venv-gadus");
        make_environment(&environment)?;
        let interpreter = environment.join("bin/python");
        let package = package.to_string_lossy();
        // The one that is there may be older.
        pip_install(&interpreter, &["--force-reinstall", "--no-deps", &package])?;
        pip_install(&interpreter, &["pyarrow"])?;
        Self::start("gadus", &interpreter, PACKAGE)
    }

    /// DuckDB's package, for the same.
    pub(in super::super) fn duckdb_package(kept: &Path) -> Result<Self, Failure> {
        let interpreter = with_wheel(kept, "duckdb")?;
        pip_install(&interpreter, &["pyarrow"])?;
        Self::start("duckdb", &interpreter, PACKAGE)
    }

    /// A driver of PostgreSQL.
    pub(in super::super) fn psycopg(kept: &Path) -> Result<Self, Failure> {
        let interpreter = with_wheel(kept, "duckdb")?;
        pip_install(&interpreter, &["psycopg[binary]"])?;
        Self::start("psycopg", &interpreter, PSYCOPG)
    }

    /// The SQLite that Python brings along.
    pub(in super::super) fn sqlite() -> Result<Self, Failure> {
        Self::start("sqlite", Path::new("python3"), SQLITE)
    }

    fn start(name: &'static str, interpreter: &Path, script: &str) -> Result<Self, Failure> {
        let mut child = Command::new(interpreter)
            .args(["-c", &format!("{SERVE}\n{script}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| missing(interpreter, &error.to_string()))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::message("a peer without pipes"));
        };
        Ok(Self { name, child, requests: Some(requests), answers: BufReader::new(answers) })
    }

    /// The peer's version, for the record.
    pub(in super::super) fn version(&mut self) -> Result<String, Failure> {
        let answer = self.ask(&serde_json::json!({ "do": "version" }))?;
        Ok(format!("{} {}", self.name, answer["version"].as_str().unwrap_or("of unknown version")))
    }

    /// Lets the peer do something; returns its answer.
    pub(in super::super) fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        let gone = || Failure::message(format!("{} went away; see above", self.name));
        let mut line = String::new();
        let requests = self.requests.as_mut().ok_or_else(gone)?;
        writeln!(requests, "{request}").map_err(|_| gone())?;
        if self.answers.read_line(&mut line)? == 0 {
            return Err(gone());
        }
        let answer: Value = serde_json::from_str(&line)
            .map_err(|error| Failure::message(format!("{}: {error}: {line}", self.name)))?;
        match answer["error"].as_str() {
            Some(error) => Err(Failure::message(format!("{}: {error}", self.name))),
            None => Ok(answer),
        }
    }

    /// Asks, and takes one number from the answer.
    pub(in super::super) fn ask_number(
        &mut self,
        request: &Value,
        key: &str,
    ) -> Result<f64, Failure> {
        let answer = self.ask(request)?;
        answer[key]
            .as_f64()
            .ok_or_else(|| Failure::message(format!("{}: no {key} in {answer}", self.name)))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // The end of its input ends the peer.
        self.requests = None;
        let _ = self.child.wait();
    }
}

/// The interpreter of a virtual environment that has a wheel; made, and filled from the package
/// index, when it does not exist.
fn with_wheel(kept: &Path, wheel: &str) -> Result<PathBuf, Failure> {
    let environment = kept.join("venv");
    let interpreter = environment.join("bin/python");
    let has_wheel = |interpreter: &Path| {
        let import = format!("import {wheel}");
        let found = Command::new(interpreter).args(["-c", &import]).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    if has_wheel(&interpreter) {
        return Ok(interpreter);
    }
    make_environment(&environment)?;
    pip_install(&interpreter, &[wheel])?;
    Ok(interpreter)
}

fn make_environment(environment: &Path) -> Result<(), Failure> {
    run(Path::new("python3"), &["-m", "venv", &environment.to_string_lossy()])
}

fn pip_install(interpreter: &Path, words: &[&str]) -> Result<(), Failure> {
    run(interpreter, &[&["-m", "pip", "install", "--quiet"], words].concat())
}

fn run(program: &Path, words: &[&str]) -> Result<(), Failure> {
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| missing(program, &error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(missing(program, told.trim().lines().last().unwrap_or("it said nothing")))
}

fn missing(program: &Path, why: &str) -> Failure {
    Failure::message(format!(
        "{} cannot be used: {why}. On Debian: apt-get install python3 python3-venv",
        program.display()
    ))
}
