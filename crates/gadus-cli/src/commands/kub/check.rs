//! `gadus kub check`: the measuring itself, by services that take a known time, and beside other tools.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus_kub::{Agreement, Agreements, KnownDelay, check_beside_tools, check_known_delays};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
#[command(
    after_help = "Takes about a minute. Fails where a delay of 5, 50 or 500 µs is measured more than 5 % wrong, where \
fio says other than within 10 % for transfers, or perf other than within 25 % for switches and calls; tools that are \
not there are named. Leave the machine alone meanwhile."
)]
pub(super) struct Check {
    /// Measure transfers in a new folder in this one [default: where it is called]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Known delays alone: takes a few seconds
    #[arg(long)]
    delays: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn check(command: &Check) -> Result<(), Failure> {
    let found = check_known_delays()?;
    match command.json {
        true => print_lines(&found)?,
        false => print_delays(&found)?,
    }
    let mut beside = Agreements::default();
    if !command.delays {
        let folder = command.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        beside = check_beside_tools(&folder)?;
        match command.json {
            true => print_agreement_lines(&beside)?,
            false => print_agreements(&beside)?,
        }
    }
    let delays_are_right = found.iter().all(KnownDelay::is_right);
    match (delays_are_right, beside.compared.iter().all(Agreement::is_near)) {
        (true, true) => Ok(()),
        (false, _) => {
            Err(Failure::message("a known delay was measured wrong: is the machine busy?"))
        }
        (true, false) => {
            Err(Failure::message("another tool measures otherwise: is the machine busy?"))
        }
    }
}

fn micros(nanoseconds: f64) -> String {
    format!("{:.3} µs", nanoseconds / 1e3)
}

fn percent(share: f64) -> String {
    format!("{:+.2} %", share * 100.0)
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

fn print_delays(found: &[KnownDelay]) -> Result<(), Failure> {
    let row = |delay: &KnownDelay| {
        let times = [delay.asked_ns, delay.measured_ns].map(micros);
        let [asked, measured] = times;
        [asked, measured, percent(delay.error()), yes_or_no(delay.is_right())]
    };
    let rows = found.iter().map(row).collect::<Vec<_>>();
    print_rows(["delay", "measured", "difference", "within 5 %"], &rows)
}

fn print_agreements(beside: &Agreements) -> Result<(), Failure> {
    let row = |agreement: &Agreement| {
        let Agreement { what, command, measured_ns, tool_ns, ratio, tolerance } = agreement;
        let near = format!("{}, within {:.0} %", yes_or_no(agreement.is_near()), tolerance * 100.0);
        let tool = command.split(' ').next().unwrap_or_default().to_owned();
        let [low, high] = [ratio.low, ratio.high].map(|bound| percent(bound - 1.0));
        let difference = format!("{} ({low} to {high})", percent(agreement.difference()));
        [what.clone(), micros(*measured_ns), tool, micros(*tool_ns), difference, near]
    };
    let rows = beside.compared.iter().map(row).collect::<Vec<_>>();
    writeln!(io::stdout())?;
    print_rows(["cell", "measured", "tool", "it says", "difference", "near"], &rows)?;
    for agreement in &beside.compared {
        writeln!(io::stdout(), "{}: {}", agreement.what, agreement.command)?;
    }
    for (what, why) in &beside.skipped {
        writeln!(io::stdout(), "not compared: {what}: {why}")?;
    }
    Ok(())
}

fn print_lines(found: &[KnownDelay]) -> Result<(), Failure> {
    for delay in found {
        let KnownDelay { asked_ns, measured_ns } = delay;
        let line = json!({
            "kind": "delay", "asked_ns": asked_ns, "measured_ns": measured_ns,
            "error": delay.error(), "right": delay.is_right(),
        });
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

fn print_agreement_lines(beside: &Agreements) -> Result<(), Failure> {
    for agreement in &beside.compared {
        let Agreement { what, command, measured_ns, tool_ns, ratio, tolerance } = agreement;
        let line = json!({
            "kind": "beside a tool", "what": what, "command": command, "measured_ns": measured_ns,
            "tool_ns": tool_ns, "difference": agreement.difference(),
            "interval": [ratio.low - 1.0, ratio.high - 1.0], "tolerance": tolerance,
            "near": agreement.is_near(),
        });
        writeln!(io::stdout(), "{line}")?;
    }
    for (what, why) in &beside.skipped {
        let line = json!({ "kind": "not compared", "what": what, "why": why });
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}
