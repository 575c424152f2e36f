//! `gadus kub`: a run.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use gadus_kub::{Benchmark, Budget, Form, Report, Settings, render};
use gadus_machine::KeptFacts;
use signal_hook::consts::SIGTERM;

use super::{Shown, write};
use crate::failure::Failure;
use crate::interrupt::Interrupt;

#[derive(Debug, Args)]
pub(super) struct Measure {
    /// Under a minute in all
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,
    /// About half an hour: more cells, narrower intervals
    #[arg(long)]
    thorough: bool,
    /// Some benchmarks alone: null, bind, replace, locality, schedule, message, lock, sync, domains
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = benchmark)]
    only: Vec<Benchmark>,
    /// Work in a new folder in this one; the disk it is on is measured [default: where it is called]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Write the report to a file as well, for `gadus kub compare` and `show`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Keep nothing of what was measured for `gadus machine explain` and for databases
    #[arg(long)]
    forget: bool,
    #[command(flatten)]
    shown: Shown,
}

fn benchmark(word: &str) -> Result<Benchmark, String> {
    let known = || Benchmark::ALL.map(Benchmark::word).join(", ");
    Benchmark::from_word(word).ok_or_else(|| format!("there are {}", known()))
}

pub(super) fn measure(command: &Measure) -> Result<(), Failure> {
    let budget = match (command.quick, command.thorough) {
        (true, _) => Budget::Quick,
        (_, true) => Budget::Thorough,
        _ => Budget::Usual,
    };
    let folder = command.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let cancelled = Arc::new(AtomicBool::new(false));
    let told = cancelled.clone();
    Interrupt::tell(move || told.store(true, Ordering::Relaxed), false)?;
    // Who asks it to end finds no files left, either.
    signal_hook::flag::register(SIGTERM, cancelled.clone())?;
    let mut settings = Settings::new(&folder).budget(budget).cancelled(cancelled);
    if !command.only.is_empty() {
        settings = settings.only(command.only.clone());
    }
    let shows_progress = io::stderr().is_terminal();
    let report = gadus_kub::run(&settings, |progress| {
        // A line of its own each, since a bar that moves would take time of a processor.
        if let (true, Some(next)) = (shows_progress, &progress.next) {
            // How far it is matters less than the report.
            let _ = writeln!(io::stderr(), "{}/{} {next}", progress.done + 1, progress.all);
        }
    })?;
    if let Some(path) = &command.save {
        write(path, &render(&report, Form::JsonLines))?;
    }
    io::stdout().write_all(command.shown.of(&report)?.as_bytes())?;
    // A report is whole without: a full disk or a folder that is only read is no reason to fail.
    if !command.forget
        && let Err(error) = keep(&report)
    {
        writeln!(io::stderr(), "not kept for gadus machine explain: {error}")?;
    }
    Ok(())
}

/// Keeps what was measured for whoever asks what to choose on this machine.
fn keep(report: &Report) -> Result<(), Failure> {
    let Some(kept) = KeptFacts::of_this_user() else { return Ok(()) };
    let path = kept.keep(&report.identity, &report.facts())?;
    if io::stderr().is_terminal() {
        writeln!(io::stderr(), "kept for gadus machine explain: {}", path.display())?;
    }
    Ok(())
}
