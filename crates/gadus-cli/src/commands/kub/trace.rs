//! `gadus kub trace`: policies on somebody's trace.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus_kub::{Cell, count_trace, read_trace};
use serde_json::json;

use super::read;
use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
#[command(
    after_help = "The file has numbers of pages, in lines or separated by blanks; # begins a comment."
)]
pub(super) struct Trace {
    /// The trace
    file: PathBuf,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn trace(command: &Trace) -> Result<(), Failure> {
    let name = command.file.display().to_string();
    let trace = read_trace(&read(&command.file)?, &name)?;
    let cells = count_trace(&name, &trace)?;
    let mut rows = Vec::new();
    for (cell, measured) in cells.iter().flat_map(of_cell) {
        let pages_per_frame = cell.variable("pages_per_frame").unwrap_or_default().to_owned();
        let misses = measured.summary.median / 1000.0;
        if command.json {
            let line = json!({
                "policy": measured.who, "pages_per_frame": pages_per_frame, "misses": misses,
                "hits": 1.0 - misses, "to_optimum": measured.ratio.map(|ratio| ratio.value),
            });
            writeln!(io::stdout(), "{line}")?;
            continue;
        }
        let ratio = measured.ratio.map(|ratio| format!("{:.2} ×", ratio.value));
        let hits = format!("{:.1} %", (1.0 - misses) * 100.0);
        rows.push([pages_per_frame, measured.who.clone(), hits, ratio.unwrap_or_default()]);
    }
    match command.json {
        true => Ok(()),
        false => {
            print_rows(["pages to a frame", "policy", "hits", "misses to the optimum's"], &rows)
        }
    }
}

fn of_cell(cell: &Cell) -> impl Iterator<Item = (&Cell, &gadus_kub::Measured)> {
    cell.measured.iter().map(move |measured| (cell, measured))
}
