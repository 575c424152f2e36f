//! `gadus machine show`: a picture of the machine, and how busy its cores are.

mod parts;
mod svg;
mod text;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use gadus_machine::{CacheKind, DeviceKind, Load, Loads, Topology};
use serde_json::{Value, json};

use super::Which;
use crate::commands::pause;
use crate::failure::Failure;
use crate::terminal;
use parts::Part;

/// How long cores are watched: the kernel counts in hundredths of a second, so bars have steps of 4 %.
const WATCHED: Duration = Duration::from_millis(250);

/// The width of what no terminal shows.
const WIDTH: usize = 80;

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    which: Which,
    /// Draw the picture into a file as SVG, instead
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print one JSON object: the machine, and how busy its cores are
    #[arg(long)]
    json: bool,
}

pub(super) fn show(command: &Show) -> Result<(), Failure> {
    let machine = command.which.topology()?;
    let loads = match command.which.is_here() {
        true => Some(core_loads(&machine)?),
        false => None,
    };
    let loads = loads.as_deref();
    let picture = Part::of(&machine, &command.which.name(&machine));
    if let Some(path) = &command.svg {
        let failed = |error| Failure::message(format!("cannot write {}: {error}", path.display()));
        fs::write(path, svg::drawing(&picture, &machine, loads)).map_err(failed)?;
    }
    let mut output = io::stdout();
    if command.json {
        return Ok(writeln!(output, "{}", described(&machine, loads))?);
    }
    if command.svg.is_none() {
        let width = terminal::limits().width_max.unwrap_or(WIDTH);
        for line in text::lines(&picture, &machine, loads, width) {
            writeln!(output, "{line}")?;
        }
    }
    Ok(())
}

/// How busy the cores are, by their places: of one with several processors the mean.
fn core_loads(machine: &Topology) -> Result<Vec<Load>, Failure> {
    let before = Loads::read()?;
    pause(WATCHED);
    let by_cpu = Loads::read()?.since(&before);
    let mean = |loads: &[Load], of: fn(&Load) -> f64| {
        let count = u32::try_from(loads.len()).unwrap_or(u32::MAX).max(1);
        loads.iter().map(of).sum::<f64>() / f64::from(count)
    };
    let cores = machine.cores.iter().map(|core| {
        let loads = core.cpus.iter().filter_map(|cpu| by_cpu.get(&cpu).copied());
        let loads = loads.collect::<Vec<_>>();
        let (busy, stolen) = (mean(&loads, |load| load.busy), mean(&loads, |load| load.stolen));
        Load { busy, stolen }
    });
    Ok(cores.collect())
}

fn described(machine: &Topology, loads: Option<&[Load]>) -> Value {
    let load = |core: usize| loads.and_then(|loads| loads.get(core));
    let cores = machine.cores.iter().enumerate().map(|(place, core)| {
        json!({
            "core": place, "processors": core.cpus.iter().collect::<Vec<_>>(),
            "socket": core.socket, "node": core.node, "capacity": core.capacity,
            "load": load(place).map(|load| load.busy), "stolen": load(place).map(|load| load.stolen),
        })
    });
    let caches = machine.caches.iter().map(|cache| {
        let kind = match cache.kind {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        };
        json!({
            "level": cache.level, "kind": kind, "bytes": cache.bytes.0,
            "line_bytes": cache.line_bytes, "processors": cache.cpus.iter().collect::<Vec<_>>(),
        })
    });
    let nodes = machine.nodes.iter().map(|node| {
        let pages = node.pages.iter();
        let pages = pages.map(|size| json!({ "bytes": size.bytes.0, "count": size.count }));
        json!({
            "node": node.number, "bytes": node.bytes.map(|bytes| bytes.0),
            "processors": node.cpus.iter().collect::<Vec<_>>(),
            "huge_pages": pages.collect::<Vec<_>>(),
        })
    });
    let devices = machine.devices.iter().map(|device| {
        let kind = match device.kind {
            DeviceKind::Block => "block",
            DeviceKind::Network => "network",
        };
        json!({ "name": device.name, "kind": kind, "node": device.node })
    });
    json!({
        "name": machine.name,
        "cores": cores.collect::<Vec<_>>(),
        "caches": caches.collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
        "distances": machine.distances,
        "devices": devices.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests;
