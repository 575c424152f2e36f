//! `gadus kub compare`: two saved reports.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::read_report;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The one report, as `--save` or `--json` has written it
    first: PathBuf,
    /// The other
    second: PathBuf,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn compare(command: &Compare) -> Result<(), Failure> {
    let Compare { first, second, json } = command;
    let comparison = gadus_kub::compare(&read_report(first)?, &read_report(second)?);
    let text = match json {
        true => comparison.to_json_lines(),
        false => comparison.to_text(&first.display().to_string(), &second.display().to_string()),
    };
    Ok(io::stdout().write_all(text.as_bytes())?)
}
