//! `gadus machine`: what the machine is, and where work should go on it.

mod facts;
mod place;
mod simulate;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use gadus_machine::{MachineError, Topology};

use crate::failure::Failure;

const EXAMPLES: &str = "Examples:
  gadus machine facts --save monday.json
  gadus machine diff monday.json today.json
  gadus machine place --bytes 7GiB --bound compute
  gadus machine simulate --topology server.xml --bytes 7GiB
  gadus machine place --topology server.xml --bytes 7GiB --core-load 0=1.0 --json

`lstopo server.xml` of hwloc 2 writes a description of another machine.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Machine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What is known of the machine: each fact with its source
    Facts(facts::Facts),
    /// What differs between two files of facts
    Diff(facts::Diff),
    /// Which core and memory node each part of some data should have
    Place(place::Place),
    /// What a scan would take, informed and naive, on a machine that need not be here
    Simulate(simulate::Simulate),
}

/// Which machine is asked about.
#[derive(Debug, Args)]
struct Which {
    /// Another machine, as hwloc's lstopo describes it in XML; without it, this one as it is now
    #[arg(long, value_name = "FILE")]
    topology: Option<PathBuf>,
}

impl Which {
    /// The machine; of another one, what the file says.
    fn topology(&self) -> Result<Topology, Failure> {
        match &self.topology {
            None => Ok(Topology::discover()?),
            Some(path) => Ok(Topology::from_xml(&read(path)?, &path.display().to_string())?),
        }
    }

    fn is_here(&self) -> bool {
        self.topology.is_none()
    }
}

pub(crate) fn run(command: &Machine) -> Result<(), Failure> {
    match &command.command {
        Command::Facts(command) => facts::facts(command),
        Command::Diff(command) => facts::diff(command),
        Command::Place(command) => place::place(command),
        Command::Simulate(command) => simulate::simulate(command),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::message(format!("cannot read {}: {error}", path.display()));
    fs::read_to_string(path).map_err(failed)
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        Self::message(error.to_string())
    }
}
