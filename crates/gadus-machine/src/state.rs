//! What a machine is doing, as far as it matters to what is placed there.

use crate::error::{ErrorKind, MachineError};
use crate::limits::Limits;
use crate::observed::Loads;
use crate::topology::{CAPACITY_MAX, CpuSet, Topology};
use gadus_base::{ByteCount, clock};
use std::time::Duration;

/// What is left of a machine for one more program.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// What a thread gets of each core, by the cores' places: 1 is the fastest core of the machine, alone.
    pub speeds: Vec<f64>,
    /// Memory that is free on each node, by the nodes' places; none where nobody knows.
    pub free: Vec<Option<ByteCount>>,
    /// How many cores may be busy together, by the time of a control group; none where all may.
    pub cores_max: Option<usize>,
    /// How much memory may be taken of all nodes together; none where all that is free may.
    pub memory_max: Option<ByteCount>,
}

impl State {
    /// A machine on which nothing else runs.
    #[must_use]
    pub fn idle(machine: &Topology) -> Self {
        let speed = |capacity: u32| f64::from(capacity) / f64::from(CAPACITY_MAX);
        Self {
            speeds: machine.cores.iter().map(|core| speed(core.capacity)).collect(),
            free: machine.nodes.iter().map(|node| node.bytes).collect(),
            cores_max: None,
            memory_max: None,
        }
    }

    /// This machine as it is now: loads as they are for some time, from which this process is not left out.
    ///
    /// # Errors
    /// `Unknown` where the kernel does not tell how busy processors are.
    pub fn observe(machine: &Topology, time: Duration) -> Result<Self, MachineError> {
        let mut state = Self::idle(machine);
        let before = Loads::read()?;
        let end = clock().now().plus(time);
        while !end.since(clock().now()).is_zero() {
            std::thread::park_timeout(end.since(clock().now()));
        }
        for (cpu, load) in Loads::read()?.since(&before) {
            if let Some(core) = machine.core_of(cpu) {
                // Of a core with several processors each load counts: they share it.
                let speed = share_beside(load.busy) * (1.0 - load.stolen);
                state.speeds[core] *= speed.clamp(0.0, 1.0);
            }
        }
        for (node, free) in machine.nodes.iter().zip(&mut state.free) {
            *free = free_of(node.number).or(*free);
        }
        state.forbid(machine, &Limits::of_this_process());
        Ok(state)
    }

    /// Takes away the cores and nodes that a process may not use, and what its group's time and memory do not
    /// give: they are bounds on all cores and all nodes together.
    pub fn forbid(&mut self, machine: &Topology, limits: &Limits) {
        if let Some(allowed) = &limits.allowed {
            for (core, speed) in machine.cores.iter().zip(&mut self.speeds) {
                if !core.cpus.meets(allowed) {
                    *speed = 0.0;
                }
            }
        }
        for (node, free) in machine.nodes.iter().zip(&mut self.free) {
            if limits.allowed_nodes.as_ref().is_some_and(|nodes| !nodes.contains(node.number)) {
                *free = Some(ByteCount(0));
            }
        }
        let memory = [self.memory_max, limits.memory, limits.memory_high];
        self.memory_max = memory.into_iter().flatten().min();
        let cores = [self.cores_max, limits.cpus.map(begun_cores)];
        self.cores_max = cores.into_iter().flatten().min();
    }

    /// Others keep a core busy: 0.3 is three tenths of its time, 2 are two threads that never rest.
    ///
    /// # Errors
    /// `Request` where there is no such core, or the load is no load.
    pub fn load(&mut self, core: usize, load: f64) -> Result<(), MachineError> {
        let count = self.speeds.len();
        let Some(speed) = self.speeds.get_mut(core) else {
            let message = format!("there is no core {core}: there are {count}, from 0");
            return Err(MachineError::new(ErrorKind::Request, message));
        };
        if !load.is_finite() || load < 0.0 {
            let message = format!(
                "core {core} cannot have a load of {load}: 0 is idle, 1 is one busy thread"
            );
            return Err(MachineError::new(ErrorKind::Request, message));
        }
        *speed *= share_beside(load);
        Ok(())
    }

    /// Others have taken memory of a node of the machine, by its number.
    ///
    /// # Errors
    /// `Request` where there is no such node, it has less, or nobody tells how much it has.
    pub fn take(
        &mut self,
        machine: &Topology,
        number: u32,
        bytes: ByteCount,
    ) -> Result<(), MachineError> {
        let refused = |message| Err(MachineError::new(ErrorKind::Request, message));
        let place = machine.node_place(number);
        let Some(free) = place.and_then(|place| self.free.get_mut(place)) else {
            let known = machine.nodes.iter().map(|node| node.number).collect::<CpuSet>();
            return refused(match known.is_empty() {
                true => format!("there is no memory node {number}: the machine tells of none"),
                false => format!("there is no memory node {number}: there are {known}"),
            });
        };
        let Some(left) = *free else {
            return refused(format!(
                "{bytes} cannot be taken of node {number}: nobody tells how much it has"
            ));
        };
        let Some(rest) = left.0.checked_sub(bytes.0) else {
            return refused(format!("{bytes} cannot be taken of node {number}, which has {left}"));
        };
        *free = Some(ByteCount(rest));
        Ok(())
    }
}

/// Cores that a time keeps busy, at least one: 3 for 2.5 processors.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // processors
fn begun_cores(time: f64) -> usize {
    time.ceil().max(1.0) as usize
}

/// Memory of a node that can be had: what is free, and what only repeats files that are on a disk.
fn free_of(node: u32) -> Option<ByteCount> {
    let path = format!("/sys/devices/system/node/node{node}/meminfo");
    let text = std::fs::read_to_string(path).ok()?;
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.split_once(name))?;
        line.1.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    let files = of(" Active(file):").unwrap_or(0) + of(" Inactive(file):").unwrap_or(0);
    Some(ByteCount((of(" MemFree:")? + files).checked_mul(1024)?))
}

/// What a thread gets of a core beside a load: what that leaves, and no less than its fair share beside as
/// many threads as that must be.
pub(crate) fn share_beside(load: f64) -> f64 {
    (1.0 - load).max(1.0 / (1.0 + load.max(1.0)))
}

#[cfg(test)]
mod tests;
