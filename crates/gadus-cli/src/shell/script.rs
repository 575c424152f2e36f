//! Statements from a script: they stop at the first error, which names its line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::gather::{Gatherer, Kind, Piece};
use super::{Next, Shell};
use crate::failure::Failure;

/// Scripts that may run each other by `.read`.
const DEPTH_MAX: usize = 16;

/// Runs the statements of the command line.
pub(super) fn run_text(shell: &mut Shell, text: &str) -> Result<(), Failure> {
    let one_line = text.trim().lines().count() <= 1;
    match run_input(shell, text.as_bytes(), None) {
        // Nobody needs to be told which line of one.
        Err(Failure::Message(message) | Failure::TimedOut(message)) if one_line => {
            let message = message.strip_prefix("line 1: ").unwrap_or(&message);
            Err(Failure::message(message))
        }
        ended => ended.map(|_| ()),
    }
}

/// Runs a file.
pub(super) fn run_file(shell: &mut Shell, path: &Path) -> Result<Next, Failure> {
    if shell.depth == DEPTH_MAX {
        return Err(Failure::message(format!("scripts run each other more than {DEPTH_MAX} deep")));
    }
    let file = File::open(path)
        .map_err(|error| Failure::message(format!("cannot read {}: {error}", path.display())))?;
    shell.depth += 1;
    let next = run_input(shell, BufReader::new(file), Some(path));
    shell.depth -= 1;
    next
}

/// Runs all that is read, up to a `.quit`.
pub(super) fn run_input(
    shell: &mut Shell,
    input: impl BufRead,
    path: Option<&Path>,
) -> Result<Next, Failure> {
    let mut gatherer = Gatherer::default();
    for (index, line) in input.lines().enumerate() {
        let line = line.map_err(|error| unreadable(&error, path, index + 1))?;
        for piece in gatherer.line(&line) {
            if run_piece(shell, &piece, path)? == Next::Quit {
                return Ok(Next::Quit);
            }
        }
    }
    match gatherer.finish() {
        Some(piece) => run_piece(shell, &piece, path),
        None => Ok(Next::Continue),
    }
}

fn run_piece(shell: &mut Shell, piece: &Piece, path: Option<&Path>) -> Result<Next, Failure> {
    let ran = match piece.kind {
        Kind::Command => shell.command(&piece.text),
        Kind::Statement => shell.statement(&piece.text).map(|()| Next::Continue),
    };
    ran.map_err(|failure| match failure {
        Failure::Message(message) => {
            Failure::Message(format!("{}: {message}", place(path, piece.line)))
        }
        Failure::TimedOut(message) => {
            Failure::TimedOut(format!("{}: {message}", place(path, piece.line)))
        }
        other => other,
    })
}

fn place(path: Option<&Path>, line: usize) -> String {
    match path {
        Some(path) => format!("{}, line {line}", path.display()),
        None => format!("line {line}"),
    }
}

fn unreadable(error: &io::Error, path: Option<&Path>, line: usize) -> Failure {
    Failure::message(format!("{}: cannot read on: {error}", place(path, line)))
}
