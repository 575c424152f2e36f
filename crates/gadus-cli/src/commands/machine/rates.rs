//! What memory gives: said, or measured here.

use std::time::Duration;

use clap::Args;
use gadus_machine::{Bandwidth, Topology, measure_bandwidth};

use crate::failure::Failure;

/// How long this machine's memory is read, by one thread and by all.
const MEASURED: Duration = Duration::from_millis(300);

pub(super) const GB: f64 = 1e9;

/// Both or none.
#[derive(Debug, Args)]
pub(super) struct Rates {
    /// What one thread reads of memory near it, in GB a second
    #[arg(long, value_name = "GB/S", value_parser = rate, requires = "node_rate")]
    thread_rate: Option<f64>,
    /// What all threads near a node read of it together, in GB a second
    #[arg(long, value_name = "GB/S", value_parser = rate, requires = "thread_rate")]
    node_rate: Option<f64>,
}

impl Rates {
    /// As said; none where nothing is.
    pub(super) fn said(&self) -> Option<Bandwidth> {
        let (thread, node) = self.thread_rate.zip(self.node_rate)?;
        Some(Bandwidth { thread: thread * GB, node: node * GB })
    }

    /// As said, or measured of this machine.
    pub(super) fn said_or_measured(&self) -> Result<Bandwidth, Failure> {
        match self.said() {
            Some(bandwidth) => Ok(bandwidth),
            None => Ok(measure_bandwidth(&Topology::discover()?, MEASURED)?),
        }
    }
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "a number of GB a second, more than 0".to_owned())
}
