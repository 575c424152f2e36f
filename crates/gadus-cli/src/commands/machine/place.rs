//! `gadus machine place`: which core and memory node each part of some data should have.

use std::io::{self, Write};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use gadus_base::ByteCount;
use gadus_machine::{
    Bandwidth, Bound, CacheSharing, Mapping, Proof, Request, State, Topology, partitions,
};
use serde_json::{Value, json};

use super::Which;
use super::rates::Rates;
use crate::failure::Failure;
use crate::terminal::print_rows;

#[derive(Debug, Args)]
pub(super) struct Place {
    #[command(flatten)]
    which: Which,
    /// The data, such as 7GiB
    #[arg(long, value_name = "BYTES")]
    bytes: ByteCount,
    /// What the work waits for
    #[arg(long, value_enum, default_value = "compute")]
    bound: BoundWord,
    /// Into how many parts the data is divided [default: as many as are best]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    partitions: Option<u32>,
    #[command(flatten)]
    rates: Rates,
    /// Whether the parts' threads are to share caches
    #[arg(long, value_enum, default_value = "any")]
    cache_sharing: SharingWord,
    /// What others use of a core: 0.3 is three tenths of its time, 1.0 a thread that never rests
    #[arg(long, value_name = "CORE=SHARE")]
    core_load: Vec<Pair<f64>>,
    /// What others have taken of a memory node
    #[arg(long, value_name = "NODE=BYTES")]
    memory_taken: Vec<Pair<ByteCount>>,
    /// How many mappings are wanted, the best first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    mappings: u32,
    /// Print a JSON array; of several mappings, an array for each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum BoundWord {
    /// Its own instructions
    Compute,
    /// Memory
    Memory,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SharingWord {
    /// It makes no difference
    Any,
    /// They drive each other's data out
    Avoid,
    /// They read the same
    Want,
}

/// `0=1.0`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<T> {
    pub(super) number: u32,
    pub(super) value: T,
}

impl<T: FromStr> FromStr for Pair<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pair = text.split_once('=');
        let pair = pair.and_then(|(number, value)| {
            Some(Self { number: number.parse().ok()?, value: value.parse().ok()? })
        });
        pair.ok_or_else(|| "a number, =, and a value".to_owned())
    }
}

pub(super) fn place(command: &Place) -> Result<(), Failure> {
    let machine = command.which.topology()?;
    let state = command.state(&machine)?;
    let bound = match command.bound {
        BoundWord::Compute => Bound::Compute,
        BoundWord::Memory => Bound::Memory,
    };
    let (count, reason) = match command.partitions {
        Some(count) => (count as usize, "as told".to_owned()),
        None => {
            let bandwidth = command.bandwidth(bound)?;
            let best = partitions(&machine, &state, command.bytes, bound, bandwidth)?;
            (best.count, best.reason)
        }
    };
    let each = command.bytes.0.div_ceil(count as u64);
    let request = Request {
        bound,
        cache_sharing: match command.cache_sharing {
            SharingWord::Any => CacheSharing::Any,
            SharingWord::Avoid => CacheSharing::Avoid,
            SharingWord::Want => CacheSharing::Want,
        },
        mappings: command.mappings as usize,
        ..Request::of_equal(count, ByteCount(each))
    };
    let mappings = gadus_machine::place(&machine, &state, &request)?;
    let sizes = sizes(command.bytes.0, each, count);
    if command.json {
        let rows = |mapping: &Mapping| {
            let rows = parts(&machine, mapping, &sizes).map(Part::into_json);
            Value::Array(rows.collect())
        };
        let printed = match mappings.as_slice() {
            [mapping] if command.mappings == 1 => rows(mapping),
            mappings => mappings.iter().map(rows).collect(),
        };
        return Ok(writeln!(io::stdout(), "{printed}")?);
    }
    writeln!(io::stderr(), "{count} partitions: {reason}")?;
    for mapping in &mappings {
        writeln!(io::stderr(), "{}", proved(mapping.proof))?;
        let rows = parts(&machine, mapping, &sizes).map(Part::into_row).collect::<Vec<_>>();
        print_rows(["partition", "core", "processors", "node", "bytes"], &rows)?;
    }
    Ok(())
}

impl Place {
    /// What is left of the machine: of this one, what is seen now; of another, all but what is said.
    fn state(&self, machine: &Topology) -> Result<State, Failure> {
        let mut state = self.which.state(machine)?;
        for &Pair { number, value } in &self.core_load {
            state.load(number as usize, value)?;
        }
        for &Pair { number, value } in &self.memory_taken {
            state.take(machine, number, value)?;
        }
        Ok(state)
    }

    /// What memory gives, where that bounds the work: as said, or measured of this machine. Of another nobody
    /// knows it.
    fn bandwidth(&self, bound: Bound) -> Result<Option<Bandwidth>, Failure> {
        match bound {
            Bound::Memory if self.which.is_here() => Ok(Some(self.rates.said_or_measured()?)),
            Bound::Memory => Ok(self.rates.said()),
            Bound::Compute => Ok(None),
        }
    }
}

/// A partition with its place.
struct Part {
    partition: usize,
    core: usize,
    processors: String,
    node: Option<u32>,
    bytes: u64,
}

impl Part {
    fn into_json(self) -> Value {
        let Self { partition, core, node, bytes, .. } = self;
        json!({ "partition": partition, "core": core, "node": node, "bytes": bytes })
    }

    fn into_row(self) -> [String; 5] {
        let node = self.node.map(|node| node.to_string()).unwrap_or_default();
        let bytes = ByteCount(self.bytes).to_string();
        [self.partition.to_string(), self.core.to_string(), self.processors, node, bytes]
    }
}

fn parts(machine: &Topology, mapping: &Mapping, sizes: &[u64]) -> impl Iterator<Item = Part> {
    mapping.places.iter().zip(sizes).enumerate().map(move |(partition, (place, bytes))| Part {
        partition,
        core: place.core,
        processors: machine.cores[place.core].cpus.to_string(),
        node: place.node.map(|node| machine.nodes[node].number),
        bytes: *bytes,
    })
}

/// Equal parts; what is left over is missing of the last ones.
fn sizes(bytes: u64, each: u64, count: usize) -> Vec<u64> {
    let mut left = bytes;
    let mut size = || {
        let size = each.min(left);
        left -= size;
        size
    };
    (0..count).map(|_| size()).collect()
}

fn proved(proof: Proof) -> String {
    match proof {
        Proof::Exact => "none is better".to_owned(),
        Proof::Within(part) => format!("none is better by more than {:.1} %", part * 100.0),
        Proof::Greedy => {
            "the solver had no answer in time: the largest first, each where it ends first"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests;
