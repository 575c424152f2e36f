//! The prompt: lines with editing and history.
//!
//! - Ctrl-C clears the line, or cancels what runs; Ctrl-D at an empty prompt leaves.
//! - History is kept in the user's state folder, a statement an entry; without a folder there is none.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use super::gather::{Gatherer, Kind};
use super::{Next, Shell};
use crate::failure::Failure;

const PROMPT: &str = "gadus> ";
const PROMPT_CONTINUED: &str = "   ...> ";
const HISTORY_ENTRIES_MAX: usize = 10_000;

/// Reads and runs until the user leaves.
pub(super) fn run(shell: &mut Shell, file: Option<&Path>) -> Result<(), Failure> {
    let place = file.map_or("in memory".to_owned(), |file| file.display().to_string());
    let version = env!("CARGO_PKG_VERSION");
    writeln!(io::stdout(), "Gadus {version}, {place}. Statements end with ;  Help: .help")?;
    let config = Config::builder().max_history_size(HISTORY_ENTRIES_MAX).map_err(unusable)?.build();
    let mut editor = Editor::<(), FileHistory>::with_config(config).map_err(unusable)?;
    let history = history_path();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = editor.load_history(path);
    }
    let ended = read_and_run(shell, &mut editor);
    if let Some(path) = &history {
        // A session is no worse for a history that cannot be kept.
        let _ = editor.save_history(path);
    }
    ended
}

fn read_and_run(shell: &mut Shell, editor: &mut Editor<(), FileHistory>) -> Result<(), Failure> {
    let mut gatherer = Gatherer::default();
    let mut entry = String::new();
    loop {
        let prompt = if gatherer.is_empty() { PROMPT } else { PROMPT_CONTINUED };
        let line = match editor.readline(prompt) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                gatherer.clear();
                entry.clear();
                continue;
            }
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(unusable(error)),
        };
        if !entry.is_empty() {
            entry.push('\n');
        }
        entry.push_str(&line);
        let pieces = gatherer.line(&line);
        if gatherer.is_empty() {
            // Kept before it runs: a statement that ends the program is the one to look at again.
            let _ = editor.add_history_entry(std::mem::take(&mut entry).trim());
        }
        for piece in pieces {
            let ran = match piece.kind {
                Kind::Command => shell.command(&piece.text),
                Kind::Statement => shell.statement(&piece.text).map(|()| Next::Continue),
            };
            match ran {
                Ok(Next::Continue) => {}
                Ok(Next::Quit) => return Ok(()),
                Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
                Err(failure) => writeln!(io::stderr(), "error: {failure}")?,
            }
        }
    }
}

/// The file of the history; its folder is made when it is missing.
fn history_path() -> Option<PathBuf> {
    let state = match std::env::var_os("XDG_STATE_HOME") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        _ => Path::new(&std::env::var_os("HOME")?).join(".local/state"),
    };
    let folder = state.join("gadus");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

fn unusable(error: ReadlineError) -> Failure {
    Failure::message(format!("the terminal cannot be used: {error}"))
}
