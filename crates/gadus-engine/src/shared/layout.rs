//! Which processor each scan thread has, and what it gets there.
//!
//! - Where threads are pinned, the first has the processor that others leave most of, and so on; each has
//!   a core to itself as long as there are cores. What others take is looked at while there are scans, by one
//!   process for all that have the file, and threads move before they join their next pass.
//! - Of processors that others leave alike, processes that scan one file begin at different ones: else all
//!   would have the first, see each other there, and move together.
//! - Which processors there are is asked in the background, once; until it is known nobody is pinned.

use super::dealing::Deal;
use super::idle::Placed;
use super::limits::Pinning;
use gadus_base::spawn;
use gadus_machine::{CpuSet, Limits, Loads, Others, Topology, pin_this_thread, this_cpu};
use gadus_storage::Store;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What others take of the processors is looked at so often.
const LOOK: Duration = Duration::from_millis(250);

/// Parts of a processor that make it another one: what moves a thread.
const CLEARLY: f64 = 0.2;

/// A pass of less time tells nothing of who has the processor beside a thread: its turns are about as long.
const TELLING: Duration = Duration::from_millis(5);

/// Who has so many times as much of a processor does two things, one of which is half done, before another one.
const FAR: f64 = 2.0;

/// The processors of scan threads.
#[derive(Debug)]
pub(super) struct Layout {
    /// Where processes tell each other what they have seen; none in a test.
    store: Option<Arc<Store>>,
    machine: Arc<OnceLock<Option<Machine>>>,
    is_asked: AtomicBool,
    state: Mutex<State>,
}

/// The processors that this process may use.
#[derive(Debug)]
struct Machine {
    /// The first of each core, in the order of the cores; then the second of each, and so on.
    cpus: Vec<u32>,
    /// The memory node near each.
    nodes: BTreeMap<u32, u32>,
    /// Whether it makes a difference on which of them a thread runs.
    is_uneven: bool,
}

#[derive(Debug)]
struct State {
    others: Others,
    /// The last look that was taken in.
    seen: u64,
    /// Processor time of scan threads since others were looked at.
    own: BTreeMap<u32, Duration>,
    /// The processors, those first that others leave most of.
    order: Vec<u32>,
    /// The place at which those begin that others leave alike.
    first: usize,
    threads: Vec<ScanThread>,
    /// The part of the time at passes for which each had its processor, lately; none where it has just come.
    had: Vec<Option<f64>>,
}

/// A thread that scans, and what it got.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScanThread {
    /// The processor that it was moved to; none where the system chooses.
    pub pinned: Option<u32>,
    /// The processor that it ran on when it last left a pass.
    pub cpu: u32,
    /// How often it was moved, and then ran where it was told to.
    pub moves: u64,
    /// Time that it worked at passes.
    pub working_time: Duration,
    /// Of it, time that it had a processor.
    pub processor_time: Duration,
}

impl Layout {
    pub(super) fn new(store: Option<Arc<Store>>, threads: usize) -> Self {
        let state = State {
            others: Others::default(),
            seen: 0,
            own: BTreeMap::new(),
            order: Vec::new(),
            first: 0,
            threads: vec![ScanThread::default(); threads],
            had: vec![None; threads],
        };
        Self {
            store,
            machine: Arc::default(),
            is_asked: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// Moves the calling thread to its processor, unless it is there. `first` is how many threads others
    /// have before this process's.
    pub(super) fn settle(
        &self,
        number: usize,
        first: usize,
        pinning: Pinning,
        pinned: &mut Option<u32>,
    ) {
        if pinning == Pinning::Off && pinned.is_none() {
            return;
        }
        let Some(machine) = self.machine() else { return };
        let wanted = self.cpu_of(number, first, pinning, machine);
        if wanted == *pinned {
            return;
        }
        let all = || machine.cpus.iter().copied().collect::<CpuSet>();
        let cpus = wanted.map_or_else(all, |cpu| [cpu].into_iter().collect());
        // Where it may no longer be, it stays where it is: the system has moved it there.
        if pin_this_thread(&cpus).is_err() {
            // If it was told to stay all the same, nobody would let it go.
            if pinned.is_none() {
                let _ = pin_this_thread(&all());
            }
            return;
        }
        *pinned = wanted;
        let mut state = self.state.lock();
        if let Some(thread) = state.threads.get_mut(number) {
            thread.pinned = wanted;
            thread.moves += 1;
            state.had[number] = None;
        }
    }

    /// The calling thread has left a pass.
    pub(super) fn worked(&self, number: usize, working_time: Duration, processor_time: Duration) {
        let (mut state, cpu) = (self.state.lock(), this_cpu());
        *state.own.entry(cpu).or_default() += processor_time;
        if let Some(thread) = state.threads.get_mut(number) {
            thread.cpu = cpu;
            thread.working_time += working_time;
            thread.processor_time += processor_time;
            if working_time >= TELLING {
                let had = processor_time.as_secs_f64() / working_time.as_secs_f64();
                let before = state.had[number].unwrap_or(had);
                state.had[number] = Some(f64::midpoint(before, had));
            }
        }
    }

    /// The calling thread has had so much of its processor for answers, which is no load of others.
    pub(super) fn answered(&self, processor_time: Duration) {
        *self.state.lock().own.entry(this_cpu()).or_default() += processor_time;
    }

    /// The processors that so many threads are to stay on, and the memory nodes near them; waits until it is
    /// known which there are.
    pub(super) fn places(
        &self,
        threads: usize,
        first: usize,
        pinning: Pinning,
    ) -> Vec<(Option<u32>, Option<u32>)> {
        let machine = self.machine.get_or_init(Machine::discover).as_ref();
        machine.map_or_else(
            || vec![(None, None); threads],
            |machine| self.places_on(machine, threads, first, pinning),
        )
    }

    fn places_on(
        &self,
        machine: &Machine,
        threads: usize,
        first: usize,
        pinning: Pinning,
    ) -> Vec<(Option<u32>, Option<u32>)> {
        let place = |number: usize| {
            let cpu = self.cpu_of(number, first, pinning, machine)?;
            Some((Some(cpu), machine.nodes.get(&cpu).copied()))
        };
        (0..threads).map(|number| place(number).unwrap_or_default()).collect()
    }

    /// How segments are dealt to so many threads: by their memory nodes, where there are several. Those that no
    /// thread is near now have their segments all the same, so that each stays on its node.
    pub(super) fn deal(&self, threads: usize, first: usize, pinning: Pinning) -> Deal {
        let Some(machine) = self.machine() else { return Deal::ToAll };
        let places = self.places_on(machine, threads, first, pinning);
        let Some(near) = places.into_iter().map(|(_, node)| node).collect::<Option<Vec<_>>>()
        else {
            return Deal::ToAll;
        };
        let nodes = machine.nodes.values().copied().collect::<BTreeSet<_>>();
        let nodes = nodes.into_iter().collect::<Vec<_>>();
        match NonZero::new(nodes.len()) {
            Some(count) if count.get() > 1 => {
                let place = |node: &u32| nodes.binary_search(node).unwrap_or(0);
                Deal::ByNode(count, near.iter().map(place).collect())
            }
            _ => Deal::ToAll,
        }
    }

    /// How another thread is placed beside one, by their numbers.
    pub(super) fn placed(&self, other: usize, beside: usize) -> Placed {
        let state = self.state.lock();
        // What it had is nearer to the truth than what others are seen to take: among those are who asks, when no
        // pass goes on, and who weighs more than a thread.
        let has = |number: usize| {
            let cpu = state.threads.get(number)?.pinned?;
            Some(state.had[number].unwrap_or_else(|| state.others.left(cpu)))
        };
        match has(other).zip(has(beside)) {
            Some((other, own)) if other > FAR * own + CLEARLY => Placed::FarBetter,
            Some((other, own)) if other > own + CLEARLY => Placed::Better,
            _ => Placed::NoBetter,
        }
    }

    /// All threads, by number.
    pub(super) fn threads(&self) -> Vec<ScanThread> {
        self.state.lock().threads.clone()
    }

    fn cpu_of(
        &self,
        number: usize,
        first: usize,
        pinning: Pinning,
        machine: &Machine,
    ) -> Option<u32> {
        let is_pinned = match pinning {
            Pinning::Off => false,
            Pinning::On => true,
            Pinning::Auto => machine.is_uneven,
        };
        if !is_pinned {
            return None;
        }
        let mut state = self.state.lock();
        state.look(self.store.as_deref(), &machine.cpus, first);
        let count = state.order.len().max(1);
        state.order.get(number % count).copied()
    }

    /// None until it is known, and where nobody tells.
    fn machine(&self) -> Option<&Machine> {
        if !self.is_asked.swap(true, Ordering::Relaxed) {
            let machine = self.machine.clone();
            let asking = spawn("gadus-machine", move || {
                let _ = machine.set(Machine::discover());
            });
            if asking.is_err() {
                let _ = self.machine.set(None);
            }
        }
        self.machine.get()?.as_ref()
    }
}

impl Machine {
    fn discover() -> Option<Self> {
        let machine = Topology::discover().ok()?;
        let allowed = Limits::of_this_process().allowed.unwrap_or_else(|| machine.cpus());
        Some(Self::of(&machine, &allowed)).filter(|machine| !machine.cpus.is_empty())
    }

    fn of(machine: &Topology, allowed: &CpuSet) -> Self {
        let mut cpus = Vec::new();
        for core in &machine.cores {
            let of_core = core.cpus.iter().filter(|cpu| allowed.contains(*cpu));
            cpus.extend(of_core.enumerate());
        }
        cpus.sort_by_key(|(sibling, _)| *sibling);
        let near = machine.cores.iter().filter_map(|core| Some((core, core.node?)));
        let nodes = near.flat_map(|(core, node)| core.cpus.iter().map(move |cpu| (cpu, node)));
        let level = machine.caches.iter().map(|cache| cache.level).max().unwrap_or(0);
        let mut capacities = machine.cores.iter().map(|core| core.capacity);
        let first = capacities.next();
        Self {
            cpus: cpus.into_iter().map(|(_, cpu)| cpu).collect(),
            nodes: nodes.filter(|(cpu, _)| allowed.contains(*cpu)).collect(),
            is_uneven: machine.nodes.len() > 1
                || machine.data_caches(level).count() > 1
                || capacities.any(|capacity| Some(capacity) != first),
        }
    }
}

impl State {
    /// Puts the processors in order, where others have come or gone.
    fn look(&mut self, store: Option<&Store>, cpus: &[u32], first: usize) {
        let read = || Some(Loads::read().ok()?.to_words());
        let newer = store.and_then(|store| store.observed(self.seen, LOOK, read));
        // What cannot be read has changed nothing.
        let is_changed = newer.is_some_and(|observed| {
            self.seen = observed.look;
            self.others.note(Loads::from_words(&observed.words), &mut self.own)
        });
        if is_changed || first != self.first || self.order.is_empty() {
            self.first = first;
            self.order = cpus.to_vec();
            self.order.rotate_left(first % cpus.len().max(1));
            let left = |cpu: &u32| self.others.left(*cpu);
            self.order.sort_by(|one, other| left(other).total_cmp(&left(one)));
        }
    }
}

#[cfg(test)]
mod tests;
