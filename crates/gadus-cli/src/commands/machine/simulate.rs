//! `gadus machine simulate`: what a scan would take on a machine that is not here.

use std::io::{self, Write};

use clap::Args;
use gadus_base::ByteCount;
use gadus_machine::{
    Bound, Limits, Place, Request, ScanCost, Simulated, State, Topology, naive, partitions,
    simulate as run,
};
use serde_json::{Value, json};

use super::Which;
use super::place::Pair;
use super::rates::{GB, Rates, rate};
use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gadus machine simulate --topology server.xml --bytes 7GiB
  gadus machine simulate --topology server.xml --bytes 1.8GB --core-load 0=1.0 --json

Informed is as `gadus machine place` says; naive is a thread on each core, and the memory where the one
thread that loaded it was. Costs that are not given are measured here: one thread's memory, all threads'.")]
pub(super) struct Simulate {
    #[command(flatten)]
    which: Which,
    /// The data, such as 7GiB
    #[arg(long, value_name = "BYTES")]
    bytes: ByteCount,
    /// Partitions of the naive layout [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    partitions: Option<u32>,
    /// What others use of a core: 0.3 is three tenths of its time, 1.0 a thread that never rests
    #[arg(long, value_name = "CORE=SHARE")]
    core_load: Vec<Pair<f64>>,
    /// What a core works through, in GB a second, where memory does not keep it waiting [default: as much
    /// as one thread reads]
    #[arg(long, value_name = "GB/S", value_parser = rate)]
    core_rate: Option<f64>,
    #[command(flatten)]
    rates: Rates,
    /// Print one JSON object a layout
    #[arg(long)]
    json: bool,
}

pub(super) fn simulate(command: &Simulate) -> Result<(), Failure> {
    let machine = command.which.topology()?;
    let mut state = State::idle(&machine);
    if command.which.is_here() {
        state.forbid(&machine, &Limits::of_this_process());
    }
    for pair in &command.core_load {
        state.load(pair.number as usize, pair.value)?;
    }
    let cost = command.cost()?;
    let layouts = [
        ("informed", informed(&machine, &state, command)?),
        ("naive", uninformed(&machine, &state, command)?),
    ];
    writeln!(
        io::stderr(),
        "a simulation: a core works through {:.1} GB/s, a thread reads {:.1} GB/s, a node gives {:.1} GB/s",
        1.0 / cost.seconds_per_byte / GB,
        cost.bandwidth.thread / GB,
        cost.bandwidth.node / GB
    )?;
    let mut rows = Vec::new();
    for (name, (each, places)) in layouts {
        let simulated = run(&machine, &state, each, &places, cost)?;
        if command.json {
            writeln!(io::stdout(), "{}", as_json(name, command.bytes, &simulated))?;
        } else {
            rows.push(as_row(name, command.bytes, &simulated));
        }
    }
    match command.json {
        true => Ok(()),
        false => {
            print_rows(["layout", "partitions", "seconds", "GB/s", "GB/s of each node"], &rows)
        }
    }
}

impl Simulate {
    fn cost(&self) -> Result<ScanCost, Failure> {
        let bandwidth = self.rates.said_or_measured()?;
        let core = self.core_rate.map_or(bandwidth.thread, |rate| rate * GB);
        Ok(ScanCost { seconds_per_byte: 1.0 / core, bandwidth })
    }
}

/// Bytes of each partition, and where they go.
type Layout = (ByteCount, Vec<Place>);

fn informed(machine: &Topology, state: &State, command: &Simulate) -> Result<Layout, Failure> {
    let count = partitions(machine, state, command.bytes, Bound::Compute, None)?.count;
    let each = ByteCount(command.bytes.0.div_ceil(count as u64));
    let best = gadus_machine::place(machine, state, &Request::of_equal(count, each))?;
    let places = best.into_iter().next().map(|best| best.places).unwrap_or_default();
    Ok((each, places))
}

fn uninformed(machine: &Topology, state: &State, command: &Simulate) -> Result<Layout, Failure> {
    // Who leaves all to the system knows which cores there are for it, but not what its group gives.
    let able = state.speeds.iter().filter(|speed| **speed > 0.0).count().max(1);
    let count = command.partitions.map_or(able, |count| count as usize);
    let each = ByteCount(command.bytes.0.div_ceil(count as u64));
    Ok((each, naive(machine, state, each, count)?))
}

fn as_json(name: &str, bytes: ByteCount, simulated: &Simulated) -> Value {
    json!({
        "simulated": true,
        "layout": name,
        "partitions": simulated.partitions.len(),
        "seconds": simulated.seconds,
        "bytes_per_second": together(bytes, simulated),
        "partition_seconds": simulated.partitions,
        "node_bytes_per_second": simulated.traffic,
    })
}

fn as_row(name: &str, bytes: ByteCount, simulated: &Simulated) -> [String; 5] {
    let nodes = simulated.traffic.iter().map(|rate| format!("{:.1}", rate / GB));
    [
        name.to_owned(),
        simulated.partitions.len().to_string(),
        format!("{:.3}", simulated.seconds),
        format!("{:.1}", together(bytes, simulated) / GB),
        nodes.collect::<Vec<_>>().join(", "),
    ]
}

#[allow(clippy::cast_precision_loss)] // bytes of memory
fn together(bytes: ByteCount, simulated: &Simulated) -> f64 {
    bytes.0 as f64 / simulated.seconds.max(f64::MIN_POSITIVE)
}
