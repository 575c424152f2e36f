//! `gadus machine facts` and `gadus machine diff`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gadus_machine::{Difference, Fact};
use serde_json::{Value, json};

use super::{Which, read};
use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
pub(super) struct Facts {
    #[command(flatten)]
    which: Which,
    /// Write them to a file as well, for `gadus machine diff`
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The earlier facts
    older: PathBuf,
    /// The later facts
    newer: PathBuf,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

pub(super) fn facts(command: &Facts) -> Result<(), Failure> {
    let facts = match command.which.is_here() {
        true => gadus_machine::Facts::discover()?,
        false => gadus_machine::Facts::of(&command.which.topology()?),
    };
    if let Some(path) = &command.save {
        let failed = |error| Failure::message(format!("cannot write {}: {error}", path.display()));
        fs::write(path, format!("{:#}\n", facts.to_json())).map_err(failed)?;
    }
    if command.json {
        return Ok(writeln!(io::stdout(), "{}", facts.to_json())?);
    }
    let row = |fact: &Fact| {
        let Fact { subject, name, source, .. } = fact;
        [subject.clone(), name.clone(), fact.shown(), source.word().to_owned()]
    };
    let rows = facts.iter().map(row).collect::<Vec<_>>();
    print_rows(["of", "what", "is", "source"], &rows)
}

pub(super) fn diff(command: &Diff) -> Result<(), Failure> {
    let load = |path: &PathBuf| -> Result<_, Failure> {
        Ok(gadus_machine::Facts::from_json(&read(path)?, &path.display().to_string())?)
    };
    let differences = load(&command.older)?.differences(&load(&command.newer)?);
    let mut output = io::stdout();
    if command.json {
        let differences = differences.iter().map(difference_json).collect::<Value>();
        return Ok(writeln!(output, "{differences}")?);
    }
    for difference in &differences {
        writeln!(output, "{difference}")?;
    }
    Ok(())
}

/// What differs, as commands print it.
pub(super) fn difference_json(difference: &Difference) -> Value {
    match difference {
        Difference::Added(fact) => json!({ "added": fact.to_json() }),
        Difference::Removed(fact) => json!({ "removed": fact.to_json() }),
        Difference::Changed(old, new) => {
            json!({ "changed": { "from": old.to_json(), "to": new.to_json() } })
        }
    }
}
