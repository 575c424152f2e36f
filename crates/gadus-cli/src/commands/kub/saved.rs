//! `gadus kub show`: a saved report.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::{Shown, read_report};
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The report, as `--save` or `--json` has written it
    file: PathBuf,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn show(command: &Show) -> Result<(), Failure> {
    let report = read_report(&command.file)?;
    Ok(io::stdout().write_all(command.shown.of(&report)?.as_bytes())?)
}
