//! The `gadus` program: one subcommand per file in `commands`.
//!
//! - Results go to standard output, everything else to standard error.
//! - A reader that goes away, as `head` does, ends the program quietly.

mod commands;
mod failure;
mod generate;
mod output;
mod progress;
mod terminal;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// An embedded SQL database that knows its machine.
#[derive(Debug, Parser)]
#[command(name = "gadus", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate test data
    Generate(commands::generate::Generate),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Generate(command) => commands::generate::run(command),
    };
    match outcome {
        Ok(()) | Err(Failure::ReaderGone) => ExitCode::SUCCESS,
        Err(failure) => {
            // When not even this can be written, the exit code still tells.
            let _ = writeln!(io::stderr(), "gadus: {failure}");
            ExitCode::FAILURE
        }
    }
}
