//! `gadus machine`: what the machine is, what it is doing, and what follows from that.

mod explain;
mod facts;
mod place;
mod rates;
mod show;
mod simulate;
mod watch;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use gadus_base::ByteCount;
use gadus_machine::{MachineError, State, Topology};

use crate::failure::Failure;

const EXAMPLES: &str = "Examples:
  gadus machine                                  a picture, with a bar for each core
  gadus machine --svg machine.svg
  gadus machine explain scan-threads
  gadus machine watch --every 5s
  gadus machine facts --save monday.json
  gadus machine diff monday.json today.json
  gadus machine place --bytes 7GiB --bound compute
  gadus machine simulate --topology server.xml --bytes 7GiB
  gadus machine place --topology server.xml --bytes 7GiB --core-load 0=1.0 --json

`lstopo server.xml` of hwloc 2 writes a description of another machine.";

/// How long this machine is watched before it is asked for a place.
const WATCHED: Duration = Duration::from_millis(100);

/// Descriptions of the largest machines, and all facts of one, have some hundred thousand bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Machine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    show: show::Show,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A picture of the machine: packages, memory, caches, cores, and how busy they are
    Show(show::Show),
    /// What is chosen by the machine, why, and what else might be
    Explain(explain::Explain),
    /// What changes: loads, limits, pressure; until Ctrl-C
    Watch(watch::Watch),
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

    /// What to call it.
    fn name(&self, machine: &Topology) -> String {
        match (&self.topology, &machine.name) {
            (Some(path), _) => path.display().to_string(),
            (None, Some(name)) => name.clone(),
            (None, None) => "this machine".to_owned(),
        }
    }

    /// What is left of it: of this one, what is seen now; of another, all.
    fn state(&self, machine: &Topology) -> Result<State, Failure> {
        match self.is_here() {
            true => Ok(State::observe(machine, WATCHED)?),
            false => Ok(State::idle(machine)),
        }
    }
}

pub(crate) fn run(command: &Machine) -> Result<(), Failure> {
    match &command.command {
        None => show::show(&command.show),
        Some(Command::Show(command)) => show::show(command),
        Some(Command::Explain(command)) => explain::explain(command),
        Some(Command::Watch(command)) => watch::watch(command),
        Some(Command::Facts(command)) => facts::facts(command),
        Some(Command::Diff(command)) => facts::diff(command),
        Some(Command::Place(command)) => place::place(command),
        Some(Command::Simulate(command)) => simulate::simulate(command),
    }
}

/// A file that somebody names; neither one without an end, nor one that waits for somebody who writes.
fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let failed = |error| Failure::message(format!("cannot read {shown}: {error}"));
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Failure::message(format!("cannot read {shown}: it is no regular file")));
    }
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let most = ByteCount(FILE_BYTES_MAX);
        return Err(Failure::message(format!("cannot read {shown}: it is longer than {most}")));
    }
    Ok(text)
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        Self::message(error.to_string())
    }
}
