//! `gadus machine simulate`: what a scan would take on a machine that is not here.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use gadus_base::ByteCount;
use gadus_machine::{
    Bandwidth, Bound, Place, Request, ScanCost, Simulated, State, Topology, measure_bandwidth,
    naive, partitions, simulate as run,
};
use serde_json::{Value, json};

use super::Which;
use super::place::Pair;
use crate::failure::Failure;
use crate::terminal::print_rows;

/// How long this machine's memory is read, by one thread and by all.
const MEASURED: Duration = Duration::from_millis(300);

const GB: f64 = 1e9;

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
    /// What one thread reads of memory near it, in GB a second
    #[arg(long, value_name = "GB/S", value_parser = rate, requires = "node_rate")]
    thread_rate: Option<f64>,
    /// What all threads near a node read of it together, in GB a second
    #[arg(long, value_name = "GB/S", value_parser = rate, requires = "thread_rate")]
    node_rate: Option<f64>,
    /// Print one JSON object a layout
    #[arg(long)]
    json: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "a number of GB a second, more than 0".to_owned())
}

pub(super) fn simulate(command: &Simulate) -> Result<(), Failure> {
    let machine = command.which.topology()?;
    let mut state = State::idle(&machine);
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
        let bandwidth = match self.thread_rate.zip(self.node_rate) {
            Some((thread, node)) => Bandwidth { thread: thread * GB, node: node * GB },
            None => measure_bandwidth(&Topology::discover()?, MEASURED)?,
        };
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
    let count = command.partitions.map_or(machine.cores.len(), |count| count as usize);
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
