//! `gadus kub`: what a database should leave to this kernel, and what it must do itself.
//!
//! - Results go to standard output, how far it is to standard error.
//! - A report is saved as lines of JSON, and shown again or compared without measuring anew.

mod check;
mod compare;
mod measure;
mod saved;
mod trace;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gadus_kub::{ErrorKind, Form, KubError, Report, render};

use crate::failure::Failure;

const EXAMPLES: &str = "Examples:
  gadus kub --quick                              under a minute
  gadus kub --html report.html --save today.json
  gadus kub --only lock,sync --json
  gadus kub --dir /mnt/data                      with files on another disk
  gadus kub compare monday.json today.json
  gadus kub show today.json --markdown
  gadus kub trace pages.txt                      policies on a trace of page numbers
  gadus kub check                                the measuring itself: by known delays, perf and fio

Needs no privilege; what cannot be tested is named, with the reason. Leave the machine alone meanwhile.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Kub {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    measure: measure::Measure,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure services with known delays, and what perf and fio measure too: is the measuring right here?
    Check(check::Check),
    /// What differs between two saved reports, of machines, kernels or times
    Compare(compare::Compare),
    /// Show a saved report again
    Show(saved::Show),
    /// Which policy misses how often on a trace of page numbers
    Trace(trace::Trace),
}

/// How a report is shown.
#[derive(Debug, Args)]
struct Shown {
    /// Print one JSON object a line
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
    /// Write a page with plots as well, which needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Shown {
    fn form(&self) -> Form {
        match (self.json, self.markdown) {
            (true, _) => Form::JsonLines,
            (_, true) => Form::Markdown,
            _ => Form::Text,
        }
    }

    /// Writes the page, and gives what is to be printed.
    fn of(&self, report: &Report) -> Result<String, Failure> {
        if let Some(path) = &self.html {
            write(path, &render(report, Form::Html))?;
        }
        Ok(render(report, self.form()))
    }
}

pub(crate) fn run(command: &Kub) -> Result<(), Failure> {
    match &command.command {
        None => measure::measure(&command.measure),
        Some(Command::Check(command)) => check::check(command),
        Some(Command::Compare(command)) => compare::compare(command),
        Some(Command::Show(command)) => saved::show(command),
        Some(Command::Trace(command)) => trace::trace(command),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::message(format!("cannot read {}: {error}", path.display()));
    fs::read_to_string(path).map_err(failed)
}

fn read_report(path: &Path) -> Result<Report, Failure> {
    Ok(Report::from_json_lines(&read(path)?, &path.display().to_string())?)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::message(format!("cannot write {}: {error}", path.display()));
    fs::write(path, text).map_err(failed)
}

impl From<KubError> for Failure {
    fn from(error: KubError) -> Self {
        match error.kind() {
            ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::message(error.to_string()),
        }
    }
}
