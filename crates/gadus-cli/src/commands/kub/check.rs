//! `gadus kub check`: the measuring itself, by services that take a known time.

use std::io::{self, Write};

use clap::Args;
use gadus_kub::{KnownDelay, check_known_delays};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
#[command(after_help = "Fails where a delay of 5, 50 or 500 µs is measured more than 5 % wrong.")]
pub(super) struct Check {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn check(command: &Check) -> Result<(), Failure> {
    let found = check_known_delays()?;
    if command.json {
        for delay in &found {
            let KnownDelay { asked_ns, measured_ns } = delay;
            let line = json!({
                "asked_ns": asked_ns, "measured_ns": measured_ns, "error": delay.error(),
                "right": delay.is_right(),
            });
            writeln!(io::stdout(), "{line}")?;
        }
    } else {
        let row = |delay: &KnownDelay| {
            let micros = |ns: f64| format!("{:.3} µs", ns / 1e3);
            let error = format!("{:+.2} %", delay.error() * 100.0);
            let right = if delay.is_right() { "yes" } else { "no" };
            [micros(delay.asked_ns), micros(delay.measured_ns), error, right.to_owned()]
        };
        let rows = found.iter().map(row).collect::<Vec<_>>();
        print_rows(["delay", "measured", "difference", "within 5 %"], &rows)?;
    }
    match found.iter().all(KnownDelay::is_right) {
        true => Ok(()),
        false => Err(Failure::message("a known delay was measured wrong: is the machine busy?")),
    }
}
